package urls

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// long numbers overflow in the other parser, and what is no number looks like one.
var long = regexp.MustCompile(`[0-9a-fA-FxX]{16,}`)

// brackets are several in one part.
var brackets = regexp.MustCompile(`\[[^/?]*\[|\][^/?]*\]`)

var signed = regexp.MustCompile(`(?i)[+\-＋－﹢﹣]\p{Nd}|[+\-＋－﹢﹣][a-f]`)

// FuzzAgainstAnother holds the parser to one that others wrote, for
// references that the standard reads as it did when that was written: no names in
// punycode or beyond ASCII, which are not judged or mapped as then, and no caret.
func FuzzAgainstAnother(f *testing.F) {
	for _, base := range nastyBases {
		for _, ref := range nasty {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		base := baseOf(rawBase)
		ref = cutFragment(trim(ref))
		hidden := tabsAndNewlines.Replace(ref)
		if refuseScheme(hidden) != Accepted || len(ref) > maxHostBytes || !utf8.ValidString(ref) || strings.Contains(ref, "^") {
			t.Skip("of another scheme, or read otherwise")
		}
		if hidden == "" && base.url.IsZero() {
			t.Skip("never reaches the parser")
		}
		got, refusal := resolve(base.url, ref)
		against := ""
		if !base.url.IsZero() {
			against = base.url.String()
		}
		parsed, err := whatwg.ParseRef(against, ref)
		if against == "" {
			parsed, err = whatwg.Parse(ref)
		}
		host := got.Hostname()
		switch {
		case refusal == TooLong:
			t.Skip("the other has no bound")
		case strings.Contains(against+host, "xn--") || err == nil && !isASCII(parsed.Hostname()):
			t.Skip("a name that is read otherwise")
		case err != nil && strings.Contains(err.Error(), "idna: ") && !isASCII(percentDecode(hidden)):
			t.Skip("a name that is read otherwise, and ASCII once it is mapped")
		case signed.MatchString(percentDecode(hidden)), signed.MatchString(against):
			t.Skip("the other reads signed numbers in addresses")
		case err != nil && refusal == Accepted && long.MatchString(against+" "+host):
			t.Skip("the other reads long numbers in addresses")
		case brackets.MatchString(percentDecode(hidden)):
			t.Skip("the other drops brackets around an address, and what follows them")
		case err != nil && refusal != Accepted:
		case err != nil:
			t.Fatalf("base %q ref %q is %q, refused by the other for %v", against, ref, got, err)
		case got.String() != plain(parsed.Href(true)):
			t.Fatalf("base %q ref %q is %q %s, by the other %q", against, ref, got, refusal, plain(parsed.Href(true)))
		}
	})
}

// FuzzForm holds the form of any reference under any rules to be a fixed point,
// on the same host, and in plain form.
func FuzzForm(f *testing.F) {
	for _, ref := range append(nasty, "?utm_source=a&b", "/x;jsessionid=1/..;y?sid=a1b2c3d4e5f6a7b8", "?b&a&&a", "#!/state?a=b&c", "?cfid=1&cftoken=2") {
		f.Add(ref, "ref sid=random ;v *@h.example=off", true, true)
		f.Add(ref, "*", false, false)
		f.Add(ref, "cfid cfid&cftoken=off a&b b", false, false)
	}
	page, _ := Parse("http://www.h.example/a/b?_escaped_fragment_=c&gclid=1")
	f.Fuzz(func(t *testing.T, ref, rules string, sorted, hashBang bool) {
		options := Options{Strip: append(DefaultStrip(), strings.Fields(rules)...), SortQuery: sorted, HashBang: hashBang}
		form, err := NewForm(options)
		if err != nil {
			return
		}
		u, refusal := form.Document(page, "", "").Resolve(ref)
		if refusal != Accepted {
			if !u.IsZero() {
				t.Fatalf("refused as %s and yet %q", refusal, u)
			}
			return
		}
		if again, _ := form.Parse(u.String()); again != u {
			t.Fatalf("%q gives %q, and that %q", ref, u, again)
		}
		if plain, _ := Parse(u.String()); plain != u {
			t.Fatalf("%q gives %q, in plain form %q", ref, u, plain)
		}
		plain, refusal := NewBase(page).Resolve(ref)
		if !hashBang && (form.Of(plain) != u || refusal != Accepted) {
			t.Fatalf("%q gives %q, by way of its plain form %q", ref, u, form.Of(plain))
		}
		if plain.Origin() != u.Origin() {
			t.Fatalf("%q leaves %q for %q", ref, plain, u)
		}
	})
}

// FuzzRule checks that an accepted rule can be used.
func FuzzRule(f *testing.F) {
	for _, rule := range append(DefaultStrip(), "ref@h.example=off", "*=off", ";", "a&b", "*&a", "a@[::1]") {
		f.Add(rule)
	}
	u, _ := Parse("http://h.example/a;b=1/c?a=b&c=d")
	f.Fuzz(func(t *testing.T, rule string) {
		if form, err := NewForm(Options{Strip: []string{rule}}); err == nil {
			form.Of(u)
		}
	})
}
