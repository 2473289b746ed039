package frontier

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// The number of requests to a domain in a day has up to two limits: the limit that people set
// for this domain or for all domains, and the domain's share of the crawl's budget. The smaller
// one holds. Days are days in UTC. A request belongs to the day in which it began. A request
// that is out counts as if it were made today.

// day counts the requests to a domain in one day.
type day struct {
	// number is that of the day since 1970. requests is the number of requests that began in it,
	// those for a robots.txt included.
	number   int64
	requests uint64
	// tried is the number of answers on that day since the last block, errors the number of
	// errors among them: see isError. Dead links and errors of further attempts are in neither.
	tried, errors uint64
	// blockMS is the end of an automatic block; 0: the domain has no such block.
	blockMS int64
}

const (
	dayMS = int64(24 * time.Hour / time.Millisecond)
	// minShare is the least share of the crawl's budget that a domain has.
	minShare = 100
	// A domain is blocked for blockFor when more than half of at least minTried answers in a
	// day were errors.
	minTried = 100
	blockFor = 24 * time.Hour
)

func dayOf(ms int64) int64 { return ms / dayMS }

// midnight is the beginning of the next day.
func midnight(nowMS int64) int64 { return (dayOf(nowMS) + 1) * dayMS }

// today returns the counts of the day of now.
func (d *day) today(nowMS int64) *day {
	if d.number != dayOf(nowMS) {
		d.number, d.requests, d.tried, d.errors = dayOf(nowMS), 0, 0, 0
	}
	return d
}

// countAttempt folds that a request was made. A broken page is one error, however often it is
// tried again: else 40 broken pages would block a domain with 60 good ones.
func (x *fold) countAttempt(v visit, s *weftpb.Settlement) {
	a, today := s.Attempt, x.d.day.today(x.nowMS)
	if a == nil || dayOf(a.StartedMs) < today.number {
		return
	}
	today.requests++
	if v.aside() || a.Status == 0 || isDeadLink(a.Status) {
		return
	}
	if isError(a.Status) {
		if x.requestsOf(v)[s.Index].Attempt > 0 {
			return
		}
		today.errors++
	}
	today.tried++
}

// isDeadLink tells whether an answer says only that there is no such page: 404 Not Found and 410
// Gone (RFC 9110, 15.5.5 and 15.5.11). This is a fault of the page that has the link. A healthy
// site may have more dead links than pages.
func isDeadLink(status uint32) bool { return status == 404 || status == 410 }

// isError tells whether an answer is an error of the page or the server. An answer that asks
// for fewer requests is not an error: it makes its host wait.
func isError(status uint32) bool { return status >= 400 && status != 429 && status != 503 }

// judgeErrors blocks the domain if too many of its answers were errors.
func (p *plan) judgeErrors() {
	d := p.d.day.today(p.nowMS)
	if !p.f.opts.ErrorBlock || p.d.setting.blocked || d.tried < minTried || 2*d.errors <= d.tried {
		return
	}
	p.ev.Block = &weftpb.Block{UntilMs: p.nowMS + blockFor.Milliseconds(), Requests: int64(d.tried), Errors: int64(d.errors)}
	p.block(p.ev.Block)
}

// block folds an automatic block.
func (x *fold) block(r *weftpb.Block) {
	if r == nil {
		return
	}
	if r.UntilMs <= x.nowMS || r.UntilMs > x.nowMS+blockFor.Milliseconds() {
		x.impossible("block until %d", r.UntilMs)
	}
	x.d.day.blockMS, x.d.day.tried, x.d.day.errors = r.UntilMs, 0, 0
}

// left is the number of requests that may still go out to the domain today.
func (p *plan) left() int64 {
	most := p.perDay()
	if most == math.MaxInt64 {
		return most
	}
	most -= int64(p.d.day.today(p.nowMS).requests)
	for _, v := range p.d.visits {
		most -= v.unsettled()
	}
	for _, v := range p.ev.Released {
		most -= int64(len(v.Requests))
	}
	return most
}

// perDay is the largest number of requests to the domain in a day.
func (p *plan) perDay() int64 {
	return p.f.opts.budget(p.d.setting.perDay, p.d.known, max(p.known, p.g.known()))
}

// Budget is the largest number of requests to a domain in a day, math.MaxInt64 if there is no
// limit. all is the number of URLs of the crawl.
func (o Options) Budget(d DomainState, all int64) int64 {
	return o.budget(d.Setting.GetPerDay(), d.Known, all)
}

func (o Options) budget(perDay int64, known uint64, all int64) int64 {
	if perDay > 0 {
		return perDay
	}
	most := int64(math.MaxInt64)
	if o.PerDay > 0 {
		most = o.PerDay
	}
	if o.CrawlPerDay > 0 {
		most = min(most, Share(o.CrawlPerDay, int64(known), all))
	}
	return most
}

// Share is the domain's part of the crawl's budget, at least 100. It is proportional to the
// number of the domain's URLs. all is the number of URLs of the crawl.
func Share(budget, urls, all int64) int64 {
	if all <= 0 {
		return minShare
	}
	return max(int64(float64(budget)*float64(urls)/float64(all)), minShare)
}

// Known is the number of URLs of a crawl, by its gauges.
func Known(g *weftpb.Gauges) int64 {
	return g.GetPending() + g.GetFetched() + g.GetFailed() + g.GetRefused() + g.GetWithdrawn()
}

// known is the same for folded gauges. Each decision needs it.
func (g *gauges) known() int64 {
	return g.queued + g.out + g.fetched + g.failed + g.refused + g.withdrawn
}

// blocked is the number of URLs that wait because the domain is blocked.
func (d *domain) blocked() int64 {
	if !d.setting.blocked && d.day.blockMS == 0 {
		return 0
	}
	return d.queued()
}

func (d *day) fields(f *kv.Fields) {
	f.Int(&d.number)
	f.Uint(&d.requests)
	f.Uint(&d.tried)
	f.Uint(&d.errors)
	f.Int(&d.blockMS)
}
