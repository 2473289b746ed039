package sim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// published looks at a checkpoint that was just published: now and then it is
// compared with the fold of the ledger, and what it holds is counted again.
func (w *world) published(stage topics.Stage, at place, c *saved) {
	w.busy = w.now
	if !w.chance(3) {
		return
	}
	w.sameFold(at.topic, at.partition, c.folded.Offset, c.store)
	if stage == topics.Schedule {
		w.recount(at, c.store)
	}
}

// compare compares the state of the partition's owner, if there is one and
// nothing of it is on the way, with the fold of the ledger.
func (w *world) compare(topic string, partition int32) {
	for _, p := range w.procs {
		for _, name := range []topics.Stage{topics.Dedupe, topics.Schedule} {
			o, ok := p.stages[name].(*owner)
			if !ok || o.def.Ledger() != topic {
				continue
			}
			t := o.tables[partition]
			if t == nil || !t.live || t.closing || t.out.open > 0 || t.core.Folded().Offset != t.ledger().seen-1 {
				continue
			}
			w.sameFold(topic, partition, t.core.Folded().Offset, t.store)
			if name == topics.Schedule {
				w.recount(t.ledger().place, t.store)
			}
		}
	}
}

// sameFold folds a ledger from nothing up to an offset and compares the state
// with one that is said to be the same.
func (w *world) sameFold(topic string, partition int32, offset int64, have *memstore.Store) {
	l := w.cluster.log(topic, partition)
	if offset >= l.seen {
		w.violate("fold", "%v is folded to %d and ends at %d", l.place, offset, l.seen)
		return
	}
	name := topics.Schedule
	if topic == w.names.Deduped {
		name = topics.Dedupe
	}
	want := &memstore.Store{}
	p, err := ledger.NewPartition(w.define(w.procs[0], name), partition, want, ledger.Nothing(), ledger.PartitionOptions{})
	if err == nil {
		for _, r := range l.read(0, int(offset)+1) {
			if err = p.Fold(string(r.key), w.bugs.reread(r), r.offset); err != nil {
				break
			}
		}
	}
	if err != nil {
		w.violate("ledger", "fold of %v: %v", l.place, err)
		return
	}
	if key, same := want.Equal(have); !same {
		w.violate("fold", "%v at %d: key %q differs from the fold of the ledger", l.place, offset, key)
	}
}

// recount counts what a frontier holds, URL by URL, and compares it with its
// gauges; every domain must be in exactly one state, and every URL in one
// place.
func (w *world) recount(at place, store *memstore.Store) {
	f := w.frontier(at.partition, store)
	report, err := f.Report(frontier.Moment{Now: epoch})
	have := &weftpb.Gauges{}
	held := map[string]int{}
	f.Domains(func(name string) bool {
		var s frontier.DomainState
		if s, err = f.DomainState(name); err != nil {
			return false
		}
		if problem := oneState(s); problem != "" {
			w.violate("state", "%s: %s", name, problem)
		}
		var out []frontier.VisitOut
		if out, err = f.Visits(name); err != nil {
			return false
		}
		for _, v := range out {
			have.Visits++
			have.Out += int64(v.Unsettled())
			for i, open := range v.Open {
				if open && !v.Robots && v.Requests[i].Target.Via != weftpb.Via_VIA_ROBOTS {
					held[v.Requests[i].Target.Url]++
				}
			}
		}
		err = f.Queued(name, func(_ frontier.Place, r *weftpb.Request) bool {
			have.Queued++
			if r.Target.Via != weftpb.Via_VIA_ROBOTS {
				held[r.Target.Url]++
			}
			return true
		})
		if err != nil {
			return false
		}
		err = f.Withdrawn(name, func(_ frontier.Place, r *weftpb.Request) bool {
			have.Withdrawn++
			held[r.Target.Url]++
			return true
		})
		if s.State != frontier.Empty {
			have.Domains++
		}
		if s.State == frontier.Out {
			have.DomainsOut++
		}
		return err == nil
	})
	if err != nil {
		w.violate("state", "%v: %v", at, err)
		return
	}
	g := report.Gauges
	want := fmt.Sprint(g.Queued, g.Out, g.Visits, g.Domains, g.DomainsOut, g.Withdrawn, g.Pending)
	if got := fmt.Sprint(have.Queued, have.Out, have.Visits, have.Domains, have.DomainsOut, have.Withdrawn, have.Queued+have.Out); got != want {
		w.violate("gauges", "%v: counted %s, the gauges say %s", at, got, want)
	}
	for _, url := range keys(held) {
		if held[url] > 1 && !w.lossy { // dedupe may have lost that it had it
			w.violate("state", "%s is in %d places", url, held[url])
		}
	}
}

// oneState says what is wrong with a domain's state, if anything.
func oneState(s frontier.DomainState) string {
	queued := s.Retries + s.Aside
	for _, n := range s.Queued {
		queued += n
	}
	switch {
	case len(s.Visits) > 0 && (s.State != frontier.Out || s.LeaseAt.IsZero()):
		return "visits are out without a lease"
	case len(s.Visits) == 0 && queued > 0 && (s.State != frontier.Due || s.DueAt.IsZero()):
		return "URLs are queued and nothing is due"
	case len(s.Visits) == 0 && queued == 0 && (s.State != frontier.Empty || !s.DueAt.IsZero()):
		return "nothing is pending and something is due"
	}
	return ""
}

// keys are the keys of a map in order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
