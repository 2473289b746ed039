package kept

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// Header returns the fields of the response.
func (x Exchange) Header() (http.Header, error) {
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(x.Head)), nil)
	if err != nil {
		return nil, fmt.Errorf("read the head of %s: %w", x.URL, err)
	}
	_ = response.Body.Close() // which is in Payload
	return response.Header, nil
}

// responses decodes bodies. A small one may become any size.
var responses = httpclient.NewRestorer(httpclient.AllBodies(settings.MaxBody))

// Body returns the body without its content codings.
func (x Exchange) Body(ctx context.Context) ([]byte, error) {
	restored := responses.Restore(ctx, httpclient.Request{URL: x.URL}, x.Head, x.Payload)
	defer restored.Release()
	if restored.Class != httpclient.ClassNone {
		return nil, fmt.Errorf("decode the body of %s: %s", x.URL, restored.Error)
	}
	return restored.Body, nil
}
