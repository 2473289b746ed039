package urls

import (
	"strings"
	"testing"
)

func TestDomain(t *testing.T) {
	suffixes := BundledSuffixes()
	for _, c := range []struct{ hostname, want string }{
		{"example.com", "example.com"},
		{"www.example.com", "example.com"},
		{"a.b.c.example.co.uk", "example.co.uk"},
		{"com", "com"},
		{"co.uk", "co.uk"},
		{"github.io", "github.io"},
		{"jo.github.io", "jo.github.io"},
		{"www.jo.github.io", "jo.github.io"},
		{"www.example.com.", "example.com"},
		{"localhost", "localhost"},
		{"127.0.0.1", "127.0.0.1"},
		{"[2001:db8::1]", "[2001:db8::1]"},
		{"a.b.unlisted", "b.unlisted"},
		{"www.city.kawasaki.jp", "city.kawasaki.jp"},
		{"www.x.kawasaki.jp", "www.x.kawasaki.jp"},
		{"x.xn--55qx5d.cn", "x.xn--55qx5d.cn"},
		{"a.1b", "a.1b"},
		{"x.a.1b", "a.1b"},
		{"a..b", ".b"},
		{"", ""},
	} {
		if got := suffixes.Domain(c.hostname); got != c.want {
			t.Errorf("Domain(%q) = %q, want %q", c.hostname, got, c.want)
		}
	}
}

func TestSuffixesVersion(t *testing.T) {
	if version := BundledSuffixes().Version(); !strings.Contains(version, "git revision") {
		t.Errorf("version %q does not name a revision of the list", version)
	}
}

func BenchmarkDomain(b *testing.B) {
	suffixes := BundledSuffixes()
	for _, hostname := range []string{"www.example.com", "docs.jo.github.io", "www.example.co.uk"} {
		b.Run(hostname, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				suffixes.Domain(hostname)
			}
		})
	}
}

func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.a.example/x?y#z": "www.a.example", "http://a.example:8080": "a.example", "http://[::1]:80/": "[::1]",
		"http://[::1]": "[::1]", "https://a.example?q=http://b": "a.example", "": "", "/x": "",
	} {
		if got := HostOf(url); got != want {
			t.Errorf("HostOf(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestFinalDotOfAHost(t *testing.T) {
	for text, want := range map[string]string{
		"http://example.com./a":      "http://example.com/a",
		"http://example.com.:8080/a": "http://example.com:8080/a",
		"http://EXAMPLE.com%2E/":     "http://example.com/",
		"http://example.com。/":       "http://example.com/", // U+3002 is a dot, too
		"http://1.2.3.4./":           "http://1.2.3.4/",
		"http://example.com../":      "http://example.com../", // it names no host
		"http://./":                  "http://./",
	} {
		if u, _ := Parse(text); u.String() != want {
			t.Errorf("%q is %q, want %q", text, u, want)
		}
	}
}
