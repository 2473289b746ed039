package httpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// Bodies of known length up to this are read straight into their own
	// memory. For longer bodies the server's announcement is not trusted.
	trustedLength = 64 << 10
	// So much of a body is read and thrown away so that its connection can be
	// kept. A new connection costs about as much as this many bytes.
	drainLimit = 64 << 10
	// So much of a coded body is kept before the decoded body has reserved memory for both. It
	// is more than largeBody, because codings make a body that cannot be compressed a little
	// larger, and decoders read ahead.
	keptAtOnce = largeBody + largeBody/8
)

// bodies reads bodies; its pools are shared by all exchanges of a client.
type bodies struct {
	memory   *bodyMemory
	windows  *semaphore.Weighted // maxWindows
	decoders decoders
	keep     bool      // Options.KeepCoded
	buffers  sync.Pool // *[]byte, none longer than largeBody
}

func newBodies(o Options) *bodies {
	return &bodies{memory: newBodyMemory(o), windows: semaphore.NewWeighted(maxWindows), decoders: newDecoders(), keep: o.KeepCoded}
}

// body is the result of reading one.
type body struct {
	bytes       []byte // decoded; of exact size; nil with an error
	coded       []byte // with its content codings; nil if it has no coding, was cut, or is not kept
	truncated   bool
	wireBytes   int64        // before decoding, after any transfer coding
	reservation *reservation // of a large body; or nil
}

// read reads and decodes resp's body up to limit, and closes it. The error is of class
// body_truncated, bad_encoding, bad_response or a timeout's, or errNoMemory when ctx ended
// before there was memory for the body. limit holds for the result, for the wire, and between
// codings. So a bomb, or a stream that decodes to nothing, ends soon. end ends the exchange;
// see bodyMemory.reserve.
func (b *bodies) read(ctx context.Context, end func(why error), resp *http.Response, limit int64) (body, error) {
	defer resp.Body.Close()
	source := &codedReader{r: resp.Body, tolerant: resp.ProtoMajor == 1 && resp.ContentLength > 0 && len(resp.Header["Content-Encoding"]) > 0}
	kept := &keeper{r: source}
	if b.keep && len(resp.Header["Content-Encoding"]) > 0 {
		kept.most = keptAtOnce
	}
	wire := &limited{r: kept, left: limit}
	var got body
	err := b.content(ctx, end, resp, kept, wire, limit, &got)
	if err == nil && !got.truncated {
		err = finish(resp, wire)
	}
	if source.short && !got.truncated && !errors.Is(err, errNoMemory) && (err != nil || int64(len(got.bytes)) != resp.ContentLength) {
		err = wireFailure(io.ErrUnexpectedEOF)
	}
	got.wireBytes = wire.n
	if err != nil {
		got.reservation.release()
		return body{wireBytes: wire.n}, err
	}
	got.reservation.whole()
	if !got.truncated && wire.err == io.EOF {
		got.coded = kept.bytes
	}
	got.reservation.shrink(limit + int64(len(got.coded)))
	return got, nil
}

// codedReader reads a body. Some servers send the length of the decoded body as the
// Content-Length, and browsers tolerate that. So if a coded body of HTTP/1.x ends before its
// Content-Length, the reader notes this and ends without an error. The body is whole if the
// Content-Length is its decoded length.
type codedReader struct {
	r        io.Reader
	tolerant bool
	short    bool // it ended before its Content-Length
}

// Read implements io.Reader.
func (c *codedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.tolerant && errors.Is(err, io.ErrUnexpectedEOF) {
		c.short, err = true, io.EOF
	}
	return n, err
}

// keeper keeps what is read, as long as it is at most most bytes. 0: it keeps nothing.
type keeper struct {
	r     io.Reader
	most  int64
	n     int64
	bytes []byte
}

// raise raises most, unless something was read that is not kept.
func (k *keeper) raise(most int64) {
	if k.most > 0 && k.n <= k.most {
		k.most = most
	}
}

