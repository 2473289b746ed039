package urls

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// defaultOptions remove the tracking parameters and session ids of DefaultStrip.
func defaultOptions() Options { return Options{Strip: DefaultStrip()} }

// formOf is the form of options that are right.
func formOf(t testing.TB, o Options) *Form {
	t.Helper()
	form, err := NewForm(o)
	if err != nil {
		t.Fatal(err)
	}
	return form
}

func TestForm(t *testing.T) {
	const (
		hex32 = "0cc175b9c0f1b6a831c399e269772661"
		uuid  = "123e4567-e89b-12d3-a456-426614174000"
	)
	sorted := Options{Strip: DefaultStrip(), SortQuery: true}
	with := func(rules ...string) Options { return Options{Strip: append(DefaultStrip(), rules...)} }
	for _, c := range []struct {
		name       string
		options    Options
		path, want string // below http://www.shop.example
	}{
		{"nothing to do", defaultOptions(), "/a?b=c&d", "/a?b=c&d"},
		{"tracking", defaultOptions(), "/a?utm_source=x&b=c&utm_medium=y&fbclid=z", "/a?b=c"},
		{"nothing but tracking", defaultOptions(), "/a?utm_source=x", "/a"},
		{"in any case", defaultOptions(), "/a?UTM_Source=x&GCLID=y&b", "/a?b"},
		{"escaped", defaultOptions(), "/a?utm%5Fsource=x&b", "/a?b"},
		{"without a value", defaultOptions(), "/a?gclid", "/a"},
		{"what only looks like it", defaultOptions(), "/a?utm=x&gclidx=y&ref=z&source=w", "/a?utm=x&gclidx=y&ref=z&source=w"},
		{"empty parameters go with another", defaultOptions(), "/a?&gclid=x&&b&", "/a?b"},
		{"empty parameters alone stay", defaultOptions(), "/a?&b&", "/a?&b&"},
		{"an empty query stays", defaultOptions(), "/a?", "/a?"},
		{"a second question mark is of the value", defaultOptions(), "/a?b=c?utm_source=x", "/a?b=c?utm_source=x"},
		{"a semicolon may be another ampersand", defaultOptions(), "/a?gclid=1;id=5&utm_source=x;b&fbclid=y", "/a?gclid=1;id=5&utm_source=x;b"},
		{"a semicolon at the end", defaultOptions(), "/a?gclid=1;", "/a?gclid=1;"},
		{"tracking joined by semicolons", defaultOptions(), "/a?gclid=1;UTM_source=x&b", "/a?b"},
		{"tracking behind a semicolon", defaultOptions(), "/a?b;gclid=1", "/a?b;gclid=1"},
		{"jsessionid in a path", defaultOptions(), "/a;jsessionid=1A!2/b;JSESSIONID=3?c", "/a/b?c"},
		{"other parameters of segments", defaultOptions(), "/a;v=1;jsessionid=2;w=3/b;x", "/a;v=1;w=3/b;x"},
		{"no dot segment is made", defaultOptions(), "/a/..;jsessionid=1/b", "/a/..;jsessionid=1/b"},
		{"an empty segment may be", defaultOptions(), "/;jsessionid=1", "/"},
		{"well-known session ids", defaultOptions(), "/a?PHPSESSID=1&jsessionid=2&ASPSESSIONIDQQABCDEF=3&b", "/a?b"},
		{"ColdFusion", defaultOptions(), "/a?CFID=1&CFTOKEN=2&b", "/a?b"},
		{"ColdFusion, far apart", defaultOptions(), "/a?CFTOKEN&b" + strings.Repeat("&cfid", 300), "/a?b"},
		{"cfid alone", defaultOptions(), "/a?cfid=1", "/a?cfid=1"},
		{"sid, 32 digits", defaultOptions(), "/a?sid=" + hex32 + "&b", "/a?b"},
		{"sid, 26 letters and digits", defaultOptions(), "/a?sid=n0tq8jd2h5r1k7vb3m9c4pfl6s", "/a"},
		{"sid, a UUID", defaultOptions(), "/a?sid=" + uuid, "/a?sid=" + uuid},
		{"session_id, an ObjectId", defaultOptions(), "/a?session_id=65a1b2c3d4e5f60718293a4b", "/a?session_id=65a1b2c3d4e5f60718293a4b"},
		{"sid, a number", defaultOptions(), "/a?sid=12345678901234567890", "/a?sid=12345678901234567890"},
		{"sid, words", defaultOptions(), "/a?sid=section-of-the-page-2024", "/a?sid=section-of-the-page-2024"},
		{"sid, short", defaultOptions(), "/a?sid=a1b2c3d4", "/a?sid=a1b2c3d4"},
		{"s of vBulletin", defaultOptions(), "/forumdisplay.php?s=" + hex32 + "&f=4", "/forumdisplay.php?f=4"},
		{"s, what is searched for", defaultOptions(), "/?s=two+words&S=12345678901234567890123456", "/?s=two+words&S=12345678901234567890123456"},
		{"s, a UUID", defaultOptions(), "/a?s=" + uuid, "/a?s=" + uuid},
		{"s, the hash of a commit, shortened", defaultOptions(), "/a?s=1a2b3c4d5e6f", "/a?s=1a2b3c4d5e6f"},
		{"a rule more", with("ref"), "/a?ref=x&b", "/a?b"},
		{"a rule less", with("utm_campaign=off"), "/a?utm_campaign=x&utm_source=y", "/a?utm_campaign=x"},
		{"a prefix less, a name more", with("utm_*=off", "utm_id"), "/a?utm_id=x&utm_source=y", "/a?utm_source=y"},
		{"none", with("*=off"), "/a;jsessionid=1?utm_id=x", "/a;jsessionid=1?utm_id=x"},
		{"all", with("*"), "/a;v=1?b=c&d;e&;", "/a"},
		{"all beside another", with("*&b"), "/a;v=1?b=c&d", "/a;v=1"},
		{"of this host", with("ref@www.shop.example"), "/a?ref=x", "/a"},
		{"of this host and below", with("ref@shop.example"), "/a?ref=x", "/a"},
		{"of another host", with("ref@hop.example"), "/a?ref=x", "/a?ref=x"},
		{"kept on this host", with("gclid@shop.example=off"), "/a?gclid=x&fbclid=y", "/a?gclid=x"},
		{"random", with("token=random"), "/a?token=home&token=" + hex32, "/a?token=home"},
		{"a rule of a segment", with(";v"), "/a;v=1?v=2", "/a?v=2"},
		{"sorted", sorted, "/a?c&b=2&a=1&b=1&&gclid=x", "/a?a=1&b=2&b=1&c"},
		{
			"sorted, a long one", sorted, "/a?" + strings.Repeat("c&", 10) + "b=3&b=1&b=2&" + strings.Repeat("a&", 10) + "b=0",
			"/a?" + strings.Repeat("a&", 10) + "b=3&b=1&b=2&b=0" + strings.Repeat("&c", 10),
		},
		{"sorted already", sorted, "/a?a=1&b&&c", "/a?a=1&b&&c"},
		{"sorted only", Options{SortQuery: true}, "/a;jsessionid=1?gclid=1&b", "/a;jsessionid=1?b&gclid=1"},
		{"the zero form", Options{}, "/a;jsessionid=1?gclid=1&b#!c", "/a;jsessionid=1?gclid=1&b"},
		{"hash-bang", Options{HashBang: true}, "/a#!/b/c?d=e&f", "/a?_escaped_fragment_=/b/c?d=e%26f"},
		{"hash-bang and query", Options{HashBang: true}, "/a?b#!c%20d é+", "/a?b&_escaped_fragment_=c%2520d%20%C3%A9%2B"},
		{"hash-bang, another hash", Options{HashBang: true}, "/a#!b#c%", "/a?_escaped_fragment_=b%23c%25"},
		{"hash-bang, empty", Options{HashBang: true}, "/a#!", "/a?_escaped_fragment_="},
		{"hash-bang instead of another", Options{HashBang: true}, "/?_escaped_fragment_=a&b#!c", "/?b&_escaped_fragment_=c"},
		{"hash-bang in lines", Options{HashBang: true}, "/a#\n!b\tc", "/a?_escaped_fragment_=bc"},
		{"another fragment", Options{HashBang: true}, "/a#b!", "/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			form := formOf(t, c.options)
			want := "http://www.shop.example" + c.want
			got, refusal := form.Parse("http://www.shop.example" + c.path)
			if got.String() != want || refusal != Accepted {
				t.Errorf("got %q %s, want %q", got, refusal, want)
			}
			if again := form.Of(got); again != got {
				t.Errorf("the form of %q is %q", got, again)
			}
			if parsed, _ := Parse(got.String()); parsed != got {
				t.Errorf("%q is not in plain form: %q, or has other parts", got, parsed)
			}
		})
	}
}

