package fetch

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Undone tells that an exchange was not made, or not to its end, because the right to
// make it had ended.
func Undone(x *httpclient.Exchange) bool {
	return x.Class == httpclient.ClassLeaseLost || x.Class == httpclient.ClassCanceled
}

// Skip is the outcome of a request that was not made.
func Skip(i int) *weftpb.Outcome { return &weftpb.Outcome{Index: uint32(i), Skipped: true} }

// SkipUntil is the outcome of a request that was not made at now, because its host asked for no
// request until a time; the zero time: for another reason. The scheduler may not know that: its
// clock, or the clock of an earlier scheduler, may have been set.
func SkipUntil(i int, silent, now time.Time) *weftpb.Outcome {
	o := Skip(i)
	if !silent.IsZero() {
		o.RetryAfterMs = max(silent.Sub(now).Milliseconds(), 0)
	}
	return o
}

// CutOff is the outcome of a request that was cut off because its partition went to
// another fetcher. The request is made again. So the outcome says when it was made,
// if the server may have seen it.
func CutOff(i int, x *httpclient.Exchange) *weftpb.Outcome {
	o := Skip(i)
	if len(x.RequestHeaders) > 0 {
		o.StartedMs, o.TotalUs, o.ErrorClass = x.Started.UnixMilli(), x.Total.Microseconds(), string(x.Class)
	}
	return o
}

// FetchedOf is the record in fetched of the exchange that request i of v made.
func FetchedOf(v *hostqueue.Visit, i int, x *httpclient.Exchange) *weftpb.Fetched {
	request := v.Requests[i]
	record := x.Fetched()
	record.Id, record.Visit, record.Request = urls.PageID(request.Target.Url, request.Round), v.Id, request
	record.Outcome = OutcomeOf(v, i, x)
	return record
}

// OutcomeOf is the outcome of the exchange that request i of v made.
func OutcomeOf(v *hostqueue.Visit, i int, x *httpclient.Exchange) *weftpb.Outcome {
	o := x.Outcome()
	o.Index, o.HungUs, o.Address = uint32(i), v.HungAfter(x.Started).Microseconds(), v.Charged.AsSlice()
	if v.Requests[i].GetTarget().GetSitemap() != nil {
		o.Etag, o.LastModified = validator(x, "ETag"), validator(x, "Last-Modified")
		o.MediaType = mediatype.Of(strings.Join(x.Values("Content-Type"), ", ")).Essence
	}
	return o
}

// maxValidatorBytes bounds what is kept of a response to make the next request
// conditional. Longer ones are for no cache.
const maxValidatorBytes = 256

// validator is the value of a field that makes a request conditional, empty if there is none
// that can be sent back.
func validator(x *httpclient.Exchange, field string) string {
	values := x.Values(field)
	if len(values) != 1 || len(values[0]) > maxValidatorBytes || strings.ContainsFunc(values[0], func(c rune) bool { return c < ' ' || c > '~' }) {
		return ""
	}
	return values[0]
}

// AnswerOf is what an exchange means for the rest of its visit.
func AnswerOf(x *httpclient.Exchange) hostqueue.Answer {
	verdict := politeness.Judge(uint32(x.Status), string(x.Class))
	answer := hostqueue.Answer{
		Failed: verdict.Health == politeness.Failed || verdict.Missing, Page: verdict.Page, Unreached: verdict.Unreached,
	}
	if answer.Failed {
		answer.RetryAfter = x.RetryAfter // after a success it does not count
	}
	return answer
}

// Report collects the outcomes of one visit. It says when a part of them is to be
// written to visited: the outcomes of partEvery, so that a crash repeats little, and
// the last part when every outcome is known. The outcome of an exchange whose record
// goes to fetched is known once that record is acknowledged.
//
// Methods that return a part return nil when there is none to write yet. A Report is
// not safe for concurrent use.
type Report struct {
	visit    *hostqueue.Visit
	outcomes []*weftpb.Outcome
	rules    *weftpb.OriginRules
	waiting  int // exchanges whose records are not acknowledged
	finished bool
	crowded  time.Duration // how long the domain is to be left alone; not yet reported
	hangs    bool          // the last request hangs, and that is not yet reported
	last     time.Time     // when the last part was written
}

// partEvery is the age at which outcomes are reported although their visit goes on.
const partEvery = 750 * time.Millisecond

// NewReport returns the report of a visit that begins at now.
func NewReport(v *hostqueue.Visit, now time.Time) *Report { return &Report{visit: v, last: now} }

// Await notes a request whose records are on their way, and the rules of an origin's robots.txt
// that it brought; nil: it brought none.
func (r *Report) Await(rules *weftpb.OriginRules) {
	r.waiting++
	if rules != nil {
		r.rules = rules
	}
}

