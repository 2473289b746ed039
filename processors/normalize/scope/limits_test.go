package scope

import (
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	narrow := Limits{Segments: 3, SegmentRepeats: 1, Params: 2, ParamRepeats: 1}
	none := Limits{Segments: NoLimit, SegmentRepeats: NoLimit, Params: NoLimit, ParamRepeats: NoLimit}
	for _, c := range []struct {
		name   string
		limits Limits
		target string
		want   Refusal
	}{
		{"a page", Limits{}, "/a/b/c.html?x=1&y=2", Accepted},
		{"20 segments", Limits{}, digits(20), Accepted},
		{"21 segments", Limits{}, digits(21), TooManySegments},
		{"three times the same", Limits{}, "/x/x/x/y", Accepted},
		{"four times the same", Limits{}, "/x/x/x/x", RepeatedSegments},
		{"four times the same, further down", Limits{}, "/a/b/x/x/x/x/c", RepeatedSegments},
		{"a circle of two", Limits{}, "/a/b/a/b/a/b/a/b/", RepeatedSegments},
		{"a circle of two, cut short", Limits{}, "/a/b/a/b/a/b/a", Accepted},
		{"a circle of three", Limits{}, "/a/b/c/a/b/c/a/b/c/a/b/c", RepeatedSegments},
		{"a circle with a number in it", Limits{}, "/a/1/a/1/a/1/a/1", RepeatedSegments},
		{"empty segments", Limits{}, "/a///////b", RepeatedSegments},
		{"a date", Limits{}, "/2011/11/11/11/11", Accepted},
		{"shards", Limits{}, "/img/0/0/0/0/0/0/1.jpg", Accepted},
		{"24 parameters", Limits{}, "/?" + params(24), Accepted},
		{"25 parameters", Limits{}, "/?" + params(25), TooManyParams},
		{"a list", Limits{}, "/?c[]=1&c[]=2&c[]=3&c[]=4&c[]=5", Accepted},
		{"three times the same parameter", Limits{}, "/?a=1&a=1&b=2&a=1", Accepted},
		{"four times the same parameter", Limits{}, "/?a=1&a=1&b=2&a=1&a=1", RepeatedParams},

		{"as many segments as permitted", narrow, "/a/b/c", Accepted},
		{"one segment more", narrow, "/a/b/c/", TooManySegments},
		{"a segment twice", narrow, "/a/a", RepeatedSegments},
		{"as many parameters as permitted", narrow, "/?a&b", Accepted},
		{"one parameter more", narrow, "/?a&b&c", TooManyParams},
		{"a parameter twice", narrow, "/?a&a", RepeatedParams},

		{"no limits", none, strings.Repeat("/x", 100) + "?" + strings.Repeat("a=1&", 100), Accepted},
	} {
		p := policy(t, Options{Mode: Host, MaxDepth: NoDepthLimit, Limits: c.limits})
		if _, got := judge(t, p, link, "https://h/", "", "https://h"+c.target); got != c.want {
			t.Errorf("%s: %s gives %q, want %q", c.name, c.target, got, c.want)
		}
		if _, got := p.Seed(parse(t, "https://h"+c.target)); got != Accepted {
			t.Errorf("%s: a seed gives %q", c.name, got)
		}
	}
}

// digits is a path of n segments without two equal ones in a row.
func digits(n int) string { return strings.Repeat("/1/2", n/2) + strings.Repeat("/a", n%2) }

// params is a query of n parameters.
func params(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = string(rune('a'+i)) + "=1"
	}
	return strings.Join(names, "&")
}

func TestLimitsAreValidated(t *testing.T) {
	for _, l := range []Limits{{Segments: -2}, {SegmentRepeats: -2}, {Params: -2}, {ParamRepeats: -2}} {
		if (Options{Mode: Host, Limits: l}).Validate() == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

func BenchmarkLimits(b *testing.B) {
	l := DefaultLimits()
	u := parse(b, "https://docs.example.com/guide/section/page-12.html?lang=en")
	for b.Loop() {
		if l.judge(u) != Accepted {
			b.Fatal("refused")
		}
	}
}
