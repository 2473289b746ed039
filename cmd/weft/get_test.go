package main

import (
	"testing"

	"github.com/weftcrawl/weft/inspect/kept"
)

// People leave out the scheme.
func TestGetTarget(t *testing.T) {
	for given, want := range map[string]string{
		"HTTP://A.example:80/b#c": "http://a.example/b",
		"a.example":               "//a.example/",
		"a.example:8080/b c":      "//a.example:8080/b%20c",
		"münchen.example/ü":       "//xn--mnchen-3ya.example/%C3%BC",
		"ftp://a.example/":        "ftp://a.example/",
	} {
		if got := (&getCmd{URL: given}).target(); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// The head is printed as it came, without what the archive changed.
func TestGetHeaders(t *testing.T) {
	x := kept.Exchange{Head: []byte("HTTP/1.1 200 OK\r\nX-Weft-Orig-Transfer-Encoding: chunked\r\nVia: a\r\nContent-Length: 3\r\n\r\n")}
	const want = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nVia: a\r\n\r\n"
	if got, err := (&getCmd{Headers: true}).part(t.Context(), x); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
