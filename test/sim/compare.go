package sim

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// published is called with each checkpoint that is published. It checks some of them. Each check
// folds the whole ledger, so the longer the ledger is, the fewer checks there are.
func (w *world) published(stage topics.Stage, at topicPartition, c *checkpoint) {
	w.lastActivity = w.now
	if w.chance(3 + int(c.folded.Offset/100)) {
		w.checkState(stage, at, c.folded.Offset, c.store)
	}
}

// checkStates checks the state of each partition whose owner has no unacknowledged event.
func (w *world) checkStates() {
	for _, p := range w.procs {
		for _, name := range topics.StagesOf(topics.Ledger) {
			o, ok := p.shells[name].(*ledgerStage)
			if !ok {
				continue
			}
			for _, partition := range keys(o.tables) {
				t := o.tables[partition]
				if t.live && !t.closing && t.out.open == 0 && t.core.Folded().Offset == t.ledger().highWatermark-1 {
					w.checkState(name, t.ledger().topicPartition, t.core.Folded().Offset, t.store)
				}
			}
		}
	}
}

// checkState folds a ledger from its beginning up to an offset, and compares the state
// with have. It recounts what a frontier holds.
func (w *world) checkState(stage topics.Stage, at topicPartition, offset int64, have *memstore.Store) {
	l := w.cluster.logs[at]
	if offset >= l.highWatermark {
		w.violate("fold", "%v is folded to %d and ends at %d", at, offset, l.highWatermark)
		return
	}
	o, err := w.oracle(stage, l, offset)
	if err == nil {
		err = o.fold(w, l, offset)
	}
	if err != nil {
		delete(w.oracles, at)
		w.violate("ledger", "fold of %v: %v", at, err)
		return
	}
	if key, same := o.store.Equal(have); !same {
		w.violate("fold", "%v at %d: key %q differs from the fold of the ledger", at, offset, key)
	}
	if stage == topics.Schedule {
		w.recount(at, have)
	}
}

// oracle is the fold of a ledger from its beginning, by a partition that knows nothing else.
// It goes on from check to check.
type oracle struct {
	store *memstore.Store
	core  *ledger.Partition
	next  int64
	cuts  int // of the log, when it was begun
}

// oracle returns a fold that is not past an offset. If it may have folded records which the ledger
// has lost since then, it is made anew.
func (w *world) oracle(stage topics.Stage, l *log, offset int64) (*oracle, error) {
	if o := w.oracles[l.topicPartition]; o != nil && o.cuts == l.cuts && o.next <= offset+1 {
		return o, nil
	}
	o := &oracle{store: &memstore.Store{}, cuts: l.cuts}
	var err error
	o.core, err = ledger.NewPartition(w.define(w.procs[0], stage), l.partition, o.store, ledger.Nothing(), ledger.PartitionOptions{})
	w.oracles[l.topicPartition] = o
	return o, err
}

func (o *oracle) fold(w *world, l *log, offset int64) error {
	for _, r := range l.read(o.next, int(offset+1-o.next)) {
		if err := o.core.Fold(string(r.key), w.bugs.reread(r), r.offset); err != nil {
			return err
		}
	}
	o.next = offset + 1
	return nil
}

// recount counts what a frontier holds, URL by URL, and compares that with its
// gauges. Every domain must be in exactly one state, and every URL in one place.
func (w *world) recount(at topicPartition, store *memstore.Store) {
	f := w.frontier(at.partition, store)
	report, err := f.Report(frontier.Moment{Now: epoch})
	have := &weftpb.Gauges{}
	held := map[string]int{}
	hold := func(r *weftpb.Request) {
		if r.Target.Via != weftpb.Via_VIA_ROBOTS {
			held[r.Target.Url]++
		}
	}
	f.Domains(func(name string) bool {
		s, errState := f.DomainState(name)
		if problem := oneState(s); problem != "" && errState == nil {
			w.violate("state", "%s: %s", name, problem)
		}
		out, errOut := f.Visits(name)
		for _, v := range out {
			have.Visits++
			have.Out += int64(v.Unsettled())
			for i, open := range v.Open {
				if open && !v.Robots {
					hold(v.Requests[i])
				}
			}
		}
		errQueued := f.Queued(name, func(_ frontier.Place, r *weftpb.Request) bool {
			have.Queued++
			hold(r)
			return true
		})
		errWithdrawn := f.Withdrawn(name, func(_ frontier.Place, r *weftpb.Request) bool {
			have.Withdrawn++
			hold(r)
			return true
		})
		if s.State != frontier.Empty {
			have.Domains++
		}
		if len(s.Visits) > 0 {
			have.DomainsOut++
		}
		err = errors.Join(err, errState, errOut, errQueued, errWithdrawn)
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
		if held[url] > 1 && !w.lostAcknowledged { // dedupe may have lost the event that knew it
			w.violate("state", "%s is in %d places", url, held[url])
		}
	}
}

// oneState says what is wrong with a domain's state, if anything.
func oneState(s frontier.DomainState) string {
	queued := s.Retries + s.Grouped
	for _, n := range s.Queued {
		queued += n
	}
	switch {
	case (len(s.Visits) > 0) == s.LeaseAt.IsZero(), s.State == frontier.Out && len(s.Visits) == 0:
		return "visits are out without a lease"
	case len(s.Visits) == 0 && queued > 0 && (s.State != frontier.Due || s.DueAt.IsZero()):
		return "URLs are queued and nothing is due"
	case len(s.Visits) == 0 && queued == 0 && (s.State != frontier.Empty || !s.DueAt.IsZero()):
		return "nothing is pending and something is due"
	}
	return ""
}
