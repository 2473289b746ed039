package verify

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// What people ask for a domain (weft domain) is in the ledger, from the event in which the
// scheduler learnt it. An automatic block is there, too. Every later release is judged by it. A
// domain's share of the crawl's budget depends on the number of URLs in all partitions at that
// moment. It is judged as if its partition had all URLs, which gives the largest possible share.

// asked is what people ask for a domain, and its requests on a day.
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

// noteDays notes how many requests of the whole crawl began on the days on which they were more
// than its budget. That is not a violation: shares follow the number of URLs, which other
// partitions tell some seconds late, and each domain has at least leastShare.
func (j *judge) noteDays() {
	for _, day := range slices.Sorted(maps.Keys(j.days)) {
		if n := j.days[day]; j.budgets.crawlPerDay > 0 && n > j.budgets.crawlPerDay {
			j.note("%d requests were made on %s, with a budget of %d a day for the crawl and at least %d for each domain",
				n, time.UnixMilli(day*dayMS).UTC().Format(time.DateOnly), j.budgets.crawlPerDay, leastShare)
		}
	}
}

// delayMS is the configured delay of the domain.
func (p *partition) delayMS(d *domain) int64 {
	if s := d.asked.setting; s != nil && s.DelayMs != nil {
		return *s.DelayMs
	}
	return p.budgets.delayMS
}

// perDay is how many requests a day may be made to a domain at most, if the partition knows so
// many URLs.
func (p *partition) perDay(d *domain, known int64) int64 {
	switch asked := d.asked.setting.GetPerDay(); {
	case asked > 0:
		return asked
	}
	most := int64(math.MaxInt64)
	if p.budgets.perDay > 0 {
		most = p.budgets.perDay
	}
	if p.budgets.crawlPerDay > 0 && p.whole {
		most = min(most, max(int64(float64(p.budgets.crawlPerDay)*float64(d.known)/float64(max(known, 1))), leastShare))
	}
	return most
}

// leastShare is what each domain may be asked in a day, however small its share.
const leastShare = 100

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
	if most := p.perDay(s.domain, s.known); made+s.domain.open() > most {
		p.violate(s, KindPerDay, "", record, "%d requests were made on that day and %d are out, of at most %d", made, s.domain.open(), most)
	}
}
