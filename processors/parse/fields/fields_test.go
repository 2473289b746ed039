package fields

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

const shop = `
match:
  hosts: [shop.example]
  urls: '/p/\d+$'
fields:
  title: h1
  sku: {select: "[data-sku]", attr: data-sku, regex: 'SKU-(\d+)', required: true}
  price: {select: [.none, .price], type: money}
  weight: {select: .weight, type: number, decimal: ","}
  stock: {select: .stock, type: integer}
  sale: {select: .sale, type: exists}
  since: {select: time, attr: datetime, type: date}
  until: {select: .until, type: date, formats: [DD.MM.YYYY, "DD.MM.YYYY HH:mm"]}
  images: {select: .gallery img, attr: src, type: url, list: true}
  tags: {select: .tags a, list: true}
  offers:
    select: .offer
    list: true
    fields:
      seller: .seller
      price: {select: .price, type: money, currency: CAD, required: true}
      id: {attr: id}
  maker:
    select: .maker
    fields: {name: b, since: {select: i, type: integer}}
`

const product = `<title>x</title><body><h1>A  loom<br>of wood</h1><p data-sku="SKU-42">x</p><p class=price>1.299,00 €</p>
<p class=weight>12,5 kg</p><p class=stock>1,200 left</p><p class=sale></p><time datetime="2026-01-02T03:04:05+01:00">now</time>
<p class=until>24.12.2026</p><div class=gallery><img src="/a.png"><img src="b.png"><img src="mailto:x"></div>
<p class=tags><a>wood</a><a>weaving</a></p><div class=offer id=o1><b class=seller>Ann</b><i class=price>$ 10</i></div>
<div class=offer id=o2><b class=seller>Bob</b><i class=price>on request</i></div><div class=offer><b class=seller>Cy</b></div>
<div class=maker><b>Loom &amp; <script>bad()</script>Co</b><i>1999</i></div>`

