package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
)

// attempt is a request that was made. Times are microseconds since 1970.
type attempt struct {
	start, end int64
	// visit tells attempts of one visit from others.
	visit int64
	// delayMS is the visit's delay. responseMS, the server's last response, and crawlMS, the
	// longest Crawl-delay of the visit's origins, may make it longer than the configured delay.
	delayMS, responseMS, crawlMS uint32
	// released and settled are the epochs of the events that released the
	// visit and settled the request.
	released, settled int64
	// at is the offset of the settlement, or the line of a log.
	at int64
	// short: it was already reported as too early.
	short bool
	// host that it goes to, and after how long its domain goes on with others if it hangs;
	// 0: at its end.
	host     string
	patience int64
}

// until is how long the domain waits for a request before it makes another.
func (a *attempt) until(next *attempt) int64 {
	if a.hangsAt(next) {
		return a.start + a.patience
	}
	return a.end
}

// hangsAt tells whether a request hung when one to another host began.
func (a *attempt) hangsAt(next *attempt) bool {
	return a.patience > 0 && a.host != next.host && a.start+a.patience <= next.start && next.start < a.end
}

// pace is the last requests to a domain or an origin, in the order of their starts, as
// far as the next one depends on them.
type pace struct{ recent []attempt }

// spare attempts are kept because outcomes may be written in another order than their
// requests were made.
const spare = 2

// mostKept bounds the attempts that are kept because they hang.
const mostKept = 4 * politeness.MaxHanging

// interval is two requests that are too close.
type interval struct {
	before, after attempt
	// needed between them, microseconds.
	needed int64
	// hanging requests there are besides, if they are too many.
	hanging int
	// overlap: they are more at once than is allowed.
	overlap bool
}

// text describes the interval between two requests to whose; atOnce may be made at the
// same time.
func (i interval) text(whose string, atOnce int) string {
	gap := time.Duration(i.after.start-i.before.until(&i.after)) * time.Microsecond
	switch {
	case i.hanging > 0:
		return fmt.Sprintf("a request to %s began while %d others hung, of at most %d", whose, i.hanging, politeness.MaxHanging)
	case i.before.hangsAt(&i.after):
		return fmt.Sprintf("a request to %s began %v after the one before it was known to hang, and the delay in force was %v",
			whose, gap, time.Duration(i.needed)*time.Microsecond)
	case i.overlap:
		return fmt.Sprintf("a request to %s began %v before the end of the one before it, and %d may be made at once", whose, -gap, atOnce)
	}
	return fmt.Sprintf("a request to %s began %v after the end of the one before it, and the delay in force was %v",
		whose, gap, time.Duration(i.needed)*time.Microsecond)
}

func (a attempt) times() string {
	return fmt.Sprintf("from %s on, for %v", clock(a.start/1000), time.Duration(a.end-a.start)*time.Microsecond)
}

// limits are what a pace is compared with.
type limits struct {
	// atOnce is how many requests may be made at the same time, each with a
	// delay of its own.
	atOnce int
	// needed between two requests, and by how much the interval may be too short
	// because of the clocks; microseconds.
	needed, tolerance func(before, after *attempt) int64
}

// add adds a request. It returns the requests that are too early: this one, or later
// ones that were added before.
func (p *pace) add(a attempt, l limits) (early []interval) {
	at, _ := slices.BinarySearchFunc(p.recent, a, func(x, y attempt) int { return cmp.Or(cmp.Compare(x.start, y.start), -1) })
	p.recent = slices.Insert(p.recent, at, a)
	for ; at < len(p.recent); at++ {
		if p.recent[at].short {
			continue
		}
		if i, ok := p.judge(at, l); ok {
			p.recent[at].short = true
			early = append(early, i)
		}
	}
	latest := p.recent[len(p.recent)-1].start
	for i := 0; i < len(p.recent)-l.atOnce-spare; {
		if b := p.recent[i]; b.patience > 0 && b.end > latest && len(p.recent) < mostKept {
			i++
			continue
		}
		p.recent = slices.Delete(p.recent, i, i+1)
	}
	return early
}

// judge reports whether request i is too early: at its start, as many others as are
// allowed were open or within their delay.
func (p *pace) judge(i int, l limits) (interval, bool) {
	after := &p.recent[i]
	worst, running, near, hanging := interval{after: *after}, 0, 0, 0
	for j := range i {
		before := &p.recent[j]
		if before.hangsAt(after) {
			hanging++
		}
		free := after.start - before.until(after) + l.tolerance(before, after)
		needed := l.needed(before, after)
		if free < needed {
			near++
		}
		if free < 0 {
			running++
		}
		if free < needed && (worst.before.end == 0 || before.end > worst.before.end) {
			worst.before, worst.needed = *before, needed
		}
	}
	if hanging > politeness.MaxHanging {
		worst.hanging = hanging
	}
	worst.overlap = running >= l.atOnce || worst.hanging > 0
	return worst, near >= l.atOnce || worst.overlap
}

// neededOfDomain is the delay in force between two requests of a domain, microseconds. Within a
// visit it is the visit's delay. If a visit is slower than the visit before, two reasons do not
// count for its first request, and the delay of the former visit holds: the server was slow,
// which counts from the second request on; or a Crawl-delay, which counts from the last request
// to its origin.
func neededOfDomain(before, after *attempt) int64 {
	needed := after.delayMS
	slower := after.visit != before.visit && after.delayMS > before.delayMS
	if slower && after.delayMS <= max(after.responseMS, after.crawlMS) {
		needed = before.delayMS
	}
	return int64(needed) * 1000
}

// neededOfOrigin is the Crawl-delay in force when the later request was released.
func neededOfOrigin(_, after *attempt) int64 { return int64(after.crawlMS) * 1000 }
