package sim

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// Bug is a mistake that tests plant, to see that it is found. It is never in
// the code under test: it is in the simulation's shells, or in what they hand
// to that code or take from it.
type Bug string

// The bugs, by the rule that they break.
const (
	// BugWriterGoesOn: an error of the writer does not end the partition.
	BugWriterGoesOn Bug = "writer-goes-on"
	// BugResumeFromCommits: inputs go on at the group's commits, which are made
	// when a record is taken, as goka marks it.
	BugResumeFromCommits Bug = "resume-from-commits"
	// BugCommitEarly: a ledger commits before its event is acknowledged.
	BugCommitEarly Bug = "commit-early"
	// BugNoClaim: a new owner goes on under the claim of the one before.
	BugNoClaim Bug = "no-claim"
	// BugAnyEpoch: events of older owners count.
	BugAnyEpoch Bug = "any-epoch"
	// BugAnyOffset: events count wherever they stand.
	BugAnyOffset Bug = "any-offset"
	// BugStrangersCount: what a stranger copied counts where it stands.
	BugStrangersCount Bug = "strangers-count"
	// BugHolesIgnored: an event counts behind a place that a stranger took.
	BugHolesIgnored Bug = "holes-ignored"
	// BugStrangerDecides: a fetcher takes a stranger's record for the last decision,
	// after which nothing is out.
	BugStrangerDecides Bug = "stranger-decides"
	// BugImpureApply: live folds write the time of the clock.
	BugImpureApply Bug = "impure-apply"
	// BugCheckpointEarly: a checkpoint is published before its last event is
	// acknowledged.
	BugCheckpointEarly Bug = "checkpoint-early"
	// BugWorkerCommitsEarly: a worker finishes a record before its output is
	// acknowledged.
	BugWorkerCommitsEarly Bug = "worker-commits-early"
	// BugMarksJump: a worker commits the newest finished record.
	BugMarksJump Bug = "marks-jump"
	// BugReportEarly: an outcome is reported before its exchange is
	// acknowledged.
	BugReportEarly Bug = "report-early"
	// BugIgnoreOldest: a takeover begins at the end of scheduled.
	BugIgnoreOldest Bug = "ignore-oldest"
	// BugNoPause: a takeover asks at once.
	BugNoPause Bug = "no-pause"
	// BugLeaseUnchecked: requests are made without a lease.
	BugLeaseUnchecked Bug = "lease-unchecked"
	// BugLeaseFromAnswer: the lease runs from a heartbeat's answer, whatever it
	// says.
	BugLeaseFromAnswer Bug = "lease-from-answer"
	// BugDelayFromStart: the delay runs from the start of a request.
	BugDelayFromStart Bug = "delay-from-start"
	// BugNoRobots: robots.txt is not asked for.
	BugNoRobots Bug = "no-robots"
	// BugDrainWithoutBefore: the drained test leaves out its first step.
	BugDrainWithoutBefore Bug = "drain-without-before"
	// BugDrainEndsFirst: the drained test reads the ends before the commits.
	BugDrainEndsFirst Bug = "drain-ends-first"
	// BugSettleUnknown: outcomes of a visit that is not out settle the one that
	// is.
	BugSettleUnknown Bug = "settle-unknown"
	// BugTrustFilter: dedupe takes the filter's maybe for a yes.
	BugTrustFilter Bug = "trust-filter"
	// BugTrimTooFar: the janitor does not wait for commits.
	BugTrimTooFar Bug = "trim-too-far"
	// BugPauseIgnored: a fetcher that is paused goes on.
	BugPauseIgnored Bug = "pause-ignored"
	// BugHoldIgnored: the scheduler releases while people hold releases.
	BugHoldIgnored Bug = "hold-ignored"
	// BugBacklogIgnored: a fetcher does not wait for parse.
	BugBacklogIgnored Bug = "backlog-ignored"
	// BugPerDomainExceeded: one connection a domain more than allowed.
	BugPerDomainExceeded Bug = "per-domain-exceeded"
	// BugDepthIgnored: links are followed to any depth.
	BugDepthIgnored Bug = "depth-ignored"
	// BugPagesPerDomainIgnored: nothing is held back, however many URLs a domain has.
	BugPagesPerDomainIgnored Bug = "pages-per-domain-ignored"
	// BugPagesForgotten: pages of earlier lives do not count against the limit.
	BugPagesForgotten Bug = "pages-forgotten"
	// BugMergesUnwritten: dedupe does not write down what others stand for.
	BugMergesUnwritten Bug = "merges-unwritten"
	// BugMissingUnheard: dedupe does not hear that there is no page.
	BugMissingUnheard Bug = "missing-unheard"
	// BugDeadNamesFail: a name that does not exist counts as a host that is down.
	BugDeadNamesFail Bug = "dead-names-fail"
	// BugNamesRemembered: a fetcher never looks a name up again that was not found.
	BugNamesRemembered Bug = "names-remembered"
	// BugDelaySkipped: no delay runs from any request.
	BugDelaySkipped Bug = "delay-skipped"
	// BugHealthUnwritten: the scheduler does not write down which origin fails, and
	// which answered last.
	BugHealthUnwritten Bug = "health-unwritten"
	// BugRecallsUnheard: schedule does not hear that a URL waits aside no longer.
	BugRecallsUnheard Bug = "recalls-unheard"
	// BugGroupsUnheard: schedule does not hear of groups that come back.
	BugGroupsUnheard Bug = "groups-unheard"
	// BugStopCuts: a fetcher that ends in good order cuts off what is in flight.
	BugStopCuts Bug = "stop-cuts"
)

