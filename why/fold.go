package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/replay"
)

// folded is what the ledger scheduled says of one domain.
type folded struct {
	// frontier holds the domain's state, folded by production's own code; nil
	// when the ledger was trimmed, so that its beginning is not known.
	frontier *frontier.Frontier
	store    *scratch
	// begins is where the ledger begins; 0: it is whole.
	begins int64

	trace    trace
	robots   robotsHeard
	released map[string]time.Time // visits that may be out, by id
	attempts []DomainAttempt      // the last ones, oldest first
	requests map[string][]string  // URLs of those visits
}

// lastAttempts is how many attempts of a domain are told.
const lastAttempts = 8

// fold reads the events about a domain. also, which may be nil, is shown each
// of them. The result must be closed.
func (a *Asker) fold(ctx context.Context, domain string, also func(ev *weftpb.Scheduled, ref Ref)) (*folded, error) {
	partition := a.partition(domain)
	f := &folded{robots: newRobotsHeard(), released: map[string]time.Time{}, requests: map[string][]string{}}
	var err error
	if f.begins, err = a.start(ctx, a.names.Scheduled, partition); err != nil {
		return nil, err
	}
	if f.begins == 0 {
		opts := a.frontier
		opts.Partition = partition
		if f.store, err = openScratch(); err != nil {
			return nil, err
		}
		f.frontier = frontier.New(opts, f.store)
	}
	part := replay.Part{Partitions: []int32{partition}, Domain: domain, Trimmed: true, Damaged: a.opts.Damaged}
	err = a.logs.ScheduledPart(ctx, a.names.Scheduled, part, func(e replay.Event[*weftpb.Scheduled]) error {
		if f.frontier != nil {
			if err := f.frontier.ApplyPart(domain, e.Body, e.Record.Offset); err != nil {
				return fmt.Errorf("fold %s: %w", a.names.Scheduled, err)
			}
		}
		ref := a.ref(e.Record)
		f.fold(e.Body, ref)
		if also != nil {
			also(e.Body, ref)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *folded) close() error {
	if f.store == nil {
		return nil
	}
	return f.store.close()
}

func (f *folded) fold(ev *weftpb.Scheduled, ref Ref) {
	f.trace.fold(ev)
	f.robots.fold(ev, ref)
	for _, id := range ev.Expired {
		f.forget(id)
	}
	for _, s := range ev.Settled {
		if s.Attempt == nil {
			continue
		}
		if urls := f.requests[s.Visit]; int(s.Index) < len(urls) {
			f.attempts = append(f.attempts, DomainAttempt{
				URL: urls[s.Index], Visit: s.Visit, Reason: s.Reason, Attempt: *attemptOf(s.Attempt),
			})
		}
	}
	if extra := len(f.attempts) - lastAttempts; extra > 0 {
		f.attempts = append(f.attempts[:0], f.attempts[extra:]...)
	}
	for _, v := range ev.Released {
		f.released[v.Id] = moment(ev.DecidedMs)
		urls := make([]string, len(v.Requests))
		for i, q := range v.Requests {
			urls[i] = q.GetTarget().GetUrl()
		}
		f.requests[v.Id] = urls
	}
	f.forgetSettled(ev)
}

// forgetSettled drops the visits whose last request an event settles, so that
// memory holds those that are out.
func (f *folded) forgetSettled(ev *weftpb.Scheduled) {
	for _, s := range ev.Settled {
		urls, ok := f.requests[s.Visit]
		if !ok || int(s.Index) >= len(urls) {
			continue
		}
		urls[s.Index] = ""
		done := true
		for _, url := range urls {
			done = done && url == ""
		}
		if done {
			f.forget(s.Visit)
		}
	}
}

func (f *folded) forget(id string) {
	delete(f.released, id)
	delete(f.requests, id)
}
