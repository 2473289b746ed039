package frontier

import (
	"iter"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// viaBits is the number of bits of Target.via. It shares a field with redirects, because most
// URLs have no redirects. So these cost nothing.
const viaBits = 4

// moreBit is a bit of the same field, above the bits of redirects. It says that more fields
// follow. Few URLs have them.
const moreBit = 1 << (viaBits + 32)

// attemptBits is the number of bits of Request.attempt. It shares a field with throttled, for
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
	if t.Sitemap != nil || t.Entry != nil || q.Etag != "" || q.LastModified != "" {
		way |= moreBit
	}
	f.Uint(&way)
	t.Via, t.Redirects = weftpb.Via(way&(1<<viaBits-1)), uint32(way>>viaBits)
	f.String(&t.Url)
	f.String(&t.ScopeRoot)
	if way&moreBit != 0 {
		moreFields(f, q)
	}
}

// moreFields are the fields of sitemaps, of their entries, and of conditional requests.
func moreFields(f *kv.Fields, q *weftpb.Request) {
	t := q.Target
	sitemap, entry, conditional := t.Sitemap != nil, t.Entry != nil, q.Etag != "" || q.LastModified != ""
	f.Bools(&sitemap, &entry, &conditional)
	f.Require(sitemap || entry || conditional)
	if sitemap {
		if t.Sitemap == nil {
			t.Sitemap = &weftpb.Sitemap{}
		}
		f.Uint32(&t.Sitemap.Level)
		f.Bools(&t.Sitemap.Guessed, &t.Sitemap.OutOfScope)
		f.String(&t.Sitemap.Host)
		f.String(&t.Sitemap.Root)
	}
	if entry {
		if t.Entry == nil {
			t.Entry = &weftpb.Entry{}
		}
		frequency := uint32(t.Entry.ChangeFrequency)
		f.Uint32(&t.Entry.Priority)
		f.Int(&t.Entry.LastmodMs)
		f.Uint32(&frequency)
		f.String(&t.Entry.Foreign)
		t.Entry.ChangeFrequency = weftpb.Entry_ChangeFrequency(frequency)
	}
	if conditional {
		f.String(&q.Etag)
		f.String(&q.LastModified)
	}
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

// entries returns the URLs between two keys. It ends at the first error.
func entries(store kv.Store, lower, upper []byte) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		store.Scan(lower, upper, func(key, value []byte) bool {
			q, err := decodeRequest(value)
			return yield(entry{key, q}, err) && err == nil
		})
	}
}
