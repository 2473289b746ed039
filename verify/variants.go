package verify

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// merged books the URLs that an event of dedupe gives up. Each is new there, and
// the one that stands for it is known by then: in the same event or before. What
// comes back is among the targets of a later one.
func (l *ledgers) merged(r *kgo.Record, body *weftpb.Deduped) {
	for _, m := range body.Merged {
		url := m.GetTarget().GetUrl()
		print, e := l.table.get(url)
		if e.is(inDeduped) || e.place == heldBack || e.is(standsAside) {
			l.violate(Violation{
				Kind: KindDedupedTwice, Domain: string(r.Key), URL: url, Says: "it is given up and was not new",
				Records: []Record{recordOf(r, "has "+m.Kept+" stand for it")},
			})
			continue
		}
		if _, kept := l.table.get(m.Kept); !kept.is(inDeduped) && kept.place != heldBack && !kept.is(standsAside) && l.dedupedWhole {
			l.violate(Violation{
				Kind: KindNoStandIn, Domain: string(r.Key), URL: url, Says: m.Kept + " stands for it, which is not in the crawl",
				Records: []Record{recordOf(r, "has the other stand for it")},
			})
		}
		if !e.place.admitted() { // else it comes back later
			e.place = givenUp
			l.shown(Journeys, 1)
		}
		e.marks |= standsAside
		l.table.put(print, e)
		l.given++
	}
}

// returned books that a URL is in the crawl, be it that it was given up.
func (l *ledgers) returned(e entry) entry {
	if e.is(standsAside) {
		e.marks &^= standsAside
		l.given--
	}
	return e
}

// noteMerged tells for how many URLs others stand.
func (l *ledgers) noteMerged() {
	if l.given > 0 {
		l.note(fmt.Sprintf("%d URLs are not crawled because others of their site stand for them", l.given))
	}
}
