package kept

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/weftcrawl/weft/test/archived"
)

// Other programs keep chunks as they came, or join them and leave the field.
func TestChunksOfOtherPrograms(t *testing.T) {
	const url, chunked = "http://a.example/", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for message, want := range map[string]string{
		chunked + "4;ext=1\r\nsome\r\n5\r\n text\r\n0\r\nTrailer: 1\r\n\r\n": "some text",
		chunked + "some text":                           "some text",
		chunked + "4\r\nsome\r\n":                       "4\r\nsome\r\n",
		"HTTP/1.1 200 OK\r\n\r\n4\r\nsome\r\n0\r\n\r\n": "4\r\nsome\r\n0\r\n\r\n",
	} {
		b := archived.Folder(t)
		var member bytes.Buffer
		w := gzip.NewWriter(&member)
		_, err := fmt.Fprintf(w, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-11-01T12:00:00Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, len(message), message)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		archived.PutText(t, b, "other.warc.gz", member.String())
		archived.PutText(t, b, "other.cdxj", fmt.Sprintf("example,a)/ 20261101120000 {\"url\":%q,\"status\":\"200\",\"length\":\"%d\",\"offset\":\"0\",\"filename\":\"other.warc.gz\"}\n", url, member.Len()))
		x, err := Find(t.Context(), b, url, began)
		if err != nil || !x.Foreign || string(x.Payload) != want {
			t.Errorf("%q: %q, %v", message, x.Payload, err)
		}
		if body, err := x.Body(t.Context()); err != nil || string(body) != want {
			t.Errorf("%q: %q, %v", message, body, err)
		}
	}
}
