package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
)

// Restorer makes exchanges of responses that were kept, with the code that reads responses from
// the wire. It is safe for concurrent use.
type Restorer struct {
	bodies *bodies
	limit  int64
}

// NewRestorer returns a restorer. limit bounds a decoded body, in bytes, and the memory of all
// bodies above 1 MiB that are restored at a time.
func NewRestorer(limit int64) *Restorer {
	options := DefaultOptions()
	options.LargeBodyBytes = max(options.LargeBodyBytes, limit)
	return &Restorer{bodies: newBodies(options), limit: limit}
}

// Restore returns the exchange of a response to a request for url. head is from the status line to
// the empty line. payload is the body, with the content codings that head names and without
// transfer coding. Times and what only the connection shows are not known. The caller calls Release
// when it does not need the body any more.
func (r *Restorer) Restore(ctx context.Context, url string, head, payload []byte) *Exchange {
	x := &Exchange{URL: url}
	if err := r.restore(ctx, x, head, payload); err != nil {
		x.fail(err)
	}
	return x
}

func (r *Restorer) restore(ctx context.Context, x *Exchange, head, payload []byte) error {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil {
		return failure{ClassBadResponse, err}
	}
	_ = resp.Body.Close() // payload has it
	x.Status, x.Proto = resp.StatusCode, resp.Proto
	block := headerBlock{text: head, complete: true}
	if x.Headers, err = block.headers(); err != nil {
		return err
	}
	x.Location = redirectTarget(resp, x.URL)
	if isEmpty(resp.StatusCode) {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
	got, err := r.bodies.read(ctx, cancel, resp, r.limit)
	x.Body, x.Truncated, x.WireBytes, x.reservation = got.bytes, got.truncated, got.wireBytes, got.reservation
	if err != nil && x.Location == "" {
		return err
	}
	return nil // a redirect needs only its header
}
