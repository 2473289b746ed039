package why

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// scratchMemory is the size of a scratch store's table in memory, bytes.
const scratchMemory = 64 << 20

// fold reads the events about a domain, or all events of a partition if domain is empty. The
// frontier's own code folds them. visit is called with each of them. The frontier is nil if the
// ledger begins later, because it was trimmed. The caller calls remove.
func (a *Asker) fold(
	ctx context.Context, partition int32, domain string, begins int64,
	visit func(domain string, ev *weftpb.Scheduled, ref Ref),
) (f *frontier.Frontier, remove func() error, err error) {
	remove = func() error { return nil }
	if begins == 0 {
		store, err := scratch.Open("weft-why", scratchMemory)
		if err != nil {
			return nil, nil, err
		}
		remove = store.Close
		opts := a.frontier
		opts.Partition, opts.SomeDomains = partition, domain != ""
		f = frontier.New(opts, store)
	}
	part := topiclog.Part{Partitions: []int32{partition}, Domain: domain, Trimmed: domain != "", Damaged: a.opts.Damaged}
	err = a.logs.Scheduled(ctx, a.names.Scheduled, part, func(e topiclog.Event[*weftpb.Scheduled]) error {
		if f != nil {
			if err := f.Apply(e.Domain, e.Body, e.Record.Offset); err != nil {
				return fmt.Errorf("fold %s: %w", a.names.Scheduled, err)
			}
		}
		visit(e.Domain, e.Body, a.ref(e.Record))
		return nil
	})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return f, remove, nil
}

// folded is what the ledger scheduled says about one domain.
type folded struct {
	// frontier has the domain's state; nil if the beginning of the ledger was trimmed.
	frontier *frontier.Frontier
	remove   func() error
	// begins is where the ledger begins; 0: it is whole.
	begins int64

	trace    trace
	profile  Profile
	origins  map[string]Origin  // the last answer about each robots.txt
	released map[string]release // visits that may be out, by id
	attempts []DomainAttempt    // the last ones, oldest first
}

// release is a visit that may be out.
type release struct {
	at   time.Time
	urls []string // each is empty once its request is settled
}

// lastAttempts is the number of a domain's attempts that are shown.
const lastAttempts = 8

// foldDomain reads the events about a domain. also is called with each of them. The caller
// calls remove of the result.
func (a *Asker) foldDomain(ctx context.Context, domain string, also func(*weftpb.Scheduled, Ref)) (*folded, error) {
	partition := a.partition(domain)
	f := &folded{origins: map[string]Origin{}, released: map[string]release{}}
	var err error
	if f.begins, err = a.start(ctx, a.names.Scheduled, partition); err != nil {
		return nil, err
	}
	f.frontier, f.remove, err = a.fold(ctx, partition, domain, f.begins, func(_ string, ev *weftpb.Scheduled, ref Ref) {
		f.apply(ev, ref)
		also(ev, ref)
	})
	return f, err
}

func (f *folded) apply(ev *weftpb.Scheduled, ref Ref) {
	f.trace.apply(ev)
	f.profile.apply(ev)
	for _, o := range ev.Rules {
		origin := Origin{AskedAt: moment(ev.DecidedMs), Status: o.Robots.GetStatus(), Ref: &ref}
		if len(ev.Settled) > 0 && ev.Settled[0].Attempt != nil { // of the robots visit itself
			origin.Status, origin.Error = ev.Settled[0].Attempt.Status, ev.Settled[0].Attempt.ErrorClass
		}
		f.origins[o.Origin] = origin
	}
	for _, id := range ev.Expired {
		delete(f.released, id)
	}
	for _, s := range ev.Settled {
		urls := f.released[s.Visit].urls
		if int(s.Index) >= len(urls) {
			continue
		}
		if attempt := attemptOf(s.Attempt); attempt != nil {
			f.attempts = append(f.attempts, DomainAttempt{urls[s.Index], s.Visit, s.Reason, *attempt})
		}
		urls[s.Index] = ""
		if strings.Join(urls, "") == "" { // all are settled; only visits that are out take memory
			delete(f.released, s.Visit)
		}
	}
	f.attempts = slices.Delete(f.attempts, 0, max(len(f.attempts)-lastAttempts, 0))
	for _, v := range ev.Released {
		r := release{at: moment(ev.DecidedMs)}
		for _, q := range v.Requests {
			r.urls = append(r.urls, q.GetTarget().GetUrl())
		}
		f.released[v.Id] = r
	}
}

// trace has the times of a domain that the frontier's state does not have.
type trace struct {
	// decidedMS is the time of the last event.
	decidedMS int64
	// nextMS is the earliest next release; nextSetMS is when that was decided.
	nextMS, nextSetMS int64
	// releasedMS is the last release; endedMS is the end of the last request on its
	// fetcher's clock.
	releasedMS, endedMS int64
}

func (t *trace) apply(ev *weftpb.Scheduled) {
	t.decidedMS = ev.DecidedMs
	if next := ev.GetTiming().GetNextMs(); next != t.nextMS {
		t.nextMS, t.nextSetMS = next, ev.DecidedMs
	}
	if len(ev.Released) > 0 {
		t.releasedMS = ev.DecidedMs
	}
	for _, s := range ev.Settled {
		if a := s.Attempt; a != nil {
			t.endedMS = max(t.endedMS, a.StartedMs+a.TotalUs/1000)
		}
	}
}
