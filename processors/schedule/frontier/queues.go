package frontier

import (
	"bytes"
	"maps"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Folding what enters and leaves the queues and the retries of a domain.

// fronts counts how many URLs leave which front.
type fronts struct {
	queues  [priorities]uint64
	retries uint64
	groups  map[string]uint64
}

// leaves counts a URL that leaves the front of its place.
func (x *fold) leaves(f *fronts, priority uint32, again bool, group string) {
	switch {
	case again:
		f.retries++
	case group != "":
		if f.groups == nil {
			f.groups = map[string]uint64{}
		}
		f.groups[group]++
	case priority < priorities:
		f.queues[priority]++
	default:
		x.impossible("a URL leaves a queue that does not exist")
	}
}

func (x *fold) take(f fronts) {
	for p, n := range f.queues {
		q := &x.d.queues[p]
		if n > q.len() {
			x.impossible("%d URLs leave queue %d, which holds %d", n, p, q.len())
			return
		}
		for range n {
			x.store.Delete(x.keys.queue(p, q.head))
			q.head++
			x.g.queued--
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		x.leaveGroup(name, f.groups[name])
	}
	if f.retries > 0 {
		x.takeRetries(f.retries)
	}
}

func (x *fold) takeRetries(n uint64) {
	if n > x.d.retries.count {
		x.impossible("%d URLs leave the retries, which hold %d", n, x.d.retries.count)
		return
	}
	var gone [][]byte
	var head int64
	for key := range kv.Range(x.store, x.keys.retry(x.d.retries.headMS, 0), x.keys.retriesEnd()) {
		if uint64(len(gone)) == n {
			head = x.keys.retryMS(key)
			break
		}
		gone = append(gone, bytes.Clone(key))
	}
	if uint64(len(gone)) < n {
		x.impossible("%d URLs leave the retries, of which %d were found", n, len(gone))
	}
	for _, key := range gone {
		x.store.Delete(key)
	}
	x.d.retries.count -= n
	x.g.queued -= int64(n)
	x.d.retries.headMS = head
}

func (x *fold) admit(q *weftpb.Request) {
	switch {
	case q.GetTarget().GetUrl() == "" || q.Priority >= priorities:
		x.impossible("admission of %q with priority %d", q.GetTarget().GetUrl(), q.GetPriority())
	case isReferral(q):
		x.retry(q, x.nowMS)
	case q.Target.Group != "":
		x.joinGroup(q)
	default:
		queue := &x.d.queues[q.Priority]
		x.store.Set(x.keys.queue(int(q.Priority), queue.tail), encodeRequest(q))
		queue.tail++
		x.g.queued++
	}
}

// retry puts a URL among the retries, referrals in front of all.
func (x *fold) retry(q *weftpb.Request, atMS int64) {
	if isReferral(q) {
		atMS = referralMS
	}
	r := &x.d.retries
	x.store.Set(x.keys.retry(atMS, r.seq), encodeRequest(q))
	if r.count == 0 || atMS < r.headMS {
		r.headMS = atMS
	}
	r.seq++
	r.count++
	x.g.queued++
}
