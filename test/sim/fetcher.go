package sim

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/topics"
)

// fetcher is one instance of the stage fetch. Its released visits, host queues and
// reports are production's; its requests go to the simulated web.
type fetcher struct {
	instance *instance
	w        *world
	member   *member
	lease    *lease.Lease
	held     bool // the lease was held when it was looked at last
	draining bool // no request begins any more
	out      *producer
	reporter *producer // of visited

	partitions map[int32]*partition
	queues     map[queueKey]*queue
	memory     hostqueue.Memory
	inFlight   []*request
	reports    map[*hostqueue.Visit]*fetch.Report
	visits     []*hostqueue.Visit // of the reports, in order
	backlog    *fetch.Backlog
	sentBodies []*sentBody // for checkBacklog alone: the fetcher has a Backlog

	assignments int // how often the group gave or took partitions

	lines  *addresses.Lines
	alarms map[netip.Addr]int // number of the alarm of a line that counts
	inLine []*inLine
	moves  []time.Duration // when its part of the budgets changed
}

// partition is the released visits of one partition, and how they are read.
type partition struct {
	*fetch.ReleasedVisits
	number  int32
	begun   bool
	ended   bool
	reading bool
	cancel  context.CancelFunc
}

// sentBody is a body that was sent to fetched. Its offset is -1 until it is
// acknowledged.
type sentBody struct {
	partition int32
	offset    int64
	bytes     int
}

var errLost = errors.New("the partition has another owner")

func newFetcher(i *instance) *fetcher {
	f := &fetcher{
		instance: i, w: i.proc.w, lease: lease.New(sessionTimeout-leaseMargin, i.proc.sinceBoot),
		out: newProducer(i), reporter: newProducer(i),
		partitions: map[int32]*partition{}, queues: map[queueKey]*queue{}, reports: map[*hostqueue.Visit]*fetch.Report{},
		backlog: fetch.NewBacklog(i.proc.w.c.backlogBytes()), alarms: map[netip.Addr]int{},
	}
	f.lines = addresses.NewLines(f.w.budget, f.part)
	return f
}

func (f *fetcher) start() {
	beats := lease.NewHeartbeats(f.lease)
	f.member = &member{instance: f.instance, revoked: f.revoked, assigned: func(partitions []int32) {
		beats.Assigned()
		f.assigned(partitions)
	}}
	f.member.onJoin = func(sent time.Duration) { beats.Joined(f.w.now - sent) }
	f.member.onHeartbeat = func(sent time.Duration) {
		beats.Answered(f.w.now - sent)
		if f.w.bug("lease-from-answer") {
			f.lease.Extend(0)
		}
	}
	f.w.cluster.groups[topics.Fetch].join(f.member)
	f.instance.after(heartbeat/2, f.keepLease)
	f.instance.after(commitEvery, f.followBacklog)
}

// followBacklog reads what parse has committed.
func (f *fetcher) followBacklog() {
	group := f.w.cluster.groups[topics.Parse]
	commits := map[int32]int64{}
	for p := range f.w.partitions {
		commits[p] = group.committed(topicPartition{f.w.names.Fetched, p})
	}
	f.instance.after(f.w.latency(), func() {
		for p, next := range commits {
			f.backlog.Settle(p, next)
		}
	})
	f.instance.after(f.w.pollInterval(), f.followBacklog)
}

// keepLease ends the instance when its lease has ended.
func (f *fetcher) keepLease() {
	switch holds := f.gate("").Leased; {
	case holds:
		f.held = true
	case f.held:
		f.instance.fail(errors.New("no good heartbeat for too long"))
		return
	}
	f.instance.after(heartbeat/2, f.keepLease)
}

// gate is what decides whether a request to a domain may be written.
func (f *fetcher) gate(domain string) fetch.Gate {
	p := f.instance.proc
	return f.w.bugs.gate(fetch.Gate{
		Leased: f.lease.Holds(), Paused: p.paused(topics.Fetch), Draining: f.draining,
		Blocked: p.settings.Of(domain).Blocked,
		Low:     f.w.c.Embedded && p.diskLow.Load(),
	})
}

