package verify

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/topics"
)

// ledgers are the two of a crawl: scheduled, folded, and deduped.
type ledgers struct {
	*judge
	up         *upstream
	partitions map[int32]*partition // of scheduled
	dedupe     map[int32]*chain
	// Whole: the ledger begins with its first event in every partition.
	scheduledWhole, dedupedWhole bool
	// held counts URLs in traps, and mergedAway URLs that are merged into others.
	held, mergedAway int64
}

// read reads scheduled and then deduped. The bounds of scheduled are read first, so that
// deduped has all URLs that are admitted there.
func (l *ledgers) read(ctx context.Context) error {
	scheduled, err := l.reader.Bounds(ctx, l.names.Scheduled)
	if err != nil {
		return err
	}
	deduped, err := l.reader.Bounds(ctx, l.names.Deduped)
	if err != nil {
		return err
	}
	if len(scheduled) != len(deduped) {
		return fmt.Errorf("%s has %d partitions, %s %d", l.names.Scheduled, len(scheduled), l.names.Deduped, len(deduped))
	}
	l.scheduledWhole = l.whole(l.names.Scheduled, scheduled, Journeys, Pages, URLs)
	l.dedupedWhole = l.whole(l.names.Deduped, deduped, Journeys, URLs)
	for number, b := range scheduled {
		l.partitions[number] = &partition{
			judge: l.judge, number: number, whole: b.Start == 0,
			chain:   newChain(l.outcome, l.names.Inputs(topics.Schedule)),
			domains: map[string]*domain{}, visits: map[string]*visit{}, cutOff: map[string]int{}, uncounted: map[string]int{},
		}
		l.dedupe[number] = newChain(l.outcome, l.names.Inputs(topics.Dedupe))
	}
	if err := l.reader.Range(ctx, l.names.Scheduled, scheduled, l.schedule); err != nil {
		return err
	}
	if err := l.reader.Range(ctx, l.names.Deduped, deduped, l.dedup); err != nil {
		return err
	}
	l.admittedAll()
	return l.within(ctx)
}

// whole reports whether a ledger begins with its first event. If not, it notes what is
// not proven.
func (l *ledgers) whole(topic string, bounds map[int32]topiclog.Bounds, claims ...Claim) bool {
	whole := true
	for partition, b := range bounds {
		if b.Start == 0 {
			continue
		}
		whole = false
		for _, claim := range claims {
			l.unproven(claim, fmt.Sprintf("what only the trimmed part of %s/%d, below %d, tells", topic, partition, b.Start))
		}
	}
	return whole
}

func (l *ledgers) schedule(r *kgo.Record) error {
	p := l.partitions[r.Partition]
	var body weftpb.Scheduled
	if l.decode(r, p.chain.read(r), &body) {
		p.fold(r, &body)
	}
	return nil
}

// violate reports a violation that a record of deduped shows; does is what it does.
func (l *ledgers) violate(r *kgo.Record, kind Kind, url, says, does string) {
	l.judge.violate(Violation{Kind: kind, Domain: string(r.Key), URL: url, Says: says, Records: []RecordRef{recordOf(r, does)}})
}

// decode decodes the body of an event and reports whether there is one. ev is nil for an
// event that is not valid.
func (l *ledgers) decode(r *kgo.Record, ev *weftpb.Event, body proto.Message) bool {
	if ev == nil || len(ev.Body) == 0 {
		return false
	}
	if err := proto.Unmarshal(ev.Body, body); err != nil {
		l.judge.violate(Violation{Kind: KindCorrupt, Says: "the body of an event cannot be read", Records: []RecordRef{recordOf(r, "")}})
		return false
	}
	return true
}

// dedup compares a record of deduped with what schedule admitted.
func (l *ledgers) dedup(r *kgo.Record) error {
	var body weftpb.Deduped
	if !l.decode(r, l.dedupe[r.Partition].read(r), &body) {
		return nil
	}
	p := l.partitions[r.Partition]
	read := r.Offset <= p.chain.position(l.names.Deduped)
	l.parked(r, &body)
	for _, url := range urlsOf(body.Targets) {
		print, e := l.table.get(url)
		if body.Lifted != nil {
			e = l.lifted(r, url, e)
		}
		e = l.returned(e)
		if e.is(inDeduped) {
			l.violate(r, KindDedupedTwice, url, "it is new a second time", "calls it new")
		}
		e.marks |= inDeduped
		if e.place < queued {
			e.place = onTheWay
		}
		l.table.put(print, e)
		switch {
		case !read:
			l.transit(Journeys, 1)
		case !p.whole:
		case !e.place.admitted():
			l.violate(r, KindNotAdmitted, url, "schedule has read it and did not admit it", "calls it new")
		default:
			l.shown(Journeys, 1)
		}
	}
	l.merged(r, &body)
	l.twins(r, &body)
	return nil
}

// admittedAll judges that all admitted URLs are in deduped.
func (l *ledgers) admittedAll() {
	if !l.dedupedWhole {
		return
	}
	l.table.each(func(print fingerprint, e entry) {
		if e.place.admitted() && !e.is(inDeduped) {
			l.judge.violate(Violation{
				Kind: KindNotDeduped, Says: "it was admitted, and is not in " + l.names.Deduped, print: print,
				Records: []RecordRef{{Topic: l.names.Scheduled, Partition: e.partition, Offset: e.at, Says: "admits it"}},
			})
		}
	})
}

// within compares positions with the ends of inputs, which are read last.
func (l *ledgers) within(ctx context.Context) error {
	for _, stage := range topics.StagesOf(topics.Ledger) {
		for _, input := range l.names.Inputs(stage) {
			after, err := l.reader.Bounds(ctx, input)
			if err != nil {
				return err
			}
			for number, p := range l.partitions {
				chain, topic := p.chain, l.names.Scheduled
				if stage == topics.Dedupe {
					chain, topic = l.dedupe[number], l.names.Deduped
				}
				chain.within(topic, input, number, l.up.starts[input][number], after[number], l.up.commits[input][number])
			}
		}
	}
	l.noteWithheld()
	l.note("%d claims; %d events of fenced owners and %d behind a lost event do not count", l.counts.claims, l.counts.fenced, l.counts.displaced)
	l.noteAny(l.counts.strangers, "%d records of the ledgers are no events: other programs wrote them, and they do not count")
	return nil
}
