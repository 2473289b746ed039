package frontier

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// What a domain may be asked for in a day is the least of what people ask for it or for all
// domains, and of its share of the crawl's budget. Days are those of UTC. A request belongs
// to the day in which it began; what is out counts as if it were made today.

// day is what was asked of a domain in a day.
type day struct {
	// number of the day since 1970, and the requests that began in it, robots.txt included.
	number int64
	asked  uint64
	// tried are the answers of that day since the last block, errors those of them that are
	// errors: see isError.
	tried, errors uint64
	// blockMS is the end of an automatic block, 0: there is none.
	blockMS int64
}

const (
	dayMS = int64(24 * time.Hour / time.Millisecond)
	// minShare is the least share of the crawl's budget that a domain has.
	minShare = 100
	// Blocked are domains of which more than half of at least minTried answers in a day
	// were errors, for blockFor.
	minTried = 100
	blockFor = 24 * time.Hour
)

func dayOf(ms int64) int64 { return ms / dayMS }

// midnight is the beginning of the next day.
func midnight(nowMS int64) int64 { return (dayOf(nowMS) + 1) * dayMS }

// today returns what was asked on the day of now.
func (d *day) today(nowMS int64) *day {
	if d.number != dayOf(nowMS) {
		d.number, d.asked, d.tried, d.errors = dayOf(nowMS), 0, 0, 0
	}
	return d
}

// countAttempt folds that a request was made. aside: it was not for a URL of the crawl.
func (x *fold) countAttempt(a *weftpb.Attempt, aside bool) {
	today := x.d.day.today(x.nowMS)
	if a == nil || dayOf(a.StartedMs) < today.number {
		return
	}
	today.asked++
	if aside || a.Status == 0 {
		return
	}
	today.tried++
	if isError(a.Status) {
		today.errors++
	}
}

// isError tells whether an answer is an error of the page or the server. One that asks for
// fewer requests is not: its host is left alone for that.
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

// left is how many more requests may go out to the domain today.
func (p *plan) left() int64 {
	most := p.perDay()
	if most == math.MaxInt64 {
		return most
	}
	most -= int64(p.d.day.today(p.nowMS).asked)
	for _, v := range p.d.visits {
		most -= v.unsettled()
	}
	for _, v := range p.ev.Released {
		most -= int64(len(v.Requests))
	}
	return most
}

// perDay is how many requests a day may be made to the domain.
func (p *plan) perDay() int64 {
	return p.f.opts.budget(p.d.setting.perDay, p.d.known, max(p.known, p.g.known()))
}

// Budget is how many requests a day may be made to a domain, math.MaxInt64 if there is no
// limit. all is the number of URLs of the crawl.
func (o Options) Budget(d DomainState, all int64) int64 {
	return o.budget(d.Setting.GetPerDay(), d.Known, all)
}

func (o Options) budget(asked int64, known uint64, all int64) int64 {
	if asked > 0 {
		return asked
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

// Share is the part of a crawl's budget that a domain has: by its rank, the number of its URLs
// among those of the crawl, and at least 100.
func Share(budget, urls, all int64) int64 {
	if all <= 0 {
		return minShare
	}
	return max(int64(float64(budget)*float64(urls)/float64(all)), minShare)
}

// Known is the number of URLs of which gauges tell.
func Known(g *weftpb.Gauges) int64 {
	return g.GetPending() + g.GetFetched() + g.GetFailed() + g.GetRefused() + g.GetWithdrawn()
}

// known is the same for gauges that are folded. Each decision asks for it.
func (g *gauges) known() int64 {
	return g.queued + g.out + g.fetched + g.failed + g.refuse + g.withdrawn
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
	f.Uint(&d.asked)
	f.Uint(&d.tried)
	f.Uint(&d.errors)
	f.Int(&d.blockMS)
}