// onControl has nothing to do: queues look at the gate again and again.
func (f *fetcher) onControl() {}

// stop begins no more requests, waits for those in flight and for their records,
// and reports what is known. The waits are bounded.
func (f *fetcher) stop() {
	f.draining = true
	if !f.lease.Holds() {
		f.instance.leave()
		return
	}
	drained, deadline := f.w.now+requestTimeout, f.w.drainDeadline()
	if f.w.bug("stop-cuts") {
		drained = f.w.now
	}
	written := func() bool {
		return (len(f.inFlight) == 0 || f.w.now >= drained) && f.out.open == 0
	}
	f.instance.wait(written, 10*time.Millisecond, deadline, func() {
		for _, v := range f.visits {
			if report := f.reports[v]; report != nil {
				f.write(v, report.Flush(f.instance.proc.mono()))
			}
		}
		f.endAll()
		reported := func() bool { return f.reporter.open == 0 }
		f.instance.wait(reported, 10*time.Millisecond, deadline, f.instance.leave)
	})
}

// release closes the connections.
func (f *fetcher) release() {
	for _, own := range f.partitions {
		own.cancel()
	}
	for _, r := range f.inFlight {
		r.end(f.w.now)
	}
	f.inFlight = nil
}

func (f *fetcher) assigned(partitions []int32) {
	f.assignments++
	assignments := f.assignments
	for _, p := range partitions {
		if f.partitions[p] == nil {
			f.instance.after(f.w.latency(), func() { f.takeOver(p, assignments) })
		}
	}
}

// revoked ends the work on all partitions.
func (f *fetcher) revoked(then func()) {
	f.assignments++
	f.endAll()
	then()
}

func (f *fetcher) endAll() {
	f.moves = append(f.moves, f.w.now)
	for _, p := range keys(f.partitions) {
		f.partitions[p].ended = true
		f.partitions[p].End(errLost)
		f.partitions[p].cancel()
		delete(f.partitions, p)
		f.backlog.Forget(p)
		f.sentBodies = slices.DeleteFunc(f.sentBodies, func(s *sentBody) bool { return s.partition == p && s.offset >= 0 })
	}
	f.endCancelled()
}

// takeOver reads what a takeover needs to know, one thing after another.
func (f *fetcher) takeOver(partition int32, assignments int) {
	scheduled := f.w.cluster.log(f.w.names.Scheduled, partition)
	found := fetch.Takeover{Topic: scheduled.topic, End: scheduled.highWatermark, At: f.instance.proc.mono(), Alone: f.w.c.Embedded}
	f.instance.after(f.w.latency(), func() {
		found.Start = scheduled.start
		f.instance.after(f.w.latency(), func() {
			found.Reported = f.w.cluster.log(f.w.names.Visited, partition).highWatermark
			var err error
			found.Last, err = scheduled.lastDecision(found.End)
			if err != nil {
				f.w.violate("ledger", "%s: %v", f.instance.name, err)
				return
			}
			if assignments != f.assignments {
				return // the partition was revoked meanwhile
			}
			found.At, found.Margin = f.instance.proc.mono(), 2*heartbeat
			f.addPartition(partition, f.w.bugs.takeover(scheduled, found))
		})
	})
}

func (f *fetcher) addPartition(number int32, found fetch.Takeover) {
	ctx, cancel := context.WithCancel(context.Background())
	own := &partition{ReleasedVisits: fetch.TakeOver(ctx, found), number: number, cancel: cancel}
	f.w.trace("%s takes %s/%d over at %d", f.instance.name, found.Topic, number, own.Next())
	f.partitions[number] = own
	f.moves = append(f.moves, f.w.now)
	f.w.cluster.subscribe(topicPartition{found.Topic, number}, func() { f.wake(own) })
	f.wake(own)
	f.awaitReports(own)
}

