package frontier

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/urls"
)

// A URL may come back: it is settled, and its settlement names a time at which it is fetched
// again (Settlement.refresh_ms). Until then the URL is not pending. A crawl that has only such
// URLs left is drained. The domain keeps these URLs by time, and the partition has an index of
// the times. At its time the domain's next event (Refreshed) puts the URL into its first queue
// again, with its next round. The decision names the time, and the fold only follows it. So URLs
// of other kinds may come back later, at times that are learnt, and old ledgers still fold to
// the same state. Today only sitemaps come back, once a day.

// chunkRefreshed bounds how many URLs come back in one event.
const chunkRefreshed = 100

// refresh lets the sitemap come back that was settled last. A guessed sitemap comes back only if
// it exists: not if it is missing, not if the response is a page, and after a failure only if it
// was there before.
func (s *settling) refresh(q *weftpb.Request, o *weftpb.Outcome) {
	told := q.Target.GetSitemap()
	if told == nil || s.f.opts.SitemapRefresh <= 0 || o.GetStatus() >= 300 && o.GetStatus() < 400 && o.GetStatus() != 304 {
		return
	}
	there := o.GetStatus() == 304 || o.GetStatus() >= 200 && o.GetStatus() < 300 && o.GetErrorClass() == ""
	right := there && (o.GetStatus() == 304 || !mediatype.IsHTML(o.GetMediaType()))
	missing := o.GetStatus() >= 400 && o.GetStatus() < 500 && !judge(o).Retry
	if told.GetGuessed() && !right && (there || missing || q.Round == 0) {
		return
	}
	last := s.ev.Settled[len(s.ev.Settled)-1]
	last.RefreshMs = s.nowMS + s.f.opts.SitemapRefresh.Milliseconds()
	switch {
	case o.GetStatus() == 304:
		last.Etag, last.LastModified = cmp.Or(o.GetEtag(), q.Etag), cmp.Or(o.GetLastModified(), q.LastModified)
	case there:
		last.Etag, last.LastModified = o.GetEtag(), o.GetLastModified()
	}
}

// refreshSuffix ends the entry of a URL in the index of refreshes.
func refreshSuffix(domain string, q *weftpb.Request) []byte {
	print := urls.Fingerprint(q.GetTarget().GetUrl())
	return append(append([]byte(domain), 0), print[:]...)
}

func (k keys) refreshAt(ms int64) []byte {
	return binary.BigEndian.AppendUint64(k.make(refreshKind, 24), uint64(ms))
}

func (k keys) refresh(r *weftpb.Refresh) []byte {
	print := urls.Fingerprint(r.GetRequest().GetTarget().GetUrl())
	return append(k.refreshAt(r.GetDueMs()), print[:]...)
}

// refreshMS returns the time in a key that refresh made. prefix is the length of the key before
// the time.
func refreshMS(key []byte, prefix int) int64 { return int64(binary.BigEndian.Uint64(key[prefix:])) }

// leaveToComeBack keeps a settled request if its settlement says that it comes back.
func (x *fold) leaveToComeBack(v visit, s *weftpb.Settlement) {
	if s.RefreshMs <= 0 {
		return
	}
	q := proto.CloneOf(x.requestsOf(v)[s.Index])
	q.Attempt, q.Throttled, q.Again = 0, 0, false
	q.Round++
	q.Etag, q.LastModified = s.Etag, s.LastModified
	r := &weftpb.Refresh{Request: q, DueMs: s.RefreshMs}
	x.store.Set(x.keys.refresh(r), encodeRequest(q))
	x.toComeBack = append(x.toComeBack, r)
}

// comeBack queues a URL again.
func (x *fold) comeBack(r *weftpb.Refresh) {
	q := r.GetRequest()
	if _, ok := originOf(q.GetTarget().GetUrl()); !ok || q.Priority >= priorities || x.store.Get(x.keys.refresh(r)) == nil {
		x.impossible("%q comes back at %d, and does not wait for that", q.GetTarget().GetUrl(), r.GetDueMs())
		return
	}
	x.store.Delete(x.keys.refresh(r))
	x.putBack = append(x.putBack, r)
	x.queue(q)
}

// refreshDue adds the URLs whose time to come back has come. If sitemaps do not come back any
// more, they keep their times.
func (p *plan) refreshDue() {
	if p.f.opts.SitemapRefresh <= 0 || p.f.refreshes.first(p.f.store) > uint64(p.nowMS) {
		return
	}
	lower := p.keys.make(refreshKind, 0)
	for key, value := range kv.Range(p.store, lower, p.keys.refreshAt(p.nowMS+1)) {
		q, err := decodeRequest(value)
		if err != nil {
			p.fail(fmt.Errorf("read a URL that comes back: %w", err))
			return
		}
		p.ev.Refreshed = append(p.ev.Refreshed, &weftpb.Refresh{Request: q, DueMs: refreshMS(key, len(lower))})
		if p.bytes += targetBytes(q.Target); len(p.ev.Refreshed) == chunkRefreshed {
			return
		}
	}
}