// Acknowledged notes that an exchange's record is acknowledged.
func (r *Report) Acknowledged(o *weftpb.Outcome, now time.Time) *weftpb.Visited {
	r.waiting--
	r.outcomes = append(r.outcomes, o)
	return r.part(now, partEvery)
}

// Add notes an outcome that needs no record.
func (r *Report) Add(o *weftpb.Outcome) { r.outcomes = append(r.outcomes, o) }

// Crowd notes that the address of the next request gets no more requests for a while.
func (r *Report) Crowd(wait time.Duration) { r.crowded = wait }

// Finish notes that no further request of the visit is made. Requests from notBegun on
// were not begun.
func (r *Report) Finish(notBegun int, now time.Time) *weftpb.Visited {
	r.skip(notBegun)
	r.finished, r.hangs = true, false
	return r.part(now, partEvery)
}

// skip notes that requests from notBegun on are not made.
func (r *Report) skip(notBegun int) {
	for i := notBegun; i < len(r.visit.Requests); i++ {
		if !r.visit.Settled[uint32(i)] {
			r.Add(Skip(i))
		}
	}
}

// Hang notes that the request before notBegun hangs, and that its domain goes on without it.
// Requests from notBegun on were not begun, and are not.
func (r *Report) Hang(notBegun int, now time.Time) *weftpb.Visited {
	r.skip(notBegun)
	r.hangs = true
	return r.part(now, partEvery)
}

// Late returns a part when outcomes have waited for their time although no other
// came.
func (r *Report) Late(now time.Time) *weftpb.Visited {
	if len(r.outcomes) == 0 {
		return nil
	}
	return r.part(now, partEvery)
}

// Flush reports what is known of a visit that goes on in another process.
func (r *Report) Flush(now time.Time) *weftpb.Visited {
	if len(r.outcomes) == 0 {
		return nil
	}
	return r.part(now, 0)
}

// Resume reports the outcomes done, which a former owner of the visit fetched and did
// not report. over tells that one of them is a failure, which ends the visit. Resume
// must be called before the visit is started.
func (r *Report) Resume(done []*weftpb.Outcome, now time.Time) (part *weftpb.Visited, over bool) {
	for _, o := range done {
		if r.visit.Settled[o.Index] {
			continue
		}
		r.visit.Settled[o.Index] = true
		r.Add(o)
		if politeness.Judge(o.Status, o.ErrorClass).Health == politeness.Failed {
			return r.Finish(0, now), true
		}
	}
	return r.Flush(now), false
}

// part returns what is known and not yet reported. It returns nil when the last part
// is younger than age and more outcomes will come.
func (r *Report) part(now time.Time, age time.Duration) *weftpb.Visited {
	done, hangs := r.finished && r.waiting == 0, r.hangs && r.waiting == 0
	if !done && !hangs && (len(r.outcomes) == 0 || now.Sub(r.last) < age) {
		return nil
	}
	part := &weftpb.Visited{Visit: r.visit.Id, Outcomes: r.outcomes, Done: done, Rules: r.rules, Hangs: hangs, CrowdedMs: r.crowded.Milliseconds()}
	r.outcomes, r.rules, r.crowded, r.last = nil, nil, 0, now
	r.hangs = r.hangs && !hangs
	return part
}

// reporter writes the reports of visits to visited, part by part.
//
// It has a producer of its own. It writes when a record of fetched is acknowledged. At
// that moment the buffer of the producer of fetched may be full, and an
// acknowledgement that waits for its own producer's buffer would wait for ever.
type reporter struct {
	visited *stage.Outbox
	life    context.Context
	fail    func(error)
	reports sync.Map // *hostqueue.Visit → *openReport, of visits that go on
}

// openReport is a Report of a visit that goes on.
type openReport struct {
	*reporter
	visit *hostqueue.Visit

	mu     sync.Mutex
	report *Report
}

// of returns the report of a visit. It is dropped when the visit's context ends: the
// partition's next owner reports. That may be this process again, with another visit
// of the same id and a report of its own.
func (q *reporter) of(ctx context.Context, v *hostqueue.Visit) *openReport {
	if r, ok := q.reports.Load(v); ok {
		return r.(*openReport)
	}
	fresh := &openReport{reporter: q, visit: v, report: NewReport(v, time.Now())}
	q.reports.Store(v, fresh)
	context.AfterFunc(ctx, func() { q.reports.Delete(v) })
	return fresh
}

