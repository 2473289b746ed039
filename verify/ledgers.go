package verify

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// ledgers are the two of a crawl: scheduled, folded, and deduped.
type ledgers struct {
	*judge
	up         *upstream
	partitions map[int32]*partition // of scheduled
	dedupe     map[int32]*chain
	// wholes: the ledger begins with its first event in every partition.
	scheduledWhole, dedupedWhole bool
	// held counts URLs that are held back.
	held int64
	// given counts URLs that others stand for.
	given int64
}

func newLedgers(j *judge, up *upstream) *ledgers {
	return &ledgers{judge: j, up: up, partitions: map[int32]*partition{}, dedupe: map[int32]*chain{}}
}

// read reads scheduled, whose bounds are read first, so that all that it
// admitted is in what is read of deduped.
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
			chain:   newChain(l.findings, l.names.Inputs(topics.Schedule)),
			domains: map[string]*domain{}, visits: map[string]*visit{}, cutOff: map[string]int{},
		}
		l.dedupe[number] = newChain(l.findings, l.names.Inputs(topics.Dedupe))
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

// whole tells whether a ledger begins with its first event, and what is not
// proven when it does not.
func (l *ledgers) whole(topic string, bounds map[int32]replay.Bounds, claims ...Claim) bool {
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

// schedule folds a record of scheduled.
func (l *ledgers) schedule(r *kgo.Record) error {
	p := l.partitions[r.Partition]
	var body weftpb.Scheduled
	if l.says(r, p.chain.read(r), &body) {
		p.fold(r, &body)
	}
	return nil
}

// says decodes what the event of a record says; nil is one that does not count.
// It returns whether there is anything to read.
func (l *ledgers) says(r *kgo.Record, ev *weftpb.Event, body proto.Message) bool {
	if ev == nil || len(ev.Body) == 0 {
		return false
	}
	if err := proto.Unmarshal(ev.Body, body); err != nil {
		l.violate(Violation{Kind: KindCorrupt, Says: "the body of an event cannot be read", Records: []Record{recordOf(r, "")}})
		return false
	}
	return true
}

// dedup holds a record of deduped against what schedule admitted.
func (l *ledgers) dedup(r *kgo.Record) error {
	var body weftpb.Deduped
	if !l.says(r, l.dedupe[r.Partition].read(r), &body) {
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
			l.violate(Violation{
				Kind: KindDedupedTwice, Domain: string(r.Key), URL: url, Says: "it is new a second time",
				Records: []Record{recordOf(r, "calls it new")},
			})
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
			l.violate(Violation{
				Kind: KindNotAdmitted, Domain: string(r.Key), URL: url, Says: "schedule has read it and did not admit it",
				Records: []Record{recordOf(r, "calls it new")},
			})
		default:
			l.shown(Journeys, 1)
		}
	}
	l.merged(r, &body)
	l.twins(r, &body)
	return nil
}

// admittedAll looks for URLs that were admitted from nowhere.
func (l *ledgers) admittedAll() {
	if !l.dedupedWhole {
		return
	}
	l.table.each(func(print fingerprint, e entry) {
		if e.place.admitted() && !e.is(inDeduped) {
			l.violate(Violation{
				Kind: KindNotDeduped, Says: "it was admitted, and is not in " + l.names.Deduped, print: print,
				Records: []Record{{Topic: l.names.Scheduled, Partition: e.partition, Offset: e.at, Says: "admits it"}},
			})
		}
	})
}

// within holds positions against the ends of inputs, which are read last.
func (l *ledgers) within(ctx context.Context) error {
	for _, stage := range []topics.Stage{topics.Dedupe, topics.Schedule} {
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
	var claims, fenced, displaced, strangers int64
	for number, p := range l.partitions {
		for _, c := range []*chain{p.chain, l.dedupe[number]} {
			claims, fenced, displaced, strangers = claims+c.claims, fenced+c.fenced, displaced+c.displaced, strangers+c.strangers
		}
	}
	l.noteParked()
	l.noteMerged()
	l.noteWithdrawn()
	l.note(fmt.Sprintf("%d claims; %d events of fenced owners and %d behind a lost event do not count", claims, fenced, displaced))
	if strangers > 0 {
		l.note(fmt.Sprintf("%d records of the ledgers are no events: other programs wrote them, and they do not count", strangers))
	}
	return nil
}
