package frontier

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

// Frontier decides for one partition. All its state is in the store, except for caches:
// if anything else writes to the store, the Frontier must be made anew. It is not safe
// for concurrent use.
type Frontier struct {
	opts  Options
	store kv.Store

	// due are the back queues, one for each priority: one entry for every domain that
	// is due, in that of the highest priority of its URLs. turn is the place in the round
	// of the priorities of Due; it is not state, as it says only who is asked first.
	due  [priorities]index
	turn uint32
	// leases has one entry for every domain that is out.
	leases index
	// releases has one entry for every visit that is out.
	releases index
	// refreshes has one entry for every URL that is settled and comes back.
	refreshes index
	// latest is the latest time that Due was asked with, milliseconds.
	latest int64
	// sleeping are the domains that are still to be woken after wokenAt; see asleep.
	sleeping []string
	wokenAt  time.Time
	// asked are domains whose settings may have changed; see Ask.
	asked []string

	rules   *cache[cachedRules]
	overlay overlay
}

// Moment is what a decision knows besides state and input.
type Moment struct {
	// Now is the wall clock.
	Now time.Time
	// Offset is the ledger offset that the decided event will have; visits
	// are named after it.
	Offset int64
	// Paused: no visit may be released, because fetch or the crawl is paused, or
	// the disk is nearly full.
	Paused bool
	// OwnedSince is the start of the period in which this process has owned the
	// partition without interruption; a clock that leaps interrupts it. A lease
	// that was given before it and is over begins anew, because the fetcher of the
	// visit, or the next one, still has to report what it fetched. The zero time:
	// no lease begins anew.
	OwnedSince time.Time
	// Known is the number of URLs of the crawl, in all partitions; 0: it is not known yet.
	Known int64
	// WokenAt is the end of the last time in which nobody decided: hosts that are down
	// are asked again. The zero time: there was none.
	WokenAt time.Time
	// Begins is the first offset of the ledger. No process can make a visit that
	// was released before it: the log was damaged there, and repaired. The lease
	// of such a visit is over.
	Begins int64
}

// New returns the frontier of the partition whose state store holds. It costs
// nothing: state is read when it is needed. opts must be valid.
func New(opts Options, store kv.Store) *Frontier {
	return &Frontier{
		opts:     opts,
		store:    store,
		due:      backQueues(),
		leases:   index{prefix: leaseKey},
		releases: index{prefix: releaseKey},

		refreshes: index{prefix: refreshKey},
		rules:     newCache[cachedRules](rulesCacheBytes),
	}
}

// Apply folds the event at offset about domain; an empty domain means a Report.
// It is deterministic and does not depend on Options but for the partition.
// An error says that the event cannot be one of this history (ErrImpossible)
// or that the store is damaged; the state is then undefined.
func (f *Frontier) Apply(domain string, ev *weftpb.Scheduled, offset int64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("apply event %d of domain %q: %w", offset, domain, err)
		}
	}()
	if domain == "" {
		g, err := readGauges(f.store)
		if err == nil && !g.matches(ev.Gauges) {
			err = impossible("gauges are %v, the event says %v", g.record(), ev.Gauges)
		}
		return err
	}
	if ev.Timing == nil {
		return impossible("no timing")
	}
	x, err := openFold(f.store, f.opts.Partition, domain, offset, ev.DecidedMs)
	if err != nil {
		return err
	}
	x.arrive(ev)
	x.block(ev.Block)
	x.pullAll(ev)
	x.leave(ev)
	if x.err != nil {
		return x.err
	}
	x.d.setTiming(ev.Timing)
	x.count()
	if !f.opts.SomeDomains && !x.g.matches(ev.Gauges) {
		return impossible("gauges are %v, the event says %v", x.g.record(), ev.Gauges)
	}
	if err := x.checkState(ev.Timing.DueMs); err != nil {
		return err
	}
	f.save(&x, domain, ev.Timing.DueMs)
	return nil
}

// save writes what a fold kept to itself.
func (f *Frontier) save(x *fold, domain string, dueMS int64) {
	name := []byte(domain)
	if in := x.d.backQueue(); in != x.d.dueIn {
		f.move(&f.due[x.d.dueIn], name, &x.d.dueMS, 0)
		x.d.dueIn = in
	}
	f.move(&f.due[x.d.dueIn], name, &x.d.dueMS, dueMS)
	f.move(&f.leases, name, &x.d.leaseMS, x.d.firstLease())
	for _, v := range x.ended {
		f.releases.remove(f.store, uint64(v.offset), append([]byte{byte(v.index)}, name...)...)
	}
	for _, v := range x.began {
		f.releases.set(f.store, uint64(v.offset), append([]byte{byte(v.index)}, name...)...)
	}
	for _, r := range x.putBack {
		f.refreshes.remove(f.store, uint64(r.DueMs), refreshSuffix(domain, r.Request)...)
	}
	for _, r := range x.toComeBack {
		f.refreshes.set(f.store, uint64(r.DueMs), refreshSuffix(domain, r.Request)...)
	}
	for _, reason := range slices.Sorted(maps.Keys(x.reasons)) {
		key := append([]byte{countKey}, reason...)
		n, _ := binary.Uvarint(f.store.Get(key))
		f.store.Set(key, binary.AppendUvarint(nil, n+x.reasons[reason]))
	}
	x.saveOrigins()
	f.store.Set(x.keys.record(), x.d.encode())
	x.g.decidedMS = max(x.g.decidedMS, x.nowMS)
	f.store.Set([]byte{gaugesKey}, x.g.encode())
}

// move changes a domain's entry of an index, kept in at, to the time to.
func (f *Frontier) move(x *index, domain []byte, at *int64, to int64) {
	if *at == to {
		return
	}
	if *at != 0 {
		x.remove(f.store, uint64(*at), domain...)
	}
	if to != 0 {
		x.set(f.store, uint64(to), domain...)
	}
	*at = to
}

// Decided returns the latest time at which a folded event was decided, the zero time if
// there is none. All times in the state were computed from such times. A Moment that is
// much earlier makes domains wait.
func (f *Frontier) Decided() time.Time {
	g, err := readGauges(f.store)
	if err != nil || g.decidedMS == 0 {
		return time.Time{} // the decision that follows reports the error
	}
	return time.UnixMilli(g.decidedMS)
}

// absurd tells whether a time is further ahead than any wait of politeness,
// because the clock was set back after it had been written. A time in an index
// is looked at then; a time that protects a server is cut to the longest wait.
func absurd(ms, nowMS int64) bool { return ms > nowMS+politeness.MaxWait.Milliseconds() }
