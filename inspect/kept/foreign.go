package kept

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"

	"github.com/weftcrawl/weft/processors/archive/warc"
)

// message divides the block of a response. Other programs keep the chunks of a transfer coding, which Weft has joined.
// own: Weft wrote the record.
func message(record warc.Record, own bool) (head, payload []byte) {
	head, payload = record.Message()
	if !own {
		payload = joined(head, payload)
	}
	return head, payload
}

// joined is a body without its chunks. Some programs join them and leave the field Transfer-Encoding as it was: what is not
// chunked from its beginning to its end stays.
func joined(head, payload []byte) []byte {
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil || !slices.Equal(response.TransferEncoding, []string{"chunked"}) {
		return payload
	}
	_ = response.Body.Close() // which is payload
	body, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(payload)))
	if err != nil {
		return payload
	}
	return body
}