// Read implements io.Reader.
func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	if k.n += int64(n); k.n <= k.most {
		k.bytes = append(k.bytes, p[:n]...)
	} else {
		k.bytes = nil
	}
	return n, err
}

// finish reads the rest of a body after the decoder has reached its end. The rest is
// ignored. But when the body is cut there, a part may be missing: gzip and zstd do not say
// whether another member follows.
func finish(resp *http.Response, wire *limited) error {
	if wire.err == nil {
		drain(wire)
	}
	switch wire.err {
	case nil:
		return nil
	case io.EOF:
		return wrongLength(resp, wire.n)
	}
	return wireFailure(wire.err)
}

// content fills in the decoded body and its reservation.
func (b *bodies) content(ctx context.Context, end func(why error), resp *http.Response, kept *keeper, wire *limited, limit int64, got *body) error {
	list, err := codings(resp.Header["Content-Encoding"])
	if err != nil {
		return err
	}
	length := resp.ContentLength
	if len(list) == 0 && length >= 0 && length <= min(limit, trustedLength) {
		content := make([]byte, length)
		if _, err := io.ReadFull(wire, content); err != nil {
			return wireFailure(err)
		}
		got.bytes = content
		return nil
	}
	come := limit // at most, on the wire
	if length >= 0 {
		come = min(length, limit)
	}
	if windows(list) > 0 {
		return b.unpack(ctx, end, list, kept, wire, come, limit, got)
	}
	most := come
	if len(list) > 0 {
		most = limit
	}
	return b.decode(list, wire, wire, most, limit, got, func() (*reservation, error) {
		bytes := most
		if kept.most > 0 {
			bytes += come
		}
		r, err := b.memory.reserve(ctx, bytes, most, end)
		if err == nil {
			kept.raise(come)
		}
		return r, err
	})
}

// unpack decodes a body of at most come bytes whose codings have large windows. It reads
// the body first and then decodes it, with at most maxWindows over all exchanges at a time.
// So a server that sends a little and hangs occupies no window, and a decoder with a window
// does not wait for a server or for memory. A body that turns out to be too large to be
// decoded without a reservation is decoded again when it has one.
func (b *bodies) unpack(ctx context.Context, end func(why error), list []string, kept *keeper, wire *limited, come, limit int64, got *body) error {
	keep := kept.most > 0
	kept.most = 0 // it would be a second copy
	packed, pooled, readErr := b.readAll(wire, come, &got.reservation, func() (*reservation, error) {
		return b.memory.reserve(ctx, come+limit, come, end)
	})
	if pooled != nil {
		defer b.buffers.Put(pooled)
	}
	if errors.Is(readErr, errNoMemory) {
		return readErr
	}
	if !wire.cut && wire.err != io.EOF {
		return wireFailure(wire.err)
	}
	got.reservation.whole()
	decode := func() error {
		n := windows(list)
		if b.windows.Acquire(ctx, n) != nil {
			return errNoMemory
		}
		defer b.windows.Release(n)
		again := &replay{stopped: ctx.Err, rest: packed, end: readErr}
		return b.decode(list, wire, again, limit, limit, got, func() (*reservation, error) { return b.memory.tryReserve(limit) })
	}
	err := decode()
	if errors.Is(err, errNoMemory) && got.reservation == nil {
		if got.reservation, err = b.memory.reserve(ctx, limit, limit, end); err != nil {
			return err
		}
		got.reservation.whole()
		err = decode()
	}
	if keep && err == nil {
		kept.bytes = packed
		if pooled != nil {
			kept.bytes = bytes.Clone(packed)
		}
	}
	return err
}

// replay reads bytes that were read before. It ends with the same error, or when it is
// stopped.
type replay struct {
	stopped func() error
	rest    []byte
	end     error
}