// update changes the report, and writes the part that change returns, if there is one.
func (r *openReport) update(change func(*Report) *weftpb.Visited) {
	r.mu.Lock()
	defer r.mu.Unlock()
	part := change(r.report)
	if part == nil {
		return
	}
	if part.Done {
		r.reports.Delete(r.visit)
	}
	out := stage.Output{Topic: r.visited.Env.Names.Visited, Domain: r.visit.Domain, Key: r.visit.Domain, Value: stage.Encode(part)}
	r.visited.Send(r.life, out, func(_ *kgo.Record, err error) {
		if err != nil {
			r.fail(err)
		}
	})
}

// resume reports outcomes that a former owner of a visit fetched and did not report.
// over tells that one of them is a failure, which ends the visit.
func (q *reporter) resume(v *ReleasedVisit, done []*weftpb.Outcome) (over bool) {
	q.of(v.Context, v.Visit).update(func(r *Report) (part *weftpb.Visited) {
		part, over = r.Resume(done, time.Now())
		return part
	})
	return over
}

// follow reports, until ctx ends, outcomes of visits whose next outcome is slow to
// come. Meanwhile parse may be done with the exchange and its record may be trimmed.
// Without the report a kill would lose the outcome.
func (q *reporter) follow(ctx context.Context) error {
	return supervise.Every(ctx, partEvery, func() error {
		q.each(func(*hostqueue.Visit) bool { return true }, func(r *Report) *weftpb.Visited { return r.Late(time.Now()) })
		return nil
	})
}

// flush reports every outcome that is known of visits in those partitions for which of
// is true.
func (q *reporter) flush(of func(partition int32) bool) {
	q.each(func(v *hostqueue.Visit) bool { return of(v.Partition) }, func(r *Report) *weftpb.Visited { return r.Flush(time.Now()) })
}

// each updates the open reports of those visits for which of is true.
func (q *reporter) each(of func(*hostqueue.Visit) bool, change func(*Report) *weftpb.Visited) {
	q.reports.Range(func(v, r any) bool {
		if of(v.(*hostqueue.Visit)) {
			r.(*openReport).update(change)
		}
		return true
	})
}

// result is what a request brought, for its visit and for the topics.
type result struct {
	outcome *weftpb.Outcome
	answer  hostqueue.Answer
	// exchanges are those that were made, and records are what is to be acknowledged before
	// the outcome is reported.
	exchanges []*httpclient.Exchange
	records   []stage.Output
	rules     *weftpb.OriginRules // of a robots.txt
	page      bool                // parse reads the record
}

// undone is what an exchange brought that was not made, or not to its end.
func (f flight) undone(x *httpclient.Exchange) result {
	outcome := Skip(f.index)
	if f.within.Err() != nil {
		outcome = CutOff(f.index, x)
	}
	return result{outcome: outcome, answer: hostqueue.Answer{Stop: true}}
}

// deliver writes the records of a request, and reports its outcome once they are acknowledged.
// An outcome that comes with nothing else is reported with the next one.
func (q *requester) deliver(f flight, r result) hostqueue.Answer {
	for _, x := range r.exchanges {
		q.count(x)
	}
	page, outcome, sent := r.page, r.outcome, Sent{} // r has bodies, which need not be kept
	if page {
		sent = q.backlog.send(f.visit, len(r.exchanges[0].Body))
	} else {
		q.backlog.release(f.visit)
	}
	report := q.reporter.of(f.ctx, f.visit)
	report.update(func(of *Report) *weftpb.Visited {
		if len(r.records) == 0 && r.rules == nil {
			of.Add(outcome)
			return nil
		}
		if of.Await(r.rules); len(r.records) == 0 {
			return of.Acknowledged(outcome, time.Now())
		}
		return nil
	})
	left := new(atomic.Int32)
	left.Store(int32(len(r.records)))
	for _, record := range r.records {
		q.fetched.Send(q.life, record, func(written *kgo.Record, err error) {
			if err != nil {
				q.fail(err)
				return
			}
			if page {
				q.backlog.acknowledged(written.Partition, written.Offset, sent)
			}
			if left.Add(-1) == 0 {
				report.update(func(of *Report) *weftpb.Visited { return of.Acknowledged(outcome, time.Now()) })
			}
		})
	}
	return r.answer
}

// count counts an exchange that was made.
func (q *requester) count(x *httpclient.Exchange) {
	q.env.Meter.Exchange(string(x.Class), x.Status, x.WireBytes, x.FirstByte, x.Total)
	q.env.Meter.Connected(x.DNS, x.Connect)
}

func (q *requester) output(domain string, f *weftpb.Fetched) stage.Output {
	x := f
	if f.Robots != nil {
		x = f.Robots
	}
	exchange := q.env.Names.Exchange(x.Id, x.Outcome.StartedMs)
	return stage.Output{
		Topic: q.env.Names.Fetched, Domain: domain, Key: domain, Value: stage.Encode(f),
		Headers: exchange.Headers(topics.SchemaFetched, topics.Fetch),
	}
}
