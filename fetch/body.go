package fetch

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

const (
	// Bodies of known length up to this are read straight into their own
	// memory. For longer ones the server's word is not enough to reserve it.
	trustedLength = 64 << 10
	// What is read and thrown away of a body so that its connection can be
	// kept. A new connection costs about as much as this many bytes.
	drainLimit = 64 << 10
	// Buffers that grew beyond this are not kept in the pool.
	pooledBuffer = 1 << 20
)

var errCut = errors.New("cut at the limit")

// limited passes on at most left bytes of r and fails with errCut if there
// are more. It keeps what r failed with, for decoders report such errors in
// words of their own.
type limited struct {
	r    io.Reader
	left int64
	n    int64 // bytes passed on
	cut  bool
	err  error // of r, io.EOF included
}

func (l *limited) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if l.left == 0 {
		return 0, l.probe()
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.n += int64(n)
	l.left -= int64(n)
	l.err = err
	return n, err
}

// probe finds out whether anything lies beyond the limit.
func (l *limited) probe() error {
	var one [1]byte
	for !l.cut && l.err == nil {
		n, err := l.r.Read(one[:])
		l.cut = n > 0
		if n == 0 {
			l.err = err
		}
	}
	if l.cut {
		return errCut
	}
	return l.err
}

// bodies reads bodies; its pools are shared by all exchanges of a client.
type bodies struct {
	decoders decoders
	buffers  sync.Pool // *[]byte
}

// body is what was read of one.
type body struct {
	bytes     []byte // decoded; of exact size; nil with an error
	truncated bool
	wireBytes int64 // before decoding, after any transfer coding
}

// read reads and decodes resp's body up to limit and closes it; the error is
// of class body_truncated, bad_encoding, bad_response or a timeout's. limit
// holds for the result, for the wire, and between codings, so that neither a
// bomb nor a stream that decodes to nothing goes on for long.
func (b *bodies) read(resp *http.Response, limit int64) (body, error) {
	defer resp.Body.Close()
	wire := &limited{r: resp.Body, left: limit}
	content, truncated, err := b.content(resp, wire, limit)
	got := body{content, truncated, wire.n}
	if err == nil && !truncated && wire.err == nil {
		// The decoder has its end, the connection not yet.
		drain(resp.Body)
	}
	return got, err
}

func (b *bodies) content(resp *http.Response, wire *limited, limit int64) (content []byte, truncated bool, err error) {
	list, err := codings(resp.Header["Content-Encoding"])
	if err != nil {
		return nil, false, err
	}
	if length := resp.ContentLength; len(list) == 0 && length >= 0 && length <= min(limit, trustedLength) {
		content = make([]byte, length)
		if _, err := io.ReadFull(wire, content); err != nil {
			return nil, false, wireFailure(err)
		}
		return content, false, nil
	}
	chain := []*limited{wire}
	top := wire
	for _, coding := range list {
		l, err := b.decoders.open(coding, top)
		defer b.decoders.close(l)
		if err != nil {
			return nil, false, b.settle(err, chain)
		}
		top = &limited{r: l, left: limit}
		chain = append(chain, top)
	}
	content, err = b.readAll(top)
	if err == io.EOF {
		return content, false, nil
	}
	if err := b.settle(err, chain); err != nil {
		return nil, false, err
	}
	return content, true, nil
}

// settle finds out what a failed read means: nil for one that met a limit.
func (b *bodies) settle(err error, chain []*limited) error {
	for _, l := range chain {
		if l.cut {
			return nil
		}
	}
	if wire := chain[0]; wire.err != nil && wire.err != io.EOF {
		return wireFailure(wire.err)
	}
	return failf(classifyDecoding(err), "decode body: %w", err)
}

func wireFailure(err error) error {
	return failf(classifyBody(err), "read body: %w", err)
}

// readAll reads r to its error, which is io.EOF at the end, in a pooled
// buffer, and returns a copy of exact size.
func (b *bodies) readAll(r io.Reader) ([]byte, error) {
	pooled, ok := b.buffers.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 32<<10)
		pooled = &fresh
	}
	buf, n := *pooled, 0
	var err error
	for err == nil {
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	content := make([]byte, n)
	copy(content, buf)
	if len(buf) <= pooledBuffer {
		*pooled = buf
		b.buffers.Put(pooled)
	}
	return content, err
}

// skip leaves a body unread. It closes the connection, unless the rest is
// known to be so short that reading it is cheaper.
func skip(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= drainLimit {
		drain(resp.Body)
	}
	resp.Body.Close()
}

// drain reads to the end if that is near. What fails here fails the
// connection, not the exchange.
func drain(r io.Reader) {
	_, _ = io.CopyN(io.Discard, r, drainLimit)
}
