package frontier

import (
	"maps"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Folding what enters and leaves the queues and the retries of a domain.

// fronts counts how many URLs leave which front.
type fronts struct {
	queues  [priorities]uint64
	retries uint64
	groups  map[string]uint64
	bad     bool
}

func (f *fronts) countRequest(q *weftpb.Request) {
	f.count(q.GetPriority(), q.GetAgain(), q.GetTarget().GetGroup())
}

func (f *fronts) count(priority uint32, again bool, group string) {
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
		f.bad = true
	}
}

// take removes URLs from the fronts.
func (x *fold) take(f fronts) error {
	if f.bad {
		return impossible("a URL leaves a queue that does not exist")
	}
	for p, n := range f.queues {
		q := &x.d.queues[p]
		if n > q.len() {
			return impossible("%d URLs leave queue %d, which holds %d", n, p, q.len())
		}
		for range n {
			x.store.Delete(x.keys.queue(p, q.head))
			q.head++
			x.g.queued--
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		if err := x.takeAside(name, f.groups[name]); err != nil {
			return err
		}
	}
	if f.retries > x.d.retries.count {
		return impossible("%d URLs leave the retries, which hold %d", f.retries, x.d.retries.count)
	}
	if f.retries == 0 {
		return nil
	}
	var gone [][]byte
	var head int64
	x.store.Scan(x.keys.retry(x.d.retries.headMS, 0), x.keys.retriesEnd(), func(key, _ []byte) bool {
		if uint64(len(gone)) == f.retries {
			head = x.keys.retryMS(key)
			return false
		}
		gone = append(gone, append([]byte(nil), key...))
		return true
	})
	if uint64(len(gone)) < f.retries {
		return impossible("%d URLs leave the retries, of which %d were found", f.retries, len(gone))
	}
	for _, key := range gone {
		x.store.Delete(key)
	}
	x.d.retries.count -= f.retries
	x.g.queued -= int64(f.retries)
	x.d.retries.headMS = head
	return nil
}

func (x *fold) admit(q *weftpb.Request) error {
	if q.GetTarget().GetUrl() == "" || q.Priority >= priorities {
		return impossible("admission of %q with priority %d", q.GetTarget().GetUrl(), q.GetPriority())
	}
	if isReferral(q) {
		x.retry(q, x.nowMS)
		return nil
	}
	if q.Target.Group != "" {
		return x.putAside(q)
	}
	queue := &x.d.queues[q.Priority]
	x.store.Set(x.keys.queue(int(q.Priority), queue.tail), encodeRequest(q))
	queue.tail++
	x.g.queued++
	return nil
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
