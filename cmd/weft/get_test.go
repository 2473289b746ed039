package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/processors/archive/warc"
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

// A body that was not kept is not an empty body.
func TestGetNoBody(t *testing.T) {
	cut := kept.Exchange{Head: []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"), Facts: warc.Facts{ErrorClass: "body_truncated"}}
	for _, c := range []getCmd{{}, {Raw: true}, {Text: true}} {
		if got, err := c.part(t.Context(), cut); !errors.Is(err, errNoBody) || !strings.Contains(err.Error(), "body_truncated") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if got, err := (&getCmd{Headers: true}).part(t.Context(), cut); err != nil || len(got) != len(cut.Head) {
		t.Errorf("%q, %v", got, err)
	}
	empty := kept.Exchange{Head: []byte("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")}
	if got, err := (&getCmd{}).part(t.Context(), empty); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
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
