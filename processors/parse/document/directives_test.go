package document

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// said is what a page has of directives and preferences, in one line each.
func said(p *Page) (directives, usage []string) {
	for _, d := range p.Directives {
		directives = append(directives, strings.Join([]string{d.Source, d.Field, d.Agent, d.Value}, "|"))
	}
	for _, u := range p.Usage {
		usage = append(usage, fmt.Sprintf("%s %v", u.Label, u.Refused))
	}
	return directives, usage
}

func TestDirectives(t *testing.T) {
	for name, c := range map[string]struct {
		in                Input
		directives, usage []string
	}{
		"nothing": {},
		"X-Robots-Tag in all forms": {
			in: Input{RobotsTags: []string{"noindex, max-snippet: 20", "OtherBot: nofollow, unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, weft: none"}},
			directives: []string{
				"header|x-robots-tag||noindex", "header|x-robots-tag||max-snippet: 20", "header|x-robots-tag|otherbot|nofollow",
				"header|x-robots-tag|otherbot|unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT", "header|x-robots-tag|weft|none",
			},
		},
		"meta elements": {
			in:         Input{Body: []byte(`<meta name=Robots content="noai, noimageai"><meta name=googlebot content=noindex><meta name=weft content=nofollow>`)},
			directives: []string{"meta|robots||noai", "meta|robots||noimageai", "meta|robots|googlebot|noindex", "meta|robots|weft|nofollow"},
			usage:      []string{"train-ai true"},
		},
		"no commas": {
			in: Input{RobotsTags: []string{"otherbot: noindex noai"}, Body: []byte(`<meta name=robots content="noai; noimageai">`)},
			directives: []string{
				"header|x-robots-tag|otherbot|noindex", "header|x-robots-tag|otherbot|noai", "meta|robots||noai", "meta|robots||noimageai",
			},
			usage: []string{"train-ai true"},
		},
		"noai of another agent": {
			in: Input{RobotsTags: []string{"otherbot: noai"}}, directives: []string{"header|x-robots-tag|otherbot|noai"},
		},
		"AIPREF": {
			in: Input{UsageFields: []Field{{"Content-Usage", `train-ai=n, search=y;x="a,b", tdm=?0, bad, 5=maybe`}}, RobotsTxt: "content-usage: train-ai=y\ncontent-signal: ai-input=no,ai-train=yes\n"},
			directives: []string{
				`header|content-usage||train-ai=n, search=y;x="a,b", tdm=?0, bad, 5=maybe`, "robots.txt|content-usage||train-ai=y", "robots.txt|content-signal||ai-input=no,ai-train=yes",
			},
			usage: []string{"train-ai true", "search false", "tdm true", "ai-input true"},
		},
		"TDM reservation": {
			in:         Input{UsageFields: []Field{{"TDM-Reservation", "0"}, {"tdm-policy", "https://a.example/p"}}, Body: []byte(`<meta name=tdm-reservation content=1>`)},
			directives: []string{"header|tdm-reservation||0", "header|tdm-policy||https://a.example/p", "meta|tdm-reservation||1"},
			usage:      []string{"tdm true"},
		},
		"no value": {in: Input{UsageFields: []Field{{"content-usage", " "}, {"tdm-reservation", ""}}, RobotsTxt: "x\n"}},
		"read by a tree": {
			in:         Input{RobotsTags: []string{"noindex"}, Body: []byte("<table><b>x<meta name=robots content=noai>\x00")},
			directives: []string{"header|x-robots-tag||noindex", "meta|robots||noai"}, usage: []string{"train-ai true"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.ContentType, c.in.URL = "text/html", "https://a.example/"
			directives, usage := said(newParser(t, nil).Document(c.in))
			if diff := cmp.Diff([][]string{c.directives, c.usage}, [][]string{directives, usage}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		usage, label string
		refused      bool
	}{
		{"", "train-ai", false}, {"train-ai=n", "train-ai", true}, {"ai-train=no", "train-ai", true}, {"train-ai=y", "train-ai", false},
		{"tdm=n", "train-ai", true}, {"tdm=n, train-ai=y", "train-ai", false}, {"all=n", "search", true}, {"train-ai=n", "search", false},
		{"train-ai=n", "train-genai", true}, {"bots=n", "train-genai", true}, {"x=n", "x", true},
	} {
		p := newParser(t, nil).Document(Input{ContentType: "text/html", UsageFields: []Field{{"content-usage", c.usage}}})
		if p.Refuses(c.label) != c.refused {
			t.Errorf("%q refuses %s: %v", c.usage, c.label, !c.refused)
		}
	}
}

// TestRespect checks what is left of a page that may not be used.
func TestRespect(t *testing.T) {
	in := Input{
		URL: "https://a.example/", ContentType: "text/html", UsageFields: []Field{{"content-usage", "train-ai=n"}},
		Body: []byte(`<title>T</title><meta name=description content=D><meta property=og:x content=y><h1>H</h1><a href=/b>text</a>`),
	}
	respectful := newParser(t, func(o *Options) { o.Respect = []string{"search", "train-ai"} })
	got := respectful.Document(in)
	want := &Page{
		MediaType: "text/html", Charset: got.Charset, Unparsed: UsageRefused, Directives: got.Directives, Usage: got.Usage,
		Links: []Link{{URL: "/b", Kind: KindAnchor, Follow: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	in.UsageFields[0].Value = "train-ai=y"
	if got = respectful.Document(in); got.Unparsed != "" || got.Title != "T" {
		t.Errorf("a page that may be used: %q, %q", got.Unparsed, got.Title)
	}
	if _, err := New(Options{Agent: "weft", Respect: []string{"no label"}}); err == nil {
		t.Error("a use without a label is valid")
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("otherbot: noindex, unavailable_after: Wed, 1 Jan, a", `train-ai=n;x="a,b", search=y`, "content-usage: train-ai=n\n")
	f.Add(":,:::", "a=n,a=y,\"", "content-signal: a\n: \n")
	parser, err := New(DefaultOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, tag, usage, robots string) {
		p := parser.Document(Input{
			ContentType: "text/html", RobotsTags: []string{tag}, UsageFields: []Field{{"content-usage", usage}, {"tdm-policy", usage}}, RobotsTxt: robots,
			Body: []byte("<meta name=robots content='" + tag + "'><meta name=tdm-policy content='" + usage + "'>"),
		})
		if len(p.Directives) > maxDirectives || len(p.Usage) > maxPreferences {
			t.Errorf("%d directives, %d preferences", len(p.Directives), len(p.Usage))
		}
		for _, d := range p.Directives {
			if d.Value == "" {
				t.Errorf("%+v", d)
			}
		}
		directives, labels := said(p)
		for _, s := range append(directives, labels...) {
			if !utf8.ValidString(s) {
				t.Errorf("%q", s)
			}
		}
		p.Refuses("train-ai")
	})
}
