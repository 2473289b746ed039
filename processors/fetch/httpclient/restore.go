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
	bodies  *bodies
	options Options
}

// NewRestorer returns a restorer that reads and cuts bodies as a Client with these options does.
func NewRestorer(o Options) *Restorer { return &Restorer{bodies: newBodies(o), options: o} }

// AllBodies returns options for a Restorer of whatever was kept. limit bounds a decoded body, in
// bytes, and the memory of all bodies above 1 MiB that are restored at a time.
func AllBodies(limit int64) Options {
	o := DefaultOptions()
	o.MaxBodyBytes, o.FileBytes, o.LargeBodyBytes = limit, limit, max(o.LargeBodyBytes, limit)
	o.WantBody = nil
	return o
}

// Restore returns the exchange of a response to r. head is from the status line to the empty line.
// payload is the body, with the content codings that head names and without transfer coding. Times
// and what only the connection shows are not known. The caller calls Release when it does not need
// the body any more.
func (re *Restorer) Restore(ctx context.Context, r Request, head, payload []byte) *Exchange {
	x := &Exchange{URL: r.URL}
	if err := re.restore(ctx, r, x, head, payload); err != nil {
		x.fail(err)
	}
	return x
}

func (re *Restorer) restore(ctx context.Context, r Request, x *Exchange, head, payload []byte) error {
	mended := bytes.Clone(head)
	mend(mended, false)
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(mended)), nil)
	if err != nil {
		return failure{ClassBadResponse, err}
	}
	_ = resp.Body.Close() // payload has it
	x.Status, x.Proto = resp.StatusCode, resp.Proto
	if len(head) <= maxHeadBytes {
		x.ResponseHead = head
	}
	block := headerBlock{text: head, complete: true}
	if x.Headers, err = block.headers(); err != nil {
		return err
	}
	x.Location = redirectTarget(resp, x.URL)
	if isEmpty(resp.StatusCode) {
		return nil
	}
	media := mediaOf(resp.Header)
	if !re.options.wants(r.Kind, resp.StatusCode, media) {
		return unwanted(media)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
	got, err := re.bodies.read(ctx, cancel, resp, re.options.bodyLimit(r.Kind, media))
	x.Body, x.CodedBody = got.bytes, got.coded
	x.Truncated, x.WireBytes, x.reservation = got.truncated, got.wireBytes, got.reservation
	if err != nil && x.Location == "" {
		return err
	}
	return nil // a redirect needs only its header
}

func unwanted(media string) error {
	return failf(ClassUnwantedType, "body of type %q is not wanted", media)
}
