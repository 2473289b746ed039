package processors

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/politeness"
)

// Report collects the outcomes of one visit and says when a part of them is to
// be written to visited: the outcomes of partEvery, so that a crash repeats
// little, and the last when everything is known. An outcome whose exchange goes
// to fetched is known once that record is acknowledged.
//
// Methods that return a record return nil when there is none to write yet. A
// Report is not safe for concurrent use.
type Report struct {
	visit    *lanes.Visit
	outcomes []*weftpb.Outcome
	rules    *weftpb.OriginRules
	waiting  int // exchanges whose records are not acknowledged
	finished bool
	last     time.Time // when the last part was written
}

// partEvery is the age at which outcomes are reported although their visit
// goes on.
const partEvery = 750 * time.Millisecond

// NewReport returns the report of a visit that begins at now.
func NewReport(v *lanes.Visit, now time.Time) *Report { return &Report{visit: v, last: now} }

// Open books an exchange whose record is on its way to fetched.
func (r *Report) Open() { r.waiting++ }

// Close books that an exchange's record is acknowledged.
func (r *Report) Close(o *weftpb.Outcome, now time.Time) *weftpb.Visited {
	r.waiting--
	r.outcomes = append(r.outcomes, o)
	return r.due(now)
}

// Add books an outcome that needs no record.
func (r *Report) Add(o *weftpb.Outcome) { r.outcomes = append(r.outcomes, o) }

// Learn books what was found of an origin's robots.txt.
func (r *Report) Learn(rules *weftpb.OriginRules) { r.rules = rules }

// Finish books that no further request of the visit is made; those from rest on
// were not begun.
func (r *Report) Finish(rest int, now time.Time) *weftpb.Visited {
	for i := rest; i < len(r.visit.Requests); i++ {
		if !r.visit.Settled[uint32(i)] {
			r.Add(&weftpb.Outcome{Index: uint32(i), Skipped: true})
		}
	}
	r.finished = true
	return r.due(now)
}

// Late returns a part when outcomes have waited for their time although no other
// came.
func (r *Report) Late(now time.Time) *weftpb.Visited {
	if len(r.outcomes) == 0 || now.Sub(r.last) < partEvery {
		return nil
	}
	return r.part(now)
}

// Flush reports what is known of a visit that goes on elsewhere.
func (r *Report) Flush(now time.Time) *weftpb.Visited {
	if len(r.outcomes) == 0 {
		return nil
	}
	return r.part(now)
}

// Resume reports the outcomes done, which a former owner of the visit fetched
// and did not come to report. over tells that one of them is a failure, which
// ends the visit. It must be called before the visit is started.
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

// due returns a part when it is time, or the last one when all is known.
func (r *Report) due(now time.Time) *weftpb.Visited {
	if r.finished && r.waiting == 0 || now.Sub(r.last) >= partEvery && len(r.outcomes) > 0 {
		return r.part(now)
	}
	return nil
}

// part is what is known and not yet reported.
func (r *Report) part(now time.Time) *weftpb.Visited {
	part := &weftpb.Visited{
		Visit: r.visit.Id, Outcomes: r.outcomes, Done: r.finished && r.waiting == 0, Rules: r.rules,
	}
	r.outcomes, r.rules, r.last = nil, nil, now
	return part
}