// Bugs are all that can be planted.
func Bugs() []Bug {
	return []Bug{
		BugWriterGoesOn,
		BugResumeFromCommits,
		BugCommitEarly,
		BugNoClaim,
		BugAnyEpoch,
		BugAnyOffset,
		BugStrangersCount,
		BugHolesIgnored,
		BugStrangerDecides,
		BugImpureApply,
		BugCheckpointEarly,
		BugWorkerCommitsEarly,
		BugMarksJump,
		BugReportEarly,
		BugIgnoreOldest,
		BugNoPause,
		BugLeaseUnchecked,
		BugLeaseFromAnswer,
		BugDelayFromStart,
		BugNoRobots,
		BugDrainWithoutBefore,
		BugDrainEndsFirst,
		BugSettleUnknown,
		BugTrustFilter,
		BugTrimTooFar,
		BugPauseIgnored,
		BugHoldIgnored,
		BugBacklogIgnored,
		BugPerDomainExceeded,
		BugDepthIgnored,
		BugPagesPerDomainIgnored,
		BugPagesForgotten,
		BugMergesUnwritten,
		BugMissingUnheard,
		BugDeadNamesFail,
		BugNamesRemembered,
		BugDelaySkipped,
		BugHealthUnwritten,
		BugRecallsUnheard,
		BugGroupsUnheard,
		BugStopCuts,
	}
}

// bugs hands things over to the code under test, changed if a bug is planted.
type bugs struct {
	w      *world
	latest map[place]int64  // epoch of the latest claim in a ledger
	maybe  map[int32]uint64 // a small filter of each partition's URLs
	absent map[string]bool  // origins that were not found
}

func (w *world) bug(b Bug) bool { return w.c.Bug == b }

// writer returns what a table appends with.
func (b *bugs) writer(t *table, sound *ledger.Writer) writer {
	if b.w.bug(BugWriterGoesOn) {
		return &careless{Writer: sound, t: t}
	}
	return sound
}

// careless is a writer that goes on.
type careless struct {
	*ledger.Writer
	t     *table
	acked int64
}

func (c *careless) Append(key string, value []byte, done func(int64, error)) {
	c.t.out.send(c.t.ledger().place, key, value, func(offset int64, err error) {
		if err == nil {
			c.acked = max(c.acked, offset)
		}
		done(offset, nil)
	})
}

func (c *careless) Err() error   { return nil }
func (c *careless) Acked() int64 { return c.acked }

// unclaimed tells that the table goes on without a claim; the first one of all
// is needed for events to be possible.
func (b *bugs) unclaimed(t *table) bool {
	return b.w.bug(BugNoClaim) && t.core.Folded().Epoch > 0
}

// resume returns where the inputs go on.
func (b *bugs) resume(t *table, next map[string]int64) map[string]int64 {
	if b.w.bug(BugResumeFromCommits) {
		for topic := range next {
			next[topic] = max(next[topic], t.member.group.committed(t.at(topic)))
		}
	}
	return next
}

// event returns a ledger's record for a fold of its owner.
func (b *bugs) event(_ *table, r record) []byte { return b.reread(r) }

