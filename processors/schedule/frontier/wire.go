package frontier

import (
	"iter"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// viaBits are the bits of Target.via, which shares its field with redirects:
// most URLs have none, and then they cost nothing.
const viaBits = 4

// attemptBits are the bits of Request.attempt, which shares its field with throttled for
// the same reason.
const attemptBits = 8

// requestFields are the fields of a request without its place (Again, Target.Group).
func requestFields(f *kv.Fields, q *weftpb.Request) {
	if q.Target == nil {
		q.Target = &weftpb.Target{}
	}
	t := q.Target
	f.Uint32(&q.Priority)
	f.Require(q.Priority < priorities)
	tries := uint64(q.Throttled)<<attemptBits | uint64(q.Attempt)
	f.Uint(&tries)
	q.Attempt, q.Throttled = uint32(tries&(1<<attemptBits-1)), uint32(tries>>attemptBits)
	f.Uint32(&q.Round)
	f.Uint32(&t.Depth)
	way := uint64(t.Redirects)<<viaBits | uint64(t.Via)
	f.Uint(&way)
	t.Via, t.Redirects = weftpb.Via(way&(1<<viaBits-1)), uint32(way>>viaBits)
	f.String(&t.Url)
	f.String(&t.ScopeRoot)
}

func requestBytes(q *weftpb.Request) int {
	return 16 + len(q.Target.GetUrl()) + len(q.Target.GetScopeRoot())
}

func encodeRequest(q *weftpb.Request) []byte {
	return kv.Encode(requestBytes(q), func(f *kv.Fields) { requestFields(f, q) })
}

func decodeRequest(b []byte) (*weftpb.Request, error) {
	q := &weftpb.Request{}
	return q, kv.Decode(b, func(f *kv.Fields) { requestFields(f, q) })
}

// requestsFields are the fields of the requests of a visit.
func requestsFields(f *kv.Fields, qs *[]*weftpb.Request) {
	kv.List(f, qs, maxRequests, func(q **weftpb.Request) {
		if *q == nil {
			*q = &weftpb.Request{}
		}
		requestFields(f, *q)
	})
}

func encodeRequests(qs []*weftpb.Request) []byte {
	size := 2
	for _, q := range qs {
		size += requestBytes(q)
	}
	return kv.Encode(size, func(f *kv.Fields) { requestsFields(f, &qs) })
}

func decodeRequests(b []byte) (qs []*weftpb.Request, err error) {
	err = kv.Decode(b, func(f *kv.Fields) { requestsFields(f, &qs) })
	return qs, err
}

// entry is a URL in a queue, the retries or a group.
type entry struct {
	key []byte // valid until the next entry
	*weftpb.Request
}

// entries returns the URLs between two keys; the first error is the end.
func entries(store kv.Store, lower, upper []byte) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		store.Scan(lower, upper, func(key, value []byte) bool {
			q, err := decodeRequest(value)
			return yield(entry{key, q}, err) && err == nil
		})
	}
}
