package frontier

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Gauges returns the gauges of the partition.
func (f *Frontier) Gauges() (*weftpb.Gauges, error) {
	g, err := readGauges(f.store)
	return g.record(), err
}

// Outcomes returns the number of URLs that were settled with each reason, and the number of URLs
// that are withdrawn.
func (f *Frontier) Outcomes() map[string]int64 {
	counts := map[string]int64{}
	for key, value := range kv.Range(f.store, []byte{countKey}, []byte{countKey + 1}) {
		n, _ := binary.Uvarint(value)
		counts[string(key[1:])] = int64(n)
	}
	if g, err := readGauges(f.store); err == nil && g.withdrawn > 0 {
		counts[ReasonWithdrawn] = g.withdrawn
	}
	return counts
}

// Oldest returns the offset of the oldest release that is not settled, -1 when
// there is none.
func (f *Frontier) Oldest() int64 { return f.oldest(-1) }

// oldest returns the offset of the oldest unsettled release, or none.
func (f *Frontier) oldest(none int64) int64 {
	if first := f.releases.first(f.store); first != noEntry {
		return int64(first)
	}
	return none
}

// State is the state of a domain: exactly one of the constants.
type State string

const (
	// Empty says that nothing is queued and nothing is out.
	Empty State = "empty"
	// Out says that a visit is out under a lease.
	Out State = "out"
	// Due says that the domain is in a back queue, with a time.
	Due State = "due"
)

// DomainState is a domain for people to look at.
type DomainState struct {
	State State
	// Queued URLs by priority, and those that wait for another attempt.
	Queued  [priorities]uint64
	Retries uint64
	// Grouped is the number of URLs that wait in groups, Withdrawn of those that are
	// withdrawn and not pending.
	Grouped, Withdrawn uint64
	// Visits that are out, by id, oldest first, and their unsettled requests.
	Visits []string
	Out    int64
	// Origins known.
	Origins uint64
	// Waiting is the number of origins that wait for a time. The first wait ends at WaitAt.
	Waiting uint64
	WaitAt  time.Time
	// DueAt is when the domain is due, NextAt the time of the earliest release, LeaseAt the
	// end of the first lease, and RetryAt the time of the first retry. Each is zero if it
	// does not apply.
	DueAt, NextAt, LeaseAt, RetryAt time.Time
	// Response is the time of the last response.
	Response time.Duration
	// Setting is the setting of the domain, nil if it has no setting.
	Setting *weftpb.DomainSetting
	// Crowded: the domain rests until NextAt, because the budget of its address is used up.
	Crowded bool
	// BlockedUntil is the end of an automatic block; zero: the domain has no such block.
	BlockedUntil time.Time
	// Known is the number of the domain's URLs that were ever admitted.
	Known uint64
	// Asked is the number of requests that began on the day AskedOn (UTC).
	Asked   uint64
	AskedOn time.Time
}

// DomainState returns the state of a domain.
func (f *Frontier) DomainState(name string) (DomainState, error) {
	x, err := openFold(f.store, f.opts.Partition, name, 0, 0)
	if err != nil {
		return DomainState{}, err
	}
	d := x.d
	s := DomainState{
		State: Empty, Origins: uint64(d.origins), Waiting: d.waiting, WaitAt: moment(d.waitMS),
		DueAt: moment(d.dueMS), NextAt: moment(d.nextMS), LeaseAt: moment(d.leaseMS),
		Response: milliseconds(d.responseMS),
		Grouped:  d.groups.waiting(), Withdrawn: d.groups.counts[withdrawn],
		Crowded: d.crowded, Setting: d.setting.record(), BlockedUntil: moment(d.day.blockMS),
		Known: d.known, Asked: d.day.requests, AskedOn: moment(d.day.number * dayMS).UTC(),
	}
	for _, value := range kv.Range(f.store, x.keys.origin(""), x.keys.make(originKind+1, 0)) {
		o, err := decodeOrigin(value)
		if err != nil {
			return s, fmt.Errorf("read an origin of %s: %w", name, err)
		}
		for p, q := range o.queues {
			s.Queued[p] += q.len()
		}
		s.Retries += o.retries.count
		if at := moment(o.retries.headMS); o.retries.count > 0 && (s.RetryAt.IsZero() || at.Before(s.RetryAt)) {
			s.RetryAt = at
		}
	}
	for _, v := range d.visits {
		s.Visits = append(s.Visits, VisitID(f.opts.Partition, v.offset, v.index))
		s.Out += v.unsettled()
	}
	switch out, hanging := d.out(); {
	case out > 0:
		s.State = Out
	case d.queued() > 0:
		s.State = Due
	case hanging > 0:
		s.State = Out
	}
	return s, nil
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
