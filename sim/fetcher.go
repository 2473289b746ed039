package sim

import (
	"context"
	"errors"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/lease"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// fetcher is one life of the stage fetch: its boards, lanes and reports are the
// ones of a running crawl, its requests go to the simulated web.
type fetcher struct {
	life    *life
	w       *world
	member  *member
	lease   *lease.Lease
	held    bool // the lease held when it was looked at last
	out     *producer
	reports *producer
	boards  map[int32]*board
	lanes   map[laneKey]*lane
	backlog *processors.Backlog
	sent    []*sending // what it wrote to fetched, to be judged
	resting bool       // no request begins any more
	known   map[*lanes.Visit]*processors.Report
	visits  []*lanes.Visit // of the reports, in order
	flying  []*request
	session int // counts what the group gave and took
}

// board is a processors.Board and how it is read.
type board struct {
	*processors.Board
	partition int32
	begun     bool
	ended     bool
	reading   bool
	cancel    context.CancelFunc
}

var errLost = errors.New("the partition is somebody else's")

func newFetcher(l *life) *fetcher {
	return &fetcher{
		life: l, w: l.proc.w, lease: lease.New(sessionTimeout-leaseMargin, l.proc.boot),
		out: newProducer(l), reports: newProducer(l),
		boards: map[int32]*board{}, lanes: map[laneKey]*lane{}, known: map[*lanes.Visit]*processors.Report{},
		backlog: processors.NewBacklog(l.proc.w.c.backlogBytes()),
	}
}

func (f *fetcher) begin() {
	beats := lease.NewHeartbeats(f.lease)
	f.member = &member{life: f.life, assigned: f.assigned, revoked: f.revoked}
	f.member.joins = func(sent time.Duration) { beats.Joined(f.w.now - sent) }
	f.member.beats = func(sent time.Duration) {
		beats.Answered(f.w.now - sent)
		if f.w.bug(BugLeaseFromAnswer) {
			f.lease.Extend(0)
		}
	}
	f.w.cluster.groups[f.w.names.Group(topics.Fetch)].join(f.member)
	f.life.after(heartbeat/2, f.keepLease)
	f.life.after(commitEvery, f.followBacklog)
}

// followBacklog asks what parse has committed.
func (f *fetcher) followBacklog() {
	group := f.w.cluster.groups[f.w.names.Group(topics.Parse)]
	commits := map[int32]int64{}
	for p := range f.w.partitions {
		commits[p] = group.committed(place{f.w.names.Fetched, p})
	}
	f.life.after(f.w.latency(), func() {
		for p, next := range commits {
			f.backlog.Settle(p, next)
		}
	})
	f.life.after(f.w.rhythm(), f.followBacklog)
}

// keepLease ends the life when a lease that was held has ended.
func (f *fetcher) keepLease() {
	switch holds := f.gate().Leased; {
	case holds:
		f.held = true
	case f.held:
		f.life.fail(errors.New("no good heartbeat for too long"))
		return
	}
	f.life.after(heartbeat/2, f.keepLease)
}

// gate is what decides whether a request may be written.
func (f *fetcher) gate() processors.Gate {
	p := f.life.proc
	return f.w.bugs.gate(processors.Gate{
		Leased: f.lease.Holds(), Paused: p.paused(topics.Fetch), Resting: f.resting,
		Low: f.w.c.Embedded && p.hold.Load(),
	})
}

// hear has nothing to do: the gate is looked at again and again.
func (f *fetcher) hear() {}

// stop begins no request any more, waits, not for long, for those in flight and
// for their records, and reports what is known.
func (f *fetcher) stop() {
	f.resting = true
	if !f.lease.Holds() {
		f.life.leave()
		return
	}
	rested := f.w.now + restTimeout
	if f.w.bug(BugStopCuts) {
		rested = f.w.now
	}
	f.endBy(rested, f.w.now+drainTimeout)
}

func (f *fetcher) endBy(rested, deadline time.Duration) {
	if len(f.flying) > 0 && f.w.now < rested || f.out.open > 0 && f.w.now < deadline {
		f.life.after(10*time.Millisecond, func() { f.endBy(rested, deadline) })
		return
	}
	for _, v := range f.visits {
		if report := f.known[v]; report != nil {
			f.write(v, report.Flush(f.life.proc.mono()))
		}
	}
	f.dropBoards()
	f.leaveBy(deadline)
}

func (f *fetcher) leaveBy(deadline time.Duration) {
	if f.reports.open > 0 && f.w.now < deadline {
		f.life.after(10*time.Millisecond, func() { f.leaveBy(deadline) })
		return
	}
	f.life.leave()
}

// release closes the connections of a life that has ended.
func (f *fetcher) release() {
	for _, b := range f.boards {
		b.cancel()
	}
	for _, r := range f.flying {
		r.end(f.w.now)
	}
	f.flying = nil
}

func (f *fetcher) assigned(partitions []int32) {
	f.session++
	session := f.session
	for _, p := range partitions {
		if f.boards[p] == nil {
			f.life.after(f.w.latency(), func() { f.take(p, session) })
		}
	}
}

// revoked ends the work on every partition.
func (f *fetcher) revoked(then func()) {
	f.session++
	f.dropBoards()
	then()
}

func (f *fetcher) dropBoards() {
	for _, p := range sorted(f.boards) {
		f.boards[p].ended = true
		f.boards[p].End(errLost)
		f.boards[p].cancel()
		delete(f.boards, p)
		f.backlog.Forget(p)
		f.forget(p)
	}
	f.cancelled()
}

// take asks for what a takeover wants to know, one thing after another.
func (f *fetcher) take(partition int32, session int) {
	scheduled := f.w.cluster.log(f.w.names.Scheduled, partition)
	found := processors.Takeover{Topic: scheduled.topic, End: scheduled.seen, At: f.life.proc.mono(), Alone: f.w.c.Embedded}
	f.life.after(f.w.latency(), func() {
		found.Start = scheduled.start
		f.life.after(f.w.latency(), func() {
			found.Reported = f.w.cluster.log(f.w.names.Visited, partition).seen
			var err error
			found.Last, err = scheduled.lastDecision(found.End)
			if err != nil {
				f.w.violate("ledger", "%s: %v", f.life.name, err)
				return
			}
			if session != f.session {
				return // taken away meanwhile
			}
			found.At = f.life.proc.mono()
			f.post(partition, f.w.bugs.takeover(scheduled, found))
		})
	})
}

func (f *fetcher) post(partition int32, found processors.Takeover) {
	ctx, cancel := context.WithCancel(context.Background())
	b := &board{Board: processors.TakeOver(ctx, found), partition: partition, cancel: cancel}
	f.w.trace("%s takes %s/%d over at %d", f.life.name, found.Topic, partition, b.Next())
	f.boards[partition] = b
	f.w.cluster.follow(place{found.Topic, partition}, func() { f.wake(b) })
	f.wake(b)
	f.settle(b)
}

func (f *fetcher) wake(b *board) {
	if b.reading || b.ended || f.life.ended {
		return
	}
	b.reading = true
	f.life.after(f.w.latency(), func() {
		b.reading = false
		f.fold(b)
	})
}

// fold folds what is new in scheduled and starts what is released.
func (f *fetcher) fold(b *board) {
	if b.ended {
		return
	}
	scheduled := f.w.cluster.log(f.w.names.Scheduled, b.partition)
	for _, r := range scheduled.read(b.Next(), 100) {
		start, err := b.Fold(string(r.key), f.w.bugs.reread(r), b.partition, r.offset)
		if err != nil {
			f.w.violate("ledger", "%s: %v", f.life.name, err)
			return
		}
		for _, p := range start {
			f.start(b, p)
		}
	}
	f.cancelled()
}

// settle begins a board once what the former owner reported is settled.
func (f *fetcher) settle(b *board) {
	if b.begun || b.ended {
		return
	}
	visited := place{f.w.names.Visited, b.partition}
	commit := f.w.cluster.groups[f.w.names.Group(topics.Schedule)].committed(visited)
	f.life.after(f.w.latency(), func() {
		start := f.w.cluster.logs[visited].start
		end := f.w.cluster.log(f.w.names.Scheduled, b.partition).seen
		f.life.after(f.w.latency(), func() {
			if !b.ended && b.MayBegin(commit, start, end) {
				b.begun = true
				f.search(b)
				return
			}
			f.life.after(f.w.rhythm(), func() { f.settle(b) })
		})
	})
}

// search looks for what was fetched and not reported, then begins.
func (f *fetcher) search(b *board) {
	search := b.Search()
	fetched := f.w.cluster.log(f.w.names.Fetched, b.partition)
	if !search.Empty() {
		for _, r := range fetched.read(fetched.start, int(fetched.seen)) {
			if r.writtenMs >= search.SinceMs {
				search.Look(r.value)
			}
		}
	}
	f.life.after(f.w.latency(), func() {
		if b.ended {
			return
		}
		for _, p := range b.Begin() {
			v := p.Visit()
			if done := search.Done[v.Id]; len(done) > 0 {
				part, over := f.report(v).Resume(done, f.life.proc.mono())
				f.write(v, part)
				if over {
					continue
				}
			}
			f.start(b, p)
		}
		f.cancelled()
	})
}

func (f *fetcher) start(b *board, p *processors.Posted) {
	if !f.w.bug(BugNoPause) {
		b.Hold(p, 2*heartbeat)
	}
	v := p.Visit()
	key := laneKey{v.Domain, lanes.Choose(f.w.env.Definition.PerDomain, func(nth int) (waiting int, open bool) {
		ln := f.lanes[laneKey{v.Domain, nth}]
		if ln == nil {
			return 0, false
		}
		return ln.Len(), true
	})}
	ln := f.lanes[key]
	if ln == nil {
		ln = &lane{fetcher: f, key: key}
		for nth := range f.w.env.Definition.PerDomain {
			if other := f.lanes[laneKey{v.Domain, nth}]; other != nil {
				ln.Join(&other.Lane)
				break
			}
		}
		f.lanes[key] = ln
	}
	ln.Add(p.Context(), v)
	ln.wake(0)
}

// write sends a part of a report.
func (f *fetcher) write(v *lanes.Visit, part *weftpb.Visited) {
	if part == nil {
		return
	}
	if part.Done {
		delete(f.known, v)
	}
	f.reports.send(place{f.w.names.Visited, v.Partition}, v.Domain, encode(part), func(_ int64, err error) {
		if err != nil {
			f.life.fail(err)
		}
	})
}
