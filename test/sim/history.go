package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// history is what the topics say about the crawl, read from their beginning.
type history struct {
	urls     map[string]*fate
	admitted map[string]int // how many URLs of each domain, without seeds
	// groups are the states of groups of variants as schedule knows them. written are
	// the states that dedupe has written.
	groups, written map[string]weftpb.Group_State
	expired         []string // visits that ran out of their lease
}

// fate is what became of one URL.
type fate struct {
	// In deduped: how often the URL was admitted and parked, the URLs that it was
	// merged into, the variant for which it waits in a group, and its depth.
	admitted, parked int
	mergedInto       []string
	variant          string
	depth            int
	// In scheduled: how often the URL was queued, the group in which it waits, how
	// often it was asked for (as a robots.txt, too), how many of these were attempts, and
	// its outcomes.
	queued   int
	group    string
	tried    int
	attempts int
	outcomes []string
	ended    time.Duration // when the last of them was decided
	// In parsed.
	parsed bool
}

func (h *history) of(url string) *fate {
	if h.urls[url] == nil {
		h.urls[url] = &fate{}
	}
	return h.urls[url]
}

func (h *history) withdrawn(url string) bool {
	group := h.of(url).group
	return group != "" && h.groups[group] == weftpb.Group_STATE_WITHDRAWN
}

func (w *world) readHistory() (*history, error) {
	h := &history{
		urls: map[string]*fate{}, admitted: map[string]int{},
		groups: map[string]weftpb.Group_State{}, written: map[string]weftpb.Group_State{},
	}
	for p := range w.partitions {
		err := w.events(w.names.Deduped, p, func(body []byte) error {
			var d weftpb.Deduped
			err := proto.Unmarshal(body, &d)
			w.readDeduped(h, &d)
			return err
		})
		if err != nil {
			return nil, err
		}
		visits := map[string]*weftpb.Visit{}
		err = w.events(w.names.Scheduled, p, func(body []byte) error {
			var s weftpb.Scheduled
			if err := proto.Unmarshal(body, &s); err != nil {
				return err
			}
			return h.readScheduled(&s, visits)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range w.cluster.log(w.names.Parsed, p).records {
			h.of(string(r.key)).parsed = true
		}
	}
	return h, nil
}

func (w *world) readDeduped(h *history, d *weftpb.Deduped) {
	for _, trap := range d.Parked {
		for _, t := range trap.Targets {
			h.of(t.Url).parked++
		}
	}
	for _, t := range d.Targets {
		u := h.of(t.Url)
		u.admitted++
		u.depth = int(t.Depth)
		comesBack := len(u.mergedInto) > 0 // whatever the limit
		if p := w.web.pages[t.Url]; p != nil && t.Via != weftpb.Via_VIA_SEED && !comesBack {
			h.admitted[p.origin.site.domain]++
		}
		if t.Group != "" {
			u.variant = t.Twin
		}
	}
	for _, g := range d.Groups {
		h.written[g.Name] = g.State
	}
	for _, m := range d.Merged {
		u := h.of(m.Target.Url)
		u.mergedInto = append(u.mergedInto, m.Kept)
	}
}

func (h *history) readScheduled(s *weftpb.Scheduled, visits map[string]*weftpb.Visit) error {
	h.readGroups(s)
	for _, a := range s.Admitted {
		if a.Request.Target.Via != weftpb.Via_VIA_ROBOTS {
			h.of(a.Request.Target.Url).queued++
		}
	}
	for _, done := range s.Settled {
		url := done.Url
		if done.Visit != "" {
			v := visits[done.Visit]
			if v == nil {
				return fmt.Errorf("an outcome of visit %s, which was not released", done.Visit)
			}
			url = v.Requests[done.Index].Target.Url
			if done.Attempt != nil {
				h.of(url).tried++
				if !v.Check && !done.Throttled && !done.Kept {
					h.of(url).attempts++
				}
			}
			if done.RetryMs != 0 || v.Robots {
				continue
			}
		}
		if done.Reason != frontier.ReasonRobots && done.Reason != frontier.ReasonCheck {
			h.of(url).outcomes = append(h.of(url).outcomes, done.Reason)
			h.of(url).ended = time.UnixMilli(s.DecidedMs).Sub(epoch)
		}
	}
	for _, v := range s.Released {
		visits[v.Id] = v
	}
	h.expired = append(h.expired, s.Expired...)
	return nil
}

// readGroups reads which URLs wait in a group. A URL leaves its group when it is
// recalled, settled, deferred or released.
func (h *history) readGroups(s *weftpb.Scheduled) {
	for _, g := range s.Groups {
		h.groups[g.Name] = g.State
	}
	for _, admitted := range s.Admitted {
		if t := admitted.Request.Target; t.Group != "" {
			h.of(t.Url).group = t.Group
		}
	}
	for _, r := range s.Recalled {
		h.of(r.Url).group = ""
	}
	for _, done := range s.Settled {
		h.of(done.Url).group = ""
	}
	for _, d := range s.Deferred {
		h.of(d.Request.Target.Url).group = ""
	}
	for _, v := range s.Released {
		for _, q := range v.Requests {
			h.of(q.Target.Url).group = ""
		}
	}
}

// events calls visit with the bodies of the valid events of a ledger.
func (w *world) events(topic string, partition int32, visit func(body []byte) error) error {
	var reader ledger.EventReader
	l := w.cluster.log(topic, partition)
	for _, r := range l.read(0, int(l.highWatermark)) {
		ev, err := reader.Read(w.bugs.reread(r), topic, partition, r.offset)
		if err == nil && ev != nil && len(ev.Body) > 0 {
			err = visit(ev.Body)
		}
		if err != nil {
			return fmt.Errorf("%v at %d: %w", l.topicPartition, r.offset, err)
		}
	}
	return nil
}

// keys are the keys of a map in order, so that runs are the same.
func keys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
