package transfer

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// history translates the events of scheduled. Facts about a domain do not change. Facts
// about a partition are computed again: the gauges, which are sums over domains, the offset
// of the oldest release, and the ids of visits, which are made of partition and offset.
//
// It keeps only the visits that are out, whatever the length of the ledger.
type history struct {
	// said are the gauges of the last event of each old partition.
	said  map[int32]*weftpb.Gauges
	parts []part // by new partition
	// out are the visits that are out, by the id that they had.
	out map[string]*visit
}

// part is one new partition of scheduled.
type part struct {
	gauges weftpb.Gauges
	// released are visits in the order of their release. A visit that has ended leaves
	// when it is the first.
	released []*visit
	// visits and requests are the numbers that are out, counted event by event.
	visits, requests int64
	// decidedMS is the latest time of a decision.
	decidedMS int64
}

// visit is a visit that is or was out.
type visit struct {
	id     string // its new one
	offset int64
	open   int // requests without an outcome
}

func newHistory(partitions int32) *history {
	return &history{said: map[int32]*weftpb.Gauges{}, parts: make([]part, partitions), out: map[string]*visit{}}
}

// oldest is the offset of the oldest release that is out; none if there is none.
func (p *part) oldest(none int64) int64 {
	for len(p.released) > 0 && p.released[0].open == 0 {
		p.released[0] = nil
		p.released = p.released[1:]
	}
	if len(p.released) == 0 {
		return none
	}
	return p.released[0].offset
}

// translate changes ev, an event about a domain in partition old, to the event at offset of
// partition. The error wraps ledger.ErrCorrupt if ev cannot follow the events that were
// translated before.
func (h *history) translate(ev *weftpb.Scheduled, old, partition int32, offset int64) error {
	p := &h.parts[partition]
	ev.Oldest = p.oldest(offset)
	p.decidedMS = max(p.decidedMS, ev.DecidedMs)
	for i, id := range ev.Expired {
		v, err := h.find(id)
		if err != nil {
			return err
		}
		ev.Expired[i] = v.id
		h.settle(p, id, v, v.open)
	}
	for _, r := range ev.Renewed {
		v, err := h.find(r.Visit)
		if err != nil {
			return err
		}
		r.Visit = v.id
	}
	for _, s := range ev.Settled {
		if s.Visit == "" {
			continue // from a queue
		}
		v, err := h.find(s.Visit)
		if err != nil {
			return err
		}
		h.settle(p, s.Visit, v, 1)
		s.Visit = v.id
	}
	for i, r := range ev.Released {
		v := &visit{id: frontier.VisitID(partition, offset, uint32(i)), offset: offset, open: len(r.Requests)}
		h.out[r.Id] = v
		p.released = append(p.released, v)
		p.visits++
		p.requests += int64(v.open)
		r.Id = v.id
	}
	h.count(ev, old, p)
	if g := &p.gauges; g.Visits != p.visits || g.Out != p.requests || g.Pending != g.Queued+g.Out || g.Queued < 0 {
		return fmt.Errorf("%w: its gauges do not follow from the events before it", ledger.ErrCorrupt)
	}
	return nil
}

func (h *history) find(id string) (*visit, error) {
	v := h.out[id]
	if v == nil {
		return nil, fmt.Errorf("%w: visit %s is not out", ledger.ErrCorrupt, id)
	}
	return v, nil
}

func (h *history) settle(p *part, id string, v *visit, requests int) {
	v.open -= requests
	p.requests -= int64(requests)
	if v.open == 0 {
		p.visits--
		delete(h.out, id)
	}
}

// count adds the change of the old partition's gauges to the gauges of the new one, and
// puts these into the event.
func (h *history) count(ev *weftpb.Scheduled, old int32, p *part) {
	status.AddGauges(&p.gauges, ev.Gauges, 1)
	status.AddGauges(&p.gauges, h.said[old], -1)
	h.said[old] = ev.Gauges
	ev.Gauges = proto.CloneOf(&p.gauges)
}

// report is the event at offset with the gauges of a partition.
func (h *history) report(partition int32, offset int64) *weftpb.Scheduled {
	p := &h.parts[partition]
	return &weftpb.Scheduled{Gauges: proto.CloneOf(&p.gauges), Oldest: p.oldest(offset), DecidedMs: p.decidedMS}
}
