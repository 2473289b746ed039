package topiclog_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
)

// records are a log from offset 0 on.
type records [][]byte

func (r *records) event(t rapid.TB, ev *weftpb.Event) {
	value, err := proto.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	*r = append(*r, value)
}

// scan visits the records within bounds.
func (r records) scan(within topiclog.Bounds, visit func(*kgo.Record) error) error {
	for offset := within.Start; offset < within.End; offset++ {
		if err := visit(&kgo.Record{Topic: topic, Offset: offset, Value: r[offset]}); err != nil {
			return err
		}
	}
	return nil
}

func (r records) lastDecision(within topiclog.Bounds) (*weftpb.Scheduled, error) {
	last, err := topiclog.ReadLast(within, r.scan)
	return last.Decision, err
}

// The last decision is found wherever it is: before any number of claims, moved
// positions, and events of owners that were fenced.
func TestLastDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log records
		fenced := false       // by a stranger, who takes the place of an event
		var epoch, last int64 // offset of the last decision; 0: none, a claim is there
		decide := func(epoch, offset, oldest int64) {
			body, err := proto.Marshal(&weftpb.Scheduled{DecidedMs: offset, Oldest: oldest})
			if err != nil {
				t.Fatal(err)
			}
			log.event(t, &weftpb.Event{Epoch: epoch, Offset: offset, Body: body})
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "stretches") {
			what := "claim"
			if i > 0 {
				what = rapid.SampledFrom([]string{"claim", "moved", "fenced", "stranger", "decision"}).Draw(t, "what")
			}
			for range rapid.SampledFrom([]int{1, 2, 62, 63, 64, 65, 1100}).Draw(t, "times") {
				if fenced && (what == "moved" || what == "decision") {
					log.event(t, &weftpb.Event{Claim: &weftpb.Claim{Owner: "again"}})
					epoch, fenced = int64(len(log)), false
				}
				switch at := int64(len(log)); what {
				case "stranger":
					log, fenced = append(log, []byte("\xff")), true
				case "claim":
					log.event(t, &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}})
					epoch, fenced = at+1, false
				case "moved":
					log.event(t, &weftpb.Event{Epoch: epoch, Offset: at, Positions: []*weftpb.Position{{Topic: "deduped"}}})
				case "fenced": // its owner did not know of the second claim
					if epoch > 1 {
						decide(1, at-1, 1)
					}
				case "decision":
					decide(epoch, at, at+rapid.Int64Range(-1, 1).Draw(t, "oldest"))
					last = at
				}
			}
		}
		got, err := log.lastDecision(topiclog.Bounds{End: int64(len(log))})
		if err != nil || (got == nil) != (last == 0) || got.GetDecidedMs() != last {
			t.Fatalf("found %v, %v; want that at %d", got, err, last)
		}
		if got.GetOldest() > last || got.GetOldest() < last-1 {
			t.Errorf("the one at %d calls %d the oldest", last, got.GetOldest())
		}
		if last == 0 {
			return
		}
		beyond := topiclog.Bounds{Start: last + 1, End: int64(len(log))}
		if got, err := log.lastDecision(beyond); got != nil || err != nil {
			t.Errorf("in a log that begins behind it: %v, %v", got, err)
		}
	})
}

func TestLastDecisionOfACorruptLedger(t *testing.T) {
	var damaged records
	damaged.event(t, &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}})
	damaged.event(t, &weftpb.Event{Epoch: 1, Offset: 1, Body: []byte{0xff}})
	turned := records{}
	turned.event(t, &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}})
	event, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	event[1] ^= 1
	turned = append(turned, event)
	for name, log := range map[string]records{"turned bits": turned, "no decision": damaged} {
		if got, err := log.lastDecision(topiclog.Bounds{End: int64(len(log))}); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestReaderLastDecision(t *testing.T) {
	l := newLog(t)
	for _, test := range []struct {
		trim  int64
		found bool
	}{{0, true}, {2, true}, {3, true}, {5, false}} {
		l.trim(t, 0, test.trim)
		got, err := l.reader.LastDecision(l.ctx, topic, 0, topiclog.Bounds{Start: test.trim, End: 5})
		if err != nil || (got != nil) != test.found {
			t.Errorf("trimmed to %d: %v, %v", test.trim, got, err)
		}
	}
}
