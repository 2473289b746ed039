package verify

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// What people ask for a domain (weft domain) is in the ledger from the event on in which the
// scheduler learnt of it. So is an automatic block. Every release after that is held against
// it. The share of a domain in the budget of the crawl is not judged: it depends on the number
// of URLs in all partitions at that moment.

// asked is what people ask for a domain, and what it was asked on a day.
type asked struct {
	setting *weftpb.DomainSetting
	// blockedMS is the end of an automatic block.
	blockedMS int64
	// day since 1970 (UTC), and the requests that began in it, as settlements told.
	day, requests int64
}

const dayMS = int64(24 * time.Hour / time.Millisecond)

// ask folds what an event says of settings and blocks.
func (p *partition) ask(s *step) {
	a := &s.domain.asked
	if s.ev.Setting != nil {
		if a.setting = s.ev.Setting; !a.setting.Blocked {
			a.blockedMS = 0
		}
	}
	if s.ev.Block != nil {
		a.blockedMS = s.ev.Block.UntilMs
	}
}

// made counts a request that was made.
func (a *asked) made(startedMS, decidedMS int64) {
	if today := decidedMS / dayMS; a.day != today {
		a.day, a.requests = today, 0
	}
	if startedMS/dayMS >= a.day {
		a.requests++
	}
}

// delayMS is the configured delay of the domain.
func (p *partition) delayMS(d *domain) int64 {
	if s := d.asked.setting; s != nil && s.DelayMs != nil {
		return *s.DelayMs
	}
	return p.budgets.delayMS
}

// perDay is how many requests a day may be made to a domain.
func (p *partition) perDay(d *domain) int64 {
	switch asked := d.asked.setting.GetPerDay(); {
	case asked > 0:
		return asked
	case p.budgets.perDay > 0:
		return p.budgets.perDay
	}
	return math.MaxInt64
}

// checkAsked judges the release of a visit by settings, blocks and requests a day.
func (p *partition) checkAsked(s *step, r *weftpb.Visit, record RecordRef) {
	a := &s.domain.asked
	switch {
	case a.setting.GetBlocked():
		p.violate(s, KindBlocked, "", record, "people had blocked the domain (%s)", a.setting.Reason)
	case s.ev.DecidedMs < a.blockedMS:
		p.violate(s, KindBlocked, "", record, "the domain was blocked until %s, because most answers were errors", clock(a.blockedMS))
	}
	made := int64(0)
	if a.day == s.ev.DecidedMs/dayMS {
		made = a.requests
	}
	if most := p.perDay(s.domain); made+s.domain.open() > most {
		p.violate(s, KindPerDay, "", record, "%d requests were made on that day and %d are out, of at most %d", made, s.domain.open(), most)
	}
}
