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

// Frontier decides for one partition. All its state is in the store; it has only caches besides.
// If something else writes to the store, a new Frontier must be made. A Frontier is not safe for
// concurrent use.
type Frontier struct {
	opts  Options
	store kv.Store

	// due are the back queues, one for each priority. Each domain that is due has an entry in the
	// back queue of the highest priority of its URLs. turn says which priority Due serves next.
	// It is not a part of the state, because it changes only the order in which domains are
	// decided.
	due  [priorities]index
	turn uint32
	// leases has one entry for every domain that is out.
	leases index
	// releases has one entry for every visit that is out.
	releases index
	// refreshes has one entry for every URL that is settled and comes back later.
	refreshes index
	// latest is the latest time with which Due was called, in milliseconds.
	latest int64
	// sleeping are the domains that are still to be woken after wokenAt; see asleep.
	sleeping []string
	wokenAt  time.Time
	// changedSettings are the domains whose settings may have changed; see SettingsChanged.
	changedSettings []string

	rules   *cache[cachedRules]
	overlay overlay
}

// Moment has what a decision knows besides the state and the input.
type Moment struct {
	// Now is the wall clock.
	Now time.Time
	// Offset is the offset that the event will have in the ledger. The ids of visits are made of
	// it.
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
	// WokenAt is the end of the last period in which no process decided. Hosts that are down are
	// then asked again. The zero time: there was no such period.
	WokenAt time.Time
	// Begins is the first offset of the ledger. No process can make a visit that
	// was released before it: the log was damaged there, and repaired. The lease
	// of such a visit is over.
	Begins int64
}

// New returns the frontier of the partition whose state is in store. It reads nothing: state is
// read when it is needed. opts must be valid.
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

// Apply folds the event at offset about domain. An empty domain means a Report. Apply is
// deterministic, and of Options it uses only the partition. An error says that the event cannot
// belong to this history (ErrImpossible), or that the store is damaged. The state is then
// undefined.
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

// save writes what a fold has kept in memory.
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

// move moves a domain's entry in an index from the time in at to the time to. 0: there is no
// entry.
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

// absurd tells whether a time is further ahead than any wait of politeness. Then the clock was
// set back after the time was written. An absurd time in an index counts as over. An absurd time
// that protects a server is cut to the longest wait.
func absurd(ms, nowMS int64) bool { return ms > nowMS+politeness.MaxWait.Milliseconds() }
