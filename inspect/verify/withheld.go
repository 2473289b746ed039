package verify

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/dedupe/foreign"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
)

// parked counts the URLs that an event of dedupe holds back in traps. Each is new there,
// as an admitted URL is, and stays in its place until an event lifts its trap.
func (l *ledgers) parked(r *kgo.Record, body *weftpb.Deduped) {
	for _, trap := range body.Parked {
		for _, url := range urlsOf(trap.Targets) {
			print, e := l.table.get(url)
			if e.is(inDeduped) || e.place == heldBack {
				l.violate(r, KindDedupedTwice, url, "it is held back and was not new", "holds it back: "+trap.Reason)
				continue
			}
			if !e.place.admitted() { // else a later event may lift it
				e.place = heldBack
				l.shown(Journeys, 1)
			}
			e.marks |= inTrap
			l.table.put(print, e)
			l.held++
		}
	}
}

// lifted counts that a URL leaves its trap.
func (l *ledgers) lifted(r *kgo.Record, url string, e entry) entry {
	switch {
	case e.is(inTrap):
		e.marks &^= inTrap
		l.held--
	case l.dedupedWhole:
		l.violate(r, KindNotParked, url, "it comes out of a trap that it was not in", "lets it out")
	}
	return e
}

// merged counts the URLs that an event of dedupe merges into others. Each is new there,
// and the URL that is kept is known from the same event or an earlier one. A merged URL
// that comes back is among the targets of a later event.
func (l *ledgers) merged(r *kgo.Record, body *weftpb.Deduped) {
	for _, m := range body.Merged {
		url := m.GetTarget().GetUrl()
		print, e := l.table.get(url)
		if e.is(inDeduped) || e.place == heldBack || e.is(isMerged) {
			l.violate(r, KindDedupedTwice, url, "it is given up and was not new", "has "+m.Kept+" stand for it")
			continue
		}
		if _, kept := l.table.get(m.Kept); !kept.is(inDeduped) && kept.place != heldBack && !kept.is(isMerged) && l.dedupedWhole {
			l.violate(r, KindNoStandIn, url, m.Kept+" stands for it, which is not in the crawl", "has the other stand for it")
		}
		if !e.place.admitted() { // else it comes back later
			e.place = merged
			l.shown(Journeys, 1)
		}
		e.marks |= isMerged
		l.table.put(print, e)
		l.mergedAway++
	}
}

// returned counts that a URL is in the crawl, also if it was merged before.
func (l *ledgers) returned(e entry) entry {
	if e.is(isMerged) {
		e.marks &^= isMerged
		l.mergedAway--
	}
	return e
}

// twins judges that the URL for which another one waits in a group is in the crawl, from the
// same event of dedupe or an earlier one. Its parked and merged URLs are counted before.
func (l *ledgers) twins(r *kgo.Record, body *weftpb.Deduped) {
	for _, t := range body.Targets {
		if t.Group == "" || traps.IsGroup(t.Group) || foreign.IsGroup(t.Group) || body.Lifted != nil {
			continue
		}
		_, twin := l.table.get(t.Twin)
		if !twin.is(inDeduped) && !twin.is(inTrap) && !twin.is(isMerged) && l.dedupedWhole {
			l.violate(r, KindNoStandIn, t.Url, fmt.Sprintf("it waits aside for %q, which is not in the crawl", t.Twin), "has it wait in group "+t.Group)
		}
	}
}

// noteWithheld notes how many URLs dedupe withholds, and how many are withdrawn from the
// queues unless their group comes back.
func (l *ledgers) noteWithheld() {
	var withdrawn int64
	for _, p := range l.partitions {
		withdrawn += p.have.withdrawn
	}
	l.noteAny(l.held, "%d URLs are held back in traps")
	l.noteAny(l.mergedAway, "%d URLs are not crawled because others of their site stand for them")
	l.noteAny(withdrawn, "%d URLs are withdrawn: they wait aside for others of their site that were named before, are of a trap, or are entries of a sitemap that their host does not name")
}