func (f *fetcher) wake(own *partition) {
	if own.reading || own.ended || f.instance.ended {
		return
	}
	own.reading = true
	f.instance.after(f.w.latency(), func() {
		own.reading = false
		f.fold(own)
	})
}

// fold folds the new events of scheduled and starts the visits that they release.
func (f *fetcher) fold(own *partition) {
	if own.ended {
		return
	}
	scheduled := f.w.cluster.log(f.w.names.Scheduled, own.number)
	for _, r := range scheduled.read(own.Next(), 100) {
		start, err := own.Fold(string(r.key), f.w.bugs.reread(r), own.number, r.offset)
		if err != nil {
			f.w.violate("ledger", "%s: %v", f.instance.name, err)
			return
		}
		for _, p := range start {
			f.startVisit(p)
		}
	}
	f.endCancelled()
}

// awaitReports waits until what the former owner reported is settled, and then
// begins the work on the partition.
func (f *fetcher) awaitReports(own *partition) {
	if own.begun || own.ended {
		return
	}
	visited := topicPartition{f.w.names.Visited, own.number}
	commit := f.w.cluster.groups[topics.Schedule].committed(visited)
	f.instance.after(f.w.latency(), func() {
		start := f.w.cluster.logs[visited].start
		end := f.w.cluster.log(f.w.names.Scheduled, own.number).highWatermark
		f.instance.after(f.w.latency(), func() {
			if !own.ended && own.MayGoLive(commit, start, end) {
				own.begun = true
				f.search(own)
				return
			}
			f.instance.after(f.w.pollInterval(), func() { f.awaitReports(own) })
		})
	})
}

// search looks for what the former owner fetched and did not report. Then it starts
// the visits.
func (f *fetcher) search(own *partition) {
	search := own.Search()
	fetched := f.w.cluster.log(f.w.names.Fetched, own.number)
	if !search.Empty() {
		for _, r := range fetched.read(fetched.start, int(fetched.highWatermark)) {
			if r.writtenMs >= search.SinceMs {
				search.Look(r.value)
			}
		}
	}
	f.instance.after(f.w.latency(), func() {
		if own.ended {
			return
		}
		for _, p := range own.GoLive() {
			v := p.Visit
			if done := search.Done[v.Id]; len(done) > 0 {
				part, over := f.report(v).Resume(done, f.instance.proc.mono())
				f.write(v, part)
				if over {
					continue
				}
			}
			f.startVisit(p)
		}
		f.endCancelled()
	})
}

// startVisit gives a visit to one of its domain's queues.
func (f *fetcher) startVisit(p *fetch.ReleasedVisit) {
	v := p.Visit
	f.w.checkCrowd(v.Domain, v.Id)
	key := queueKey{v.Domain, hostqueue.Choose(f.w.env.Definition.PerDomain, func(nth int) (waiting int, open bool) {
		q := f.queues[queueKey{v.Domain, nth}]
		if q == nil {
			return 0, false
		}
		return q.Len(), true
	})}
	q := f.queues[key]
	if q == nil {
		q = &queue{fetcher: f, key: key}
		q.Remember(&f.memory)
		for nth := range f.w.env.Definition.PerDomain {
			if other := f.queues[queueKey{v.Domain, nth}]; other != nil {
				q.Join(&other.Queue)
				break
			}
		}
		f.queues[key] = q
	}
	q.Add(p.Context, v)
	q.wake(0)
}

// write sends a part of a report, if there is one.
func (f *fetcher) write(v *hostqueue.Visit, part *weftpb.Visited) {
	if part == nil {
		return
	}
	if part.Done {
		delete(f.reports, v)
	}
	f.reporter.send(topicPartition{f.w.names.Visited, v.Partition}, v.Domain, encode(part), func(_ int64, err error) {
		if err != nil {
			f.instance.fail(err)
		}
	})
}