func load1(t testing.TB, text string) *Rules {
	t.Helper()
	rules, err := Load([]Source{{Name: "shop.yaml", Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func apply(t testing.TB, rule *Rule, page string) Result {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	base := &url.URL{Scheme: "https", Host: "shop.example", Path: "/p/1"}
	got := rule.Apply(tree, func(ref string) (string, bool) {
		u, err := base.Parse(ref)
		return u.String(), err == nil && u.Scheme == "https"
	}, true)
	var compact bytes.Buffer
	if err := json.Compact(&compact, got.JSON); err != nil || compact.String() != string(got.JSON) {
		t.Fatalf("%s is not compact JSON: %v", got.JSON, err)
	}
	return got
}

// Every type and option, in the order of the rule, with what is wrong by path.
func TestFields(t *testing.T) {
	rule := load1(t, shop).For("https://www.shop.example/p/1")
	if rule == nil || rule.Name != "shop" {
		t.Fatalf("the rule is %v", rule)
	}
	got := apply(t, rule, product)
	const want = `{"title":"A loom of wood","sku":"42","price":{"amount":"1299.00","currency":"EUR"},"weight":12.5,"stock":1200,"sale":true,` +
		`"since":"2026-01-02T02:04:05Z","until":"2026-12-24","images":["https://shop.example/a.png","https://shop.example/p/b.png"],` +
		`"tags":["wood","weaving"],"offers":[{"seller":"Ann","price":{"amount":"10","currency":"CAD"},"id":"o1"},{"seller":"Bob","id":"o2"},{"seller":"Cy"}],` +
		`"maker":{"name":"Loom & Co","since":1999}}`
	if diff := cmp.Diff(want, string(got.JSON)); diff != "" {
		t.Error(diff)
	}
	errors := []Error{
		{"images[2]", "images", "not_url", "mailto:x"}, {"offers[1].price", "offers.price", "not_money", "on request"},
		{"offers[2].price", "offers.price", Missing, ""},
	}
	if diff := cmp.Diff(errors, got.Errors); diff != "" {
		t.Error(diff)
	}
	if m := got.Matches[2]; m.Field != "price" || m.Selector != ".price" || m.Nodes != 3 || m.First != `<p class="price">1.299,00 €</p>` {
		t.Errorf("the match is %+v", m)
	}
	bare := apply(t, rule, "<p data-sku=x>x")
	if string(bare.JSON) != `{"sale":false}` || !cmp.Equal(bare.Errors, []Error{{"sku", "sku", NoMatch, "x"}}) {
		t.Errorf("%s, %+v", bare.JSON, bare.Errors)
	}
	if none := apply(t, rule, ""); !cmp.Equal(none.Errors, []Error{{"sku", "sku", Missing, ""}}) {
		t.Errorf("%+v", none.Errors)
	}
}

// A rule is for the hosts and URLs that it names; the first file by name counts.
func TestFor(t *testing.T) {
	rules, err := Load([]Source{{"z.yaml", "fields: {a: b}"}, {"shop.yml", shop}})
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]string{
		"https://shop.example/p/1": "shop", "http://a.shop.example/p/22": "shop", "https://shop.example/p/x": "z", "https://myshop.example/p/1": "z",
	} {
		if got := rules.For(of); got == nil || got.Name != want {
			t.Errorf("%s has the rule %v", of, got)
		}
	}
	// Editors of Windows write a byte order mark in front of a text (YAML 1.2, section 5.2).
	if marked, err := Load([]Source{{"a.yaml", "\ufefffields: {a: b}\r\n"}}); err != nil || marked.For("https://a.example/") == nil {
		t.Errorf("rules behind a byte order mark: %v", err)
	}
	if none, err := Load(nil); err != nil || none.For("https://a.example/") != nil {
		t.Errorf("without rules: %v", err)
	}
}

// What is wrong is named by file and line.
func TestBadRules(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "shop.yaml:1: a file of rules is one mapping",
		"- a":                         "shop.yaml:1: a rule is not a mapping",
		"fields: {}":                  "shop.yaml:1: the rule has no fields",
		"\nfeilds:\n  a: b":           `shop.yaml:2: a rule has no key "feilds": the keys are match, fields`,
		"fields:\n  a: b\n  c: '.x['": `shop.yaml:3: field c: selector ".x[":`,
		"fields:\n  a:\n    select: p\n    regex: '('":                                          "shop.yaml:4: field a: error parsing regexp",
		"fields:\n  a:\n    select: p\n    type: colour":                                        `shop.yaml:4: field a: "colour" is not a type: the types are text number`,
		"fields:\n  a:\n    select: p\n    list: maybe":                                         "shop.yaml:4: list is neither true nor false",
		"fields:\n  a:\n    select: p\n    wanted: true":                                        `shop.yaml:4: field a has no key "wanted"`,
		"fields:\n  a:\n    select: p\n    currency: euro":                                      `shop.yaml:4: field a: "euro" is not a currency`,
		"fields:\n  a: {type: date}":                                                            "field a has no selector",
		"fields:\n  a: {select: p, formats: YYYY}":                                              "formats are for dates",
		"fields:\n  a: {select: p, attr: x, fields: {b: c}}":                                    "field a is a record",
		"fields:\n  a: b c d e f g":                                                             "has more than 4 parts within parts",
		"fields:\n  a b: p":                                                                     `the name of field "a b"`,
		"match: {urls: '('}\nfields: {a: b}":                                                    "shop.yaml:1: match: error parsing regexp",
		"fields:\n  a: p\n  a: q":                                                               "shop.yaml:3:",
		"fields:\n  a: [":                                                                       "shop.yaml:2:",
		"fields: {a: {select: p, fields: {b: {fields: {c: {fields: {d: {fields: {e: p}}}}}}}}}": "more than 3 deep",
	} {
		if _, err := Load([]Source{{"shop.yaml", text}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Load([]Source{{"a.yml", "fields: {a: b}"}, {"a.yaml", "fields: {a: b}"}}); err == nil {
		t.Error("two rules have one name")
	}
	if _, err := Load([]Source{{"a.yml", "fields: {a: b} #" + strings.Repeat("x", MaxSourceBytes)}}); err == nil {
		t.Error("rules of any size are taken")
	}
}

func TestDescendants(t *testing.T) {
	for selector, want := range map[string]int{
		"p": 0, "a b": 1, "a > b": 0, "a>b c": 1, "a, b c d": 2, `a[x="1 2 3"] b`: 1, "a:not(b c) d": 1, "a + b ~ c d": 1, "a:has(b:not(c d)) e": 1,
	} {
		if got := descendants(selector); got != want {
			t.Errorf("%s has %d, want %d", selector, got, want)
		}
	}
}

// Pages that would take long, or that have too much, have a named outcome.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct{ rule, page, want string }{
		"deep":      {"a: p", strings.Repeat("<div>", 450) + "<p>x", TooDeep},
		"ancestors": {"a: div div div div .x", strings.Repeat("<div>", 200) + strings.Repeat("<p>x", 500), TooCostly},
		"siblings":  {"a: 'p:nth-child(2n+7)'", strings.Repeat("<p>", 30_000), TooCostly},
		"contents":  {"a: 'div:has(.x)'", strings.Repeat("<div>", 300) + strings.Repeat("<p>x", 100_000), TooCostly},
		"items":     {"a: {select: p, list: true}", strings.Repeat("<p>x", 2000), TooMany},
		"bytes":     {"a: {select: p, list: true}", strings.Repeat("<p>"+strings.Repeat("x", 10_000), 40), TooMany},
		"a record": {"a: {select: div, list: true, fields: {b: {select: p, list: true}}}",
			strings.Repeat("<div>", 100) + strings.Repeat("<p>"+strings.Repeat("x", 1000), 100), TooMany},
	} {
		got := apply(t, load1(t, "fields:\n  "+c.rule).For("https://a.example/"), c.page)
		if len(got.Errors) == 0 || got.Errors[0].Outcome != c.want || len(got.JSON) > maxBytes+maxValue || len(got.Errors) > maxErrors {
			t.Errorf("%s: %d bytes, %+v", name, len(got.JSON), got.Errors)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(shop)
	f.Fuzz(func(t *testing.T, text string) {
		if rules, err := Load([]Source{{"shop.yaml", text}}); err == nil {
			if rule := rules.For("https://shop.example/p/1"); rule != nil {
				apply(t, rule, product)
			}
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add(product)
	rule := load1(f, shop).For("https://shop.example/p/1")
	f.Fuzz(func(t *testing.T, page string) {
		if strings.Count(page, "<") < 2000 {
			apply(t, rule, page)
		}
	})
}
