package main

import (
	"testing"

	"github.com/weftcrawl/weft/inspect/kept"
)

// The head is printed as it came, without what the archive changed.
func TestGetHeaders(t *testing.T) {
	x := kept.Exchange{Head: []byte("HTTP/1.1 200 OK\r\nX-Weft-Orig-Transfer-Encoding: chunked\r\nVia: a\r\nContent-Length: 3\r\n\r\n")}
	const want = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nVia: a\r\n\r\n"
	if got, err := (&getCmd{Headers: true}).part(t.Context(), x); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
