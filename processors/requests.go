package processors

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/supervise"
)

// requests makes the requests of visits for the lanes and reports them: the
// exchange goes to fetched, and its outcome, once that is acknowledged, to
// visited. A visit's outcomes go in parts, so that a crash repeats little.
type requests struct {
	*fetcher
	open sync.Map // *lanes.Visit → *report

	seen    sync.Mutex
	witness politeness.Witness
}

// Gate waits until the stage's gate opens for a visit.
func (q *requests) Gate(ctx context.Context, v *lanes.Visit) error {
	b := q.board(v.Partition)
	for {
		if b != nil && b.flights.over() { // the visit goes with its partition
			<-ctx.Done()
			q.backlog.release(v)
			return ctx.Err()
		}
		gate := q.gate()
		gate.Low = q.low.Load() || q.env.Bodies.Waiting()
		var room <-chan struct{} // what else there may be makes no noise when it changes
		if gate.Opens() && !gate.Paused {
			gate.Full, room = q.backlog.full(v)
		}
		if gate.Paused {
			q.backlog.release(v) // it is given back
		}
		if gate.Opens() {
			return nil
		}
		select {
		case <-ctx.Done():
			q.backlog.release(v)
			return ctx.Err()
		case <-room:
		case <-time.After(q.opts.Heartbeat / 2):
		}
	}
}

// Request makes one request of a visit, if its partition stays here.
func (q *requests) Request(ctx context.Context, v *lanes.Visit, i int) lanes.Answer {
	inner, done, ok := ctx, func() {}, true
	if b := q.board(v.Partition); b != nil {
		inner, done, ok = b.flights.begin(ctx)
	}
	answer, cut := lanes.Answer{Stop: true}, true
	if ok {
		answer = q.make(ctx, inner, v, i)
		cut = inner.Err() != nil
		done()
	} else {
		q.backlog.release(v)
	}
	if cut { // the visit goes with its partition
		<-ctx.Done()
	}
	return answer
}

// make makes a request of a visit, whose context is ctx, within inner, under the
// eyes of a witness.
func (q *requests) make(ctx, inner context.Context, v *lanes.Visit, i int) (answer lanes.Answer) {
	q.env.Meter.Slots(1)
	q.witnessBegin(v)
	defer func() {
		q.backlog.release(v)
		q.witnessEnd(v, answer)
		q.env.Meter.Slots(-1)
	}()
	if IsRobots(v, i) {
		return q.robots(ctx, inner, v, i)
	}
	x := q.exchange(inner, v, i)
	report := q.report(ctx, v)
	if Undone(x) {
		report.add(undone(inner, i, x))
		return lanes.Answer{Stop: true}
	}
	x, outcome, record := q.recordOf(v, i, x)
	q.env.Meter.Exchange(x)
	sent := q.backlog.send(v, len(x.Body))
	report.open()
	q.out.send(q.life, record, func(r *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
			return
		}
		q.backlog.acknowledged(r.Partition, r.Offset, sent)
		report.close(outcome)
	})
	return AnswerOf(x)
}

// undone is the outcome of an exchange that is Undone, within inner.
func undone(inner context.Context, i int, x *fetch.Exchange) *weftpb.Outcome {
	if inner.Err() != nil {
		return CutOff(i, x)
	}
	return Skip(i)
}

func (q *requests) witnessBegin(v *lanes.Visit) {
	q.seen.Lock()
	violation := q.witness.Begin(v.Domain, time.Now(), q.opts.Lanes.PerDomain)
	q.seen.Unlock()
	if violation != politeness.None {
		q.env.Meter.Hurried(violation)
		q.env.Logger.Error("a request began when its domain should have been left alone",
			"domain", v.Domain, "violation", violation, "visit", v.Id)
	}
}

func (q *requests) witnessEnd(v *lanes.Visit, answer lanes.Answer) {
	delay := max(time.Duration(v.DelayMs)*time.Millisecond, answer.RetryAfter)
	if answer.Unreached {
		delay = 0
	}
	q.seen.Lock()
	defer q.seen.Unlock()
	q.witness.End(v.Domain, time.Now(), delay)
}

// Finish reports the visit's end: requests from rest on were not begun.
func (q *requests) Finish(ctx context.Context, v *lanes.Visit, rest int) {
	q.report(ctx, v).finish(rest)
}

// resume reports outcomes that a former owner of a visit fetched and did not
// report. It returns whether there is more to do: a failure ends the visit.
func (q *requests) resume(p *Posted, done []*weftpb.Outcome) bool {
	return len(done) == 0 || !q.report(p.ctx, p.visit).resume(done)
}

// tell reports outcomes of visits that are slow to come by the next, until ctx
// ends: parse may be done with the exchange, its record trimmed, and after a
// kill nobody would know of it.
func (q *requests) tell(ctx context.Context) error {
	return supervise.Every(ctx, partEvery, func() error {
		q.open.Range(func(_, r any) bool {
			r.(*report).late()
			return true
		})
		return nil
	})
}

// flush reports every outcome that is known.
func (q *requests) flush() { q.flushOf(func(int32) bool { return true }) }

// flushOf reports every outcome that is known of visits in those partitions for
// which of is true.
func (q *requests) flushOf(of func(partition int32) bool) {
	q.open.Range(func(v, r any) bool {
		if of(v.(*lanes.Visit).Partition) {
			r.(*report).flush()
		}
		return true
	})
}

// report returns the report of a visit. It is dropped with its visit when the
// visit's context ends: the partition's next owner reports. That may be this
// process again, with another visit of the same id and a report of its own.
func (q *requests) report(ctx context.Context, v *lanes.Visit) *report {
	if r, ok := q.open.Load(v); ok {
		return r.(*report)
	}
	fresh := &report{owner: q, visit: v, core: NewReport(v, time.Now())}
	q.open.Store(v, fresh)
	context.AfterFunc(ctx, func() { q.open.Delete(v) })
	return fresh
}

// report is a Report that is written to visited, part by part.
type report struct {
	owner *requests
	visit *lanes.Visit

	mu   sync.Mutex
	core *Report
}

func (r *report) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Open()
}

// close books that the exchange's record is acknowledged.
func (r *report) close(o *weftpb.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.core.Close(o, time.Now()))
}

func (r *report) add(o *weftpb.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Add(o)
}

func (r *report) learn(rules *weftpb.OriginRules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Learn(rules)
}

func (r *report) finish(rest int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.core.Finish(rest, time.Now()))
}

func (r *report) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.core.Late(time.Now()))
}

// flush reports what is known of a visit that goes on elsewhere.
func (r *report) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.core.Flush(time.Now()))
}

func (r *report) resume(done []*weftpb.Outcome) (over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	part, over := r.core.Resume(done, time.Now())
	r.write(part)
	return over
}

// write writes a part, if there is one; mu is held. It is called when a record
// of fetched is acknowledged, so it writes through a producer of its own: in
// that moment the other's buffer may be full, and waiting for room in it from
// its own acknowledgement would wait for ever.
func (r *report) write(part *weftpb.Visited) {
	if part == nil {
		return
	}
	q := r.owner
	if part.Done {
		q.open.Delete(r.visit)
	}
	q.reports.sendProto(q.life, q.env.Names.Visited, r.visit.Domain, part, func(_ *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
		}
	})
}
