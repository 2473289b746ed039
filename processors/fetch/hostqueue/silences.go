package hostqueue

import (
	"container/heap"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
)

// Memory is what queues of all domains remember of hosts after they are over. The zero value
// is empty. A Memory is not safe for concurrent use.
type Memory struct {
	silences Silences
	// referrals has the hosts whose robots.txt redirects to another domain, until
	// politeness.MaxCrawlDelay after that answer. The Crawl-delay is known later: it is in the
	// delay of the next visit, and runs from the end of the answer, too.
	referrals Silences
}

// notBefore is the earliest start of a request of v to a host, the zero time if any is.
func (m *Memory) notBefore(host string, v *Visit) time.Time {
	if m == nil || m.referrals.byHost[host] == nil {
		return time.Time{}
	}
	return m.referrals.byHost[host].until.Add(min(v.delay(), politeness.MaxCrawlDelay) - politeness.MaxCrawlDelay)
}

// Silences remembers hosts that asked for no request (Retry-After), until the end of the time
// that they named. It holds at most maxSilences hosts. If there are more, it forgets the host
// whose time ends first. This does little harm: the scheduler releases no visit to that host
// meanwhile, so only requests in visits that were released before may be made too soon. The zero
// value is empty. Silences are not safe for concurrent use.
type Silences struct {
	byHost map[string]*silence
	byEnd  byEnd
}

// maxSilences hosts take about 10 MB.
const maxSilences = 1 << 16

type silence struct {
	host  string
	until time.Time
	at    int // its place in byEnd
}

// add remembers that a host is not asked before until. It forgets hosts whose time is over.
func (s *Silences) add(host string, until, now time.Time) {
	for len(s.byEnd) > 0 && !s.byEnd[0].until.After(now) {
		s.forgetFirst()
	}
	if known := s.byHost[host]; known != nil {
		known.until = later(known.until, until)
		heap.Fix(&s.byEnd, known.at)
		return
	}
	if s.byHost == nil {
		s.byHost = map[string]*silence{}
	}
	s.byHost[host] = &silence{host: host, until: until}
	heap.Push(&s.byEnd, s.byHost[host])
	if len(s.byEnd) > maxSilences {
		s.forgetFirst()
	}
}

func (s *Silences) forgetFirst() {
	delete(s.byHost, heap.Pop(&s.byEnd).(*silence).host)
}

// silent tells whether a host must not be asked.
func (s *Silences) silent(host string, now time.Time) bool { return !s.until(host, now).IsZero() }

// until is the time before which a host must not be asked, the zero time if it may be.
func (s *Silences) until(host string, now time.Time) (end time.Time) {
	if known := s.byHost[host]; known != nil && known.until.After(now) {
		end = known.until
	}
	return end
}

// byEnd is a heap: the first one ends first.
type byEnd []*silence

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].until.Before(h[j].until) }

func (h byEnd) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *byEnd) Push(x any) {
	added := x.(*silence)
	added.at = len(*h)
	*h = append(*h, added)
}

// Pop implements heap.Interface.
func (h *byEnd) Pop() any {
	last := len(*h) - 1
	popped := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return popped
}