func TestFormTooLong(t *testing.T) {
	form := formOf(t, Options{HashBang: true})
	for _, fragment := range []string{strings.Repeat("a", MaxBytes), strings.Repeat("é", MaxBytes/4)} {
		if u, refusal := form.Parse("http://h/#!" + fragment); refusal != TooLong {
			t.Errorf("%d bytes of state give %.40q %s", len(fragment), u, refusal)
		}
	}
}

// A segment of a thousand parameters was copied once for each.
func TestSegmentIsCopiedOnce(t *testing.T) {
	form := formOf(t, defaultOptions())
	u, _ := Parse("http://h/" + strings.Repeat(";b", 1000))
	if n := testing.AllocsPerRun(10, func() { form.Of(u) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

// A query is read once, however many parameters have a rule that asks for another.
func TestNamesAreReadOnce(t *testing.T) {
	n := names{query: "A&b=1"}
	if !n.has("a") || !n.has("b") || n.has("c") {
		t.Errorf("%q has the names %v", n.query, n.known)
	}
	n.query = "c"
	if n.has("c") {
		t.Error("the query was read again")
	}
}

func TestRulesThatAreNone(t *testing.T) {
	for _, rule := range []string{
		"", "=off", "@h", "ref=on", "ref=on=off", "a b", "é", "a#", "*a", "a**", "ref@", "ref@h:80", "ref@a/b", "ref@é.example", ";a&b", ";", "&a", "a/b", "a&b=off", "a&b=random",
	} {
		if err := (Options{Strip: []string{rule}}).Validate(); err == nil {
			t.Errorf("rule %q is taken", rule)
		}
	}
	if err := defaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}

// TestFormIsAFixedPoint draws forms and URLs of what forms are about.
func TestFormIsAFixedPoint(t *testing.T) {
	rules := append(DefaultStrip(), "*", "*=off", "b", "c=off", "a*=random", "a@h.example", ";*", ";b=off", "d", "d&e", "d=off", "e", "*&b", "é%c3"[2:])
	piece := rapid.SampledFrom([]string{
		"a", "b=1", "b=2", "c", "", "utm_x=1", "sid=a1b2c3d4e5f6a7b8", "d", "e", "cfid=1", "cftoken=1", "%", "%%36%31", "_escaped_fragment_=x", "A=%c3%a9", "b;a", "utm_x;cfid=1;", ";",
	})
	segment := rapid.SampledFrom([]string{"", "a", "..", ".", "..;b", ";jsessionid=1", "a;b=1;c;jsessionid=2", "%2e;b"})
	rapid.Check(t, func(t *rapid.T) {
		form, err := NewForm(Options{
			Strip:     rapid.SliceOfN(rapid.SampledFrom(rules), 0, 6).Draw(t, "rules"),
			SortQuery: rapid.Bool().Draw(t, "sorted"), HashBang: rapid.Bool().Draw(t, "hash-bang"),
		})
		if err != nil {
			t.Fatal(err)
		}
		raw := "http://www.h.example/" + strings.Join(rapid.SliceOfN(segment, 0, 4).Draw(t, "path"), "/") +
			rapid.SampledFrom([]string{"", "?"}).Draw(t, "mark") + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "query"), "&") +
			rapid.SampledFrom([]string{"", "#", "#!", "#!a=b&c"}).Draw(t, "fragment")
		u, refusal := form.Parse(raw)
		if refusal != Accepted {
			t.Fatalf("%q is refused as %s", raw, refusal)
		}
		if again, _ := form.Parse(u.String()); again != u {
			t.Fatalf("%q gives %q, and that %q", raw, u, again)
		}
		if plain, _ := Parse(u.String()); plain != u {
			t.Fatalf("%q gives %q, in plain form %q", raw, u, plain)
		}
	})
}

// BenchmarkForm is what the default form costs on top of the plain one.
func BenchmarkForm(b *testing.B) {
	for _, c := range []struct{ name, ref string }{
		{"plain", "/docs/guide/introduction.html"},
		{"query", "/search?q=golang&page=2"},
		{"tracked", "/search?q=golang&utm_source=x&utm_medium=y"},
	} {
		u, _ := Parse("https://www.example.com" + c.ref)
		form := formOf(b, defaultOptions())
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				form.Of(u)
			}
		})
	}
}
