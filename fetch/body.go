package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// Bodies of known length up to this are read straight into their own
	// memory. For longer ones the server's word is not enough to reserve it.
	trustedLength = 64 << 10
	// What is read and thrown away of a body so that its connection can be
	// kept. A new connection costs about as much as this many bytes.
	drainLimit = 64 << 10
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
	room     *room
	windows  *semaphore.Weighted // maxWindows
	decoders decoders
	buffers  sync.Pool // *[]byte, none longer than largeBody
}

func newBodies(o Options) *bodies {
	return &bodies{room: newRoom(o), windows: semaphore.NewWeighted(maxWindows)}
}

// body is what was read of one.
type body struct {
	bytes     []byte // decoded; of exact size; nil with an error
	truncated bool
	wireBytes int64  // before decoding, after any transfer coding
	share     *share // of the room, that a large one took; or nil
}

// read reads and decodes resp's body up to limit and closes it; the error is
// of class body_truncated, bad_encoding, bad_response or a timeout's, or
// errNoRoom when ctx ended before there was memory for the body. limit holds for
// the result, for the wire, and between codings, so that neither a bomb nor a
// stream that decodes to nothing goes on for long. give ends the exchange; see
// room.take.
func (b *bodies) read(ctx context.Context, give func(why error), resp *http.Response, limit int64) (body, error) {
	defer resp.Body.Close()
	wire := &limited{r: resp.Body, left: limit}
	var got body
	err := b.content(ctx, give, resp, wire, limit, &got)
	if err == nil && !got.truncated {
		err = finish(resp, wire)
	}
	got.wireBytes = wire.n
	if err != nil {
		got.share.release()
		return body{wireBytes: wire.n}, err
	}
	got.share.whole()
	return got, nil
}

// finish reads on where the decoder has its end and the body not yet. What it
// finds there is ignored, but a body that is cut there was perhaps to go on:
// gzip and zstd cannot tell that another member was to follow.
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

// content fills in what is decoded, and the room that it took.
func (b *bodies) content(ctx context.Context, give func(why error), resp *http.Response, wire *limited, limit int64, got *body) error {
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
	most := limit
	if length >= 0 {
		most = min(length, limit)
	}
	if windows(list) > 0 {
		return b.unpack(ctx, give, list, wire, most, limit, got)
	}
	if len(list) > 0 {
		most = limit
	}
	return b.decode(list, wire, wire, most, limit, got, func() (*share, error) {
		return b.room.take(ctx, most, most, give)
	})
}

// unpack decodes a body of at most so many bytes whose codings have large
// windows. It reads it first and decodes it then, with maxWindows of all
// exchanges at a time: a server that sends a little and hangs holds no window,
// and what holds one waits for nothing else, neither for a server nor for room.
// Decoded without room, and too large for that, it is decoded again when it has
// its room.
func (b *bodies) unpack(ctx context.Context, give func(why error), list []string, wire *limited, most, limit int64, got *body) error {
	packed, pooled, end := b.readAll(wire, most, &got.share, func() (*share, error) {
		return b.room.take(ctx, most+limit, most, give)
	})
	if pooled != nil {
		defer b.buffers.Put(pooled)
	}
	if errors.Is(end, errNoRoom) {
		return end
	}
	if !wire.cut && wire.err != io.EOF {
		return wireFailure(wire.err)
	}
	got.share.whole()
	decode := func() error {
		n := windows(list)
		if b.windows.Acquire(ctx, n) != nil {
			return errNoRoom
		}
		defer b.windows.Release(n)
		again := &replay{stopped: ctx.Err, rest: packed, end: end}
		return b.decode(list, wire, again, limit, limit, got, func() (*share, error) { return b.room.try(limit) })
	}
	err := decode()
	if errors.Is(err, errNoRoom) && got.share == nil {
		if got.share, err = b.room.take(ctx, limit, limit, give); err != nil {
			return err
		}
		got.share.whole()
		err = decode()
	}
	got.share.shrink(limit)
	return err
}

// replay reads bytes that were read before, and ends as they did, or when it is
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

// decode removes codings from src, the bytes of wire, into at most so many.
func (b *bodies) decode(list []string, wire *limited, src io.Reader, most, limit int64, got *body, room func() (*share, error)) error {
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
	content, pooled, err := b.readAll(src, most, &got.share, room)
	if pooled != nil {
		content = append(make([]byte, 0, len(content)), content...)
		b.buffers.Put(pooled) // others write to it from here on
	}
	if got.truncated, err = settle(err, chain); err == nil {
		got.bytes = content
	}
	return err
}

// settle finds out what it means that the last of chain, which begins with the
// wire, ended with err. A decoder may have said io.EOF at the end of a member
// although what was to follow is missing.
func settle(err error, chain []*limited) (cut bool, _ error) {
	if errors.Is(err, errNoRoom) {
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

// readAll reads r, which gives at most so many bytes, to its error, which is
// io.EOF at the end. A body up to largeBody is read in a pooled buffer, which is
// then the caller's to give back; a larger one has a buffer of its own, for which
// it first takes room, unless it has its share already.
func (b *bodies) readAll(r io.Reader, most int64, own **share, room func() (*share, error)) (content []byte, pooled *[]byte, err error) {
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
				if *own, err = room(); err != nil {
					break
				}
			}
			// One byte more than there may be: whoever reads to the end must be
			// able to see it.
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

// skip leaves a body unread. It closes the connection, unless the rest is
// known to be so short that reading it is cheaper.
func skip(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= drainLimit {
		drain(resp.Body)
	}
	resp.Body.Close()
}

// expectNone reads the body of a response that has none, and closes it. Only
// HTTP/2 can send one all the same. That it is shorter than its length is no
// fault: the length is that of the body of another response.
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

// drain reads to the end if that is near. What fails here fails the
// connection; whether it fails the exchange, finish knows.
func drain(r io.Reader) {
	_, _ = io.CopyN(io.Discard, r, drainLimit)
}