// reread returns a ledger's record for a fold.
func (b *bugs) reread(r record) []byte {
	var ev weftpb.Event
	undecodable := proto.Unmarshal(r.value, &ev) != nil || ev.Claim == nil && ev.Epoch == 0
	switch {
	case ev.Claim != nil:
		return r.value
	case b.w.bug(BugHolesIgnored) && r.strange && r.latest > 0:
		ev = weftpb.Event{Epoch: r.latest, Offset: r.offset, Unacknowledged: r.offset}
	case undecodable:
		return r.value
	case b.w.bug(BugAnyOffset):
		ev.Offset = r.offset
	case b.w.bug(BugAnyEpoch), b.w.bug(BugStrangersCount) && r.strange:
		ev.Epoch, ev.Offset = max(ev.Epoch, r.latest), r.offset
	default:
		return r.value
	}
	return encodeEvent(&ev)
}

// arrived looks at a record that reaches its log.
func (b *bugs) arrived(l *log, r *record) {
	var ev weftpb.Event
	if b.w.bug(BugMergesUnwritten) && l.topic == b.w.names.Deduped {
		r.value = withoutMerges(r.value)
	}
	if b.w.bug(BugHealthUnwritten) && l.topic == b.w.names.Scheduled {
		r.value = withoutHealth(r.value)
	}
	if !b.w.isLedger(l.topic) {
		return
	}
	if proto.Unmarshal(r.value, &ev) == nil && ev.Claim != nil {
		b.latest[l.place] = r.offset + 1
	}
	r.latest = b.latest[l.place]
}

// withoutMerges is an event of deduped that does not say what was given up.
func withoutMerges(event []byte) []byte {
	var ev weftpb.Event
	var d weftpb.Deduped
	if proto.Unmarshal(event, &ev) != nil || proto.Unmarshal(ev.Body, &d) != nil || len(d.Merged) == 0 {
		return event
	}
	d.Merged = nil
	ev.Body = encode(&d)
	return encodeEvent(&ev)
}

// withoutHealth is an event of scheduled that does not say which origin failed or
// answered.
func withoutHealth(event []byte) []byte {
	var ev weftpb.Event
	var s weftpb.Scheduled
	if proto.Unmarshal(event, &ev) != nil || proto.Unmarshal(ev.Body, &s) != nil || s.Timing.GetAnsweredBy() == 0 && len(s.Health) == 0 {
		return event
	}
	s.Health, s.Timing.AnsweredBy = nil, 0
	ev.Body = encode(&s)
	return encodeEvent(&ev)
}

// encodeEvent marshals an event of a ledger, with the checksum of what it is now.
func encodeEvent(ev *weftpb.Event) []byte {
	value, err := ledger.Encode(ev)
	if err != nil {
		panic(fmt.Sprintf("sim: marshal event: %v", err))
	}
	return value
}

// exchange returns what a fetcher takes for the end of a request to an origin.
func (b *bugs) exchange(origin string, x *fetch.Exchange) *fetch.Exchange {
	missing := x.Class == fetch.ClassDNSNotFound
	switch {
	case b.w.bug(BugDeadNamesFail) && missing:
		return &fetch.Exchange{URL: x.URL, Class: fetch.ClassDNSError, Started: x.Started, Total: x.Total}
	case b.w.bug(BugNamesRemembered) && b.absent[origin]:
		return &fetch.Exchange{URL: x.URL, Class: fetch.ClassDNSNotFound, Started: x.Started, Total: x.Total}
	case missing:
		b.absent[origin] = true
	}
	return x
}

// answer returns what a lane hears of a request.
func (b *bugs) answer(a lanes.Answer) lanes.Answer {
	a.Unreached = a.Unreached || b.w.bug(BugDelaySkipped)
	return a
}

// input returns an input's record for a decision.
func (b *bugs) input(t *table, topic string, r record) []byte {
	switch {
	case topic == b.w.names.Deduped:
		return b.unheard(b.reread(r))
	case topic == b.w.names.Normalized && b.w.bug(BugTrustFilter):
		return b.filtered(t, r)
	case topic == b.w.names.Normalized && b.w.bug(BugMissingUnheard):
		return withoutMissing(r.value)
	case topic == b.w.names.Visited && b.w.bug(BugSettleUnknown):
		return b.anyVisit(t, r)
	}
	return r.value
}

