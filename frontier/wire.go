package frontier

import (
	"encoding/binary"
	"errors"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Values are written by hand: sequences of varints and strings with their
// length in front. There are several for every URL, they are read and written
// by this package only, and a store of another format is rebuilt from the
// ledger, so that they need neither field numbers nor reflection.

// errValue means that a value of the store cannot be read.
var errValue = errors.New("value is damaged")

// writer appends fields to a value.
type writer []byte

func (w *writer) uint(n uint64) { *w = binary.AppendUvarint(*w, n) }
func (w *writer) int(n int64)   { *w = binary.AppendVarint(*w, n) }
func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) bool(bits ...bool) {
	var n uint64
	for i, bit := range bits {
		if bit {
			n |= 1 << i
		}
	}
	w.uint(n)
}

// reader takes fields off a value. After a field that is not there it returns
// zeros, and err tells.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) uint32() uint32 {
	n := r.uint()
	if n != uint64(uint32(n)) {
		r.bad = true
	}
	return uint32(n)
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) string() string {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.rest, r.bad = nil, true
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// bits returns a value that bool wrote.
func (r *reader) bits(count int) uint64 {
	n := r.uint()
	if n >= 1<<count {
		r.bad = true
	}
	return n
}

// err tells whether the value was exactly what was read of it.
func (r *reader) err() error {
	if r.bad || len(r.rest) > 0 {
		return errValue
	}
	return nil
}

// viaBits are the bits of Target.via, which shares its field with redirects:
// most URLs have none, and then they cost nothing.
const viaBits = 4

// request appends a request without its place (Again).
func (w *writer) request(r *weftpb.Request) {
	w.uint(uint64(r.Priority))
	w.uint(uint64(r.Attempt))
	w.uint(uint64(r.Round))
	w.uint(uint64(r.Target.GetDepth()))
	w.uint(uint64(r.Target.GetRedirects())<<viaBits | uint64(r.Target.GetVia()))
	w.string(r.Target.GetUrl())
	w.string(r.Target.GetScopeRoot())
}

// request reads what writer.request wrote.
func (r *reader) request() *weftpb.Request {
	q := &weftpb.Request{
		Priority: r.uint32(),
		Attempt:  r.uint32(),
		Round:    r.uint32(),
		Target:   &weftpb.Target{Depth: r.uint32()},
	}
	way := r.uint()
	q.Target.Via, q.Target.Redirects = weftpb.Via(way&(1<<viaBits-1)), uint32(way>>viaBits)
	q.Target.Url = r.string()
	q.Target.ScopeRoot = r.string()
	if q.Priority >= priorities {
		r.bad = true
	}
	return q
}

// encodeRequest is the value of a queue's or the retries' entry.
func encodeRequest(q *weftpb.Request) []byte {
	w := make(writer, 0, 16+len(q.Target.GetUrl())+len(q.Target.GetScopeRoot()))
	w.request(q)
	return w
}

func decodeRequest(b []byte) (*weftpb.Request, error) {
	r := reader{rest: b}
	q := r.request()
	return q, r.err()
}

// encodeRequests is the value of a visit that is out.
func encodeRequests(qs []*weftpb.Request) []byte {
	size := 2
	for _, q := range qs {
		size += 16 + len(q.Target.GetUrl()) + len(q.Target.GetScopeRoot())
	}
	w := make(writer, 0, size)
	w.uint(uint64(len(qs)))
	for _, q := range qs {
		w.request(q)
	}
	return w
}

func decodeRequests(b []byte) ([]*weftpb.Request, error) {
	r := reader{rest: b}
	n := r.uint()
	if n > maxRequests {
		return nil, errValue
	}
	qs := make([]*weftpb.Request, 0, n)
	for range n {
		qs = append(qs, r.request())
	}
	return qs, r.err()
}
