package verify

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// parked books the URLs that an event of dedupe holds back. Each is new there,
// as one that is admitted, and stays where it is until an event lifts its trap.
func (l *ledgers) parked(r *kgo.Record, body *weftpb.Deduped) {
	for _, trap := range body.Parked {
		for _, url := range urlsOf(trap.Targets) {
			print, e := l.table.get(url)
			if e.is(inDeduped) || e.place == heldBack {
				l.violate(Violation{
					Kind: KindDedupedTwice, Domain: string(r.Key), URL: url, Says: "it is held back and was not new",
					Records: []Record{recordOf(r, "holds it back: "+trap.Reason)},
				})
				continue
			}
			if !e.place.admitted() { // else what lifts it is still to come, or never does
				e.place = heldBack
				l.shown(Journeys, 1)
			}
			e.marks |= inTrap
			l.table.put(print, e)
			l.held++
		}
	}
}

// lifted books that a URL is let out of a trap.
func (l *ledgers) lifted(r *kgo.Record, url string, e entry) entry {
	switch {
	case e.is(inTrap):
		e.marks &^= inTrap
		l.held--
	case l.dedupedWhole:
		l.violate(Violation{
			Kind: KindNotParked, Domain: string(r.Key), URL: url, Says: "it comes out of a trap that it was not in",
			Records: []Record{recordOf(r, "lets it out")},
		})
	}
	return e
}

// noteParked tells how many URLs are held back.
func (l *ledgers) noteParked() {
	if l.held > 0 {
		l.note(fmt.Sprintf("%d URLs are held back in traps", l.held))
	}
}