// unheard is an event of deduped that does not say all of groups.
func (b *bugs) unheard(event []byte) []byte {
	var ev weftpb.Event
	var d weftpb.Deduped
	if !b.w.bug(BugRecallsUnheard) && !b.w.bug(BugGroupsUnheard) || proto.Unmarshal(event, &ev) != nil || ev.Claim != nil || proto.Unmarshal(ev.Body, &d) != nil {
		return event
	}
	if b.w.bug(BugRecallsUnheard) {
		d.Recalled = nil
	} else {
		d.Groups = slices.DeleteFunc(d.Groups, func(g *weftpb.Group) bool { return g.State != weftpb.Group_STATE_WITHDRAWN })
	}
	ev.Body = encode(&d)
	return encodeEvent(&ev)
}

// withoutMissing is a record of normalized that does not say what has no page.
func withoutMissing(value []byte) []byte {
	var n weftpb.Normalized
	if proto.Unmarshal(value, &n) != nil {
		return value
	}
	n.Evidence = slices.DeleteFunc(n.Evidence, func(e *weftpb.Evidence) bool { return e.Kind == weftpb.Evidence_KIND_MISSING })
	return encode(&n)
}

// filtered leaves out what a small filter may know.
func (b *bugs) filtered(t *table, r record) []byte {
	var n weftpb.Normalized
	if proto.Unmarshal(r.value, &n) != nil {
		return r.value
	}
	kept := n.Targets[:0]
	for _, target := range n.Targets {
		var sum uint64
		for _, c := range []byte(target.Url) {
			sum = sum*31 + uint64(c)
		}
		bit := uint64(1) << (sum % 64)
		if b.maybe[t.partition]&bit == 0 || b.asked(target.Url) {
			kept = append(kept, target)
		}
		b.maybe[t.partition] |= bit
	}
	n.Targets = kept
	return encode(&n)
}

// asked keeps seeds in, so that there is a crawl.
func (b *bugs) asked(url string) bool { return slices.Contains(b.w.web.seeds, url) }

// anyVisit names the visit of the domain that is out.
func (b *bugs) anyVisit(t *table, r record) []byte {
	var v weftpb.Visited
	f := b.w.frontier(t.partition, t.store)
	out, err := f.Visits(string(r.key))
	if proto.Unmarshal(r.value, &v) != nil || err != nil || len(out) == 0 || v.Rules != nil || out[0].Robots {
		return r.value
	}
	v.Visit = out[0].ID
	return encode(&v)
}

// store returns the store that a state works on.
func (b *bugs) store(t *table) ledger.Store {
	if b.w.bug(BugImpureApply) {
		return clocked{t.store, t}
	}
	return t.store
}

// clocked is a store that notes when it was written to.
type clocked struct {
	ledger.Store
	t *table
}

func (c clocked) Set(key, value []byte) {
	c.Store.Set(key, value)
	if c.t.live {
		c.Store.Set([]byte("\xfftime"), []byte(c.t.life.proc.wall().String()))
	}
}

// takeover returns what a fetcher found in a log of scheduled.
func (b *bugs) takeover(l *log, found processors.Takeover) processors.Takeover {
	if last := l.records[:min(found.End, l.end())]; b.w.bug(BugStrangerDecides) && len(last) > 0 && last[len(last)-1].strange {
		found.Last = &weftpb.Scheduled{Oldest: int64(len(last)) - 1}
	}
	if b.w.bug(BugIgnoreOldest) {
		found.Last = &weftpb.Scheduled{Oldest: found.End}
	}
	return found
}

// gate returns what a fetcher's gate looks at.
func (b *bugs) gate(g processors.Gate) processors.Gate {
	g.Leased = g.Leased || b.w.bug(BugLeaseUnchecked)
	g.Paused = g.Paused && !b.w.bug(BugPauseIgnored)
	return g
}

// define changes what the crawl is.
func (b *bugs) define(d *topics.Definition) {
	switch {
	case b.w.bug(BugDepthIgnored):
		d.MaxDepth = -1
	case b.w.bug(BugPerDomainExceeded):
		d.PerDomain++
	case b.w.bug(BugPagesPerDomainIgnored):
		d.MaxPagesPerDomain = 0
	}
}

// written are the offsets of parsed that stand in the files already.
func (b *bugs) written(next map[int32]int64) map[int32]int64 {
	if b.w.bug(BugPagesForgotten) {
		return nil
	}
	return next
}