func (r *replay) Read(p []byte) (int, error) {
	if err := r.stopped(); err != nil {
		return 0, err
	}
	if len(r.rest) == 0 {
		return 0, r.end
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// decode removes codings from src, the bytes of wire. The result has at most most bytes.
func (b *bodies) decode(list []string, wire *limited, src io.Reader, most, limit int64, got *body, reserve func() (*reservation, error)) error {
	chain := []*limited{wire}
	for _, coding := range list {
		l, err := b.decoders.open(coding, src)
		defer b.decoders.close(l)
		if err != nil {
			got.truncated, err = settle(err, chain)
			return err
		}
		top := &limited{r: l, left: limit}
		src, chain = top, append(chain, top)
	}
	content, pooled, err := b.readAll(src, most, &got.reservation, reserve)
	if pooled != nil {
		content = append(make([]byte, 0, len(content)), content...)
		b.buffers.Put(pooled) // others write to it from here on
	}
	if got.truncated, err = settle(err, chain); err == nil {
		got.bytes = content
	}
	return err
}

// settle finds out what it means that the last reader of chain ended with err. The chain
// begins with the wire. A decoder may return io.EOF at the end of a member although the
// next member is missing.
func settle(err error, chain []*limited) (cut bool, _ error) {
	if errors.Is(err, errNoMemory) {
		return false, err
	}
	for _, l := range chain {
		if l.cut {
			return true, nil
		}
	}
	if wire := chain[0]; wire.err != nil && wire.err != io.EOF {
		return false, wireFailure(wire.err)
	}
	for _, l := range chain[1:] {
		if l.err != nil && l.err != io.EOF {
			err = l.err
			break
		}
	}
	if err == io.EOF {
		return false, nil
	}
	return false, failf(classifyDecoding(err), "decode body: %w", err)
}

func wireFailure(err error) error {
	return failf(classifyBody(err), "read body: %w", err)
}

// readAll reads r, which gives at most most bytes, to its error, which is io.EOF at the
// end. A body up to largeBody is read in a pooled buffer, which the caller gives back. A
// larger body has a buffer of its own, for which it first reserves memory, unless it has
// its reservation already.
func (b *bodies) readAll(r io.Reader, most int64, own **reservation, reserve func() (*reservation, error)) (content []byte, pooled *[]byte, err error) {
	pooled, ok := b.buffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 32<<10)
		pooled = &fresh
	}
	buf, n := *pooled, 0
	for err == nil {
		if n == len(buf) && n < largeBody {
			buf = append(buf, make([]byte, len(buf))...)
			*pooled = buf
		}
		if n == len(buf) {
			if *own == nil {
				if *own, err = reserve(); err != nil {
					break
				}
			}
			// One byte more than the body may have, so that the reader can see the
			// end.
			buf = append(make([]byte, 0, min(2*int64(n), most+1)), buf...)
			buf = buf[:cap(buf)]
			if pooled != nil {
				b.buffers.Put(pooled) // buf is not in it any more
				pooled = nil
			}
		}
		var k int
		k, err = r.Read(buf[n:])
		n += k
		if *own != nil {
			(*own).filled.Store(int64(n))
		}
	}
	return buf[:n:n], pooled, err
}

// skip leaves a body unread. It closes the connection, unless the rest is known to be so
// short that reading it costs less.
func skip(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= drainLimit {
		drain(resp.Body)
	}
	resp.Body.Close()
}

// expectNone checks that a response that must not have a body has no body, and closes it. Only
// HTTP/2 can send one nevertheless. A body shorter than its length is not a fault here: the length
// belongs to the body of another response.
func expectNone(resp *http.Response) error {
	defer resp.Body.Close()
	n, err := io.ReadFull(resp.Body, make([]byte, 1))
	switch {
	case n > 0:
		return failf(ClassBadResponse, "status %d with a body", resp.StatusCode)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	}
	return wireFailure(err)
}

// drain reads to the end if that is near. A failure here ends the connection; finish
// decides whether it fails the exchange.
func drain(r io.Reader) {
	_, _ = io.CopyN(io.Discard, r, drainLimit)
}
