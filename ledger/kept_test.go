package ledger

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Rule 6: ledgers are kept whole. A ledger that was trimmed above the checkpoint cannot be
// recovered, and missing events are not skipped.
func TestRule6LedgersAreKeptWhole(t *testing.T) {
	t.Parallel()
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		w := worked(t, "a")
		check(t, os.RemoveAll(w.dir))
		check(t, w.cluster.DeleteRecords(ledgerTopic, 0, 1))
		w.endsWith(w.runs(w.options()), ErrTrimmed, ledgerTopic+"/0")
	})
	t.Run("below the checkpoint", func(t *testing.T) {
		t.Parallel()
		w := worked(t, numbers(0, 5)...)
		check(t, w.cluster.DeleteRecords(ledgerTopic, 0, w.end()))
		stop := w.start(w.options())
		w.produce(numbers(5, 10)...)
		w.untilCommitted(10)
		for _, n := range numbers(0, 10) {
			if w.newest().count(n) != 1 {
				t.Errorf("%s was applied %d times", n, w.newest().count(n))
			}
		}
		mustStop(t, stop)
	})
	// Between the look at the log's start and the recovery: goka would go on
	// where the log begins now.
	t.Run("while recovering", func(t *testing.T) {
		t.Parallel()
		w := worked(t, numbers(0, 50)...)
		check(t, os.RemoveAll(w.dir))
		asked := 0
		w.cluster.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.cluster.KeepControl()
			topic := req.(*kmsg.ListOffsetsRequest).Topics[0]
			if topic.Topic == ledgerTopic && topic.Partitions[0].Timestamp == -2 {
				if asked++; asked == 2 {
					w.cluster.DropControl()
					w.cluster.SleepControl(func() { check(t, w.cluster.DeleteRecords(ledgerTopic, 0, 20)) })
				}
			}
			return nil, nil, false
		})
		w.endsWith(w.runs(w.options()), ErrTrimmed, ledgerTopic+"/0")
	})
}

// worked returns a world whose stage made an event of each of values, and was
// stopped.
func worked(t *testing.T, values ...string) *world {
	t.Helper()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(values...)
	valid(w, len(values))
	mustStop(t, stop)
	return w
}

// runs is the error with which a stage ends that cannot go on.
func (w *world) runs(o Options) error {
	ended := make(chan error, 1)
	go func() { ended <- Run(w.t.Context(), w.stage(), o) }()
	return within(patience, ended)
}

// Rule 7: a damaged event is fatal and named.
func TestRule7DamageIsFatal(t *testing.T) {
	t.Parallel()
	claim := encode(&weftpb.Event{Claim: &weftpb.Claim{}})
	for name, records := range map[string]func(at int64) (values [][]byte, damaged int64){
		"a wrong checksum": func(at int64) ([][]byte, int64) {
			ev := encode(&weftpb.Event{Epoch: at + 1, Offset: at + 1, Body: []byte("damage")})
			ev[bytes.Index(ev, []byte("damage"))] ^= 1
			return [][]byte{claim, ev}, at + 1
		},
		"a claim with a wrong checksum": func(at int64) ([][]byte, int64) {
			ev := encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "damage"}})
			ev[bytes.Index(ev, []byte("damage"))] ^= 1
			return [][]byte{ev, encode(&weftpb.Event{Epoch: at + 1, Offset: at + 1, Body: []byte("b")})}, at
		},
		"an event that says no more where it belongs": func(at int64) ([][]byte, int64) {
			ev := encode(&weftpb.Event{Epoch: at + 1, Offset: at + 7, Body: []byte("damage")})
			ev[bytes.Index(ev, []byte("damage"))] ^= 1
			return [][]byte{claim, ev, encode(&weftpb.Event{Epoch: at + 1, Offset: at + 2, Body: []byte("b")})}, at + 1
		},
		"something else where an acknowledged event was": func(at int64) ([][]byte, int64) {
			return [][]byte{claim, []byte("\xff\xff"), encode(&weftpb.Event{Epoch: at + 1, Offset: at + 2, Body: []byte("b")})}, at + 1
		},
		"something else where a claim was": func(at int64) ([][]byte, int64) {
			return [][]byte{[]byte("\xff\xff"), encode(&weftpb.Event{Epoch: at + 1, Offset: at + 1, Body: []byte("b")})}, at
		},
		"an impossible event": func(at int64) ([][]byte, int64) {
			return [][]byte{claim, encode(&weftpb.Event{Epoch: at + 1, Offset: at + 1, Body: []byte("impossible")})}, at + 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worked(t, "a")
			check(t, os.RemoveAll(w.dir))
			values, damaged := records(w.end())
			for _, value := range values {
				check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: value}).FirstErr())
			}
			w.endsWith(w.runs(w.options()), ErrCorrupt, ledgerTopic+"/0 at "+strconv.Itoa(int(damaged)))
		})
	}
}

// Rule 8: records of strangers are skipped and counted, while the stage runs and when it recovers.
// The owner whose place they took claims again.
func TestRule8StrangersArePassedOver(t *testing.T) {
	t.Parallel()
	w := worked(t, "0")
	var copied []byte // an event of the ledger, and of another one
	w.events(func(all []*weftpb.Event) bool {
		for _, ev := range all {
			if len(ev.Body) > 0 {
				copied = encode(ev)
			}
		}
		return copied != nil
	})
	strangers := map[string]*kgo.Record{
		"garbage":           {Key: []byte("k"), Value: []byte("\xff\xff\xff")},
		"text":              {Key: []byte("k"), Value: []byte("https://example.com/")},
		"empty":             {Key: []byte{}, Value: []byte{}},
		"nothing":           {},
		"a tombstone":       {Key: []byte("k")},
		"huge":              {Key: []byte("k"), Value: bytes.Repeat([]byte("weft"), 200<<10)},
		"another type":      {Key: []byte("k"), Value: mustMarshal(t, &weftpb.Normalized{Targets: []*weftpb.Target{{Url: "u"}}})},
		"as another claims": {Key: []byte("k"), Value: []byte{0x1a, 0, 0x48, 1}}, // a claim with a field that none has
		"no claim":          {Key: []byte("k"), Value: encode(&weftpb.Event{Body: []byte("x")})},
		"a copy":            {Key: []byte("k"), Value: copied},
		"a copied claim":    {Key: []byte("k"), Value: encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "copy"}})},
		"half an event":     {Key: []byte("k"), Value: copied[:len(copied)-3]},
		"a changed copy":    {Key: []byte("k"), Value: changed(copied)},
		"an event twice":    {Key: []byte("k"), Value: append(bytes.Clone(copied), copied...)},
		"a changed claim":   {Key: []byte("k"), Value: changed(encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "copy"}}))},
	}
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 2)
	for name, stranger := range strangers {
		stranger.Topic = ledgerTopic
		if err := w.client.ProduceSync(t.Context(), stranger).FirstErr(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	w.produce(numbers(1, 5)...)
	w.reaches(IncidentClaim, 3) // after the gap
	w.exactly(numbers(0, 5))
	live := w.newest().dump()
	mustStop(t, stop)
	w.sameAsRebuilt(live)
	if n := w.happened()[IncidentStranger]; n < len(strangers)-2 {
		t.Errorf("%d strangers were counted of %d, the two copies aside", n, len(strangers)-2)
	}
	w.events(func(all []*weftpb.Event) bool {
		for i := len(all) - 1; i >= 0; i-- {
			if ev := all[i]; ev.Epoch > 0 {
				if ev.Strangers != int64(len(strangers)-2) {
					t.Errorf("the last event counts %d strangers", ev.Strangers)
				}
				return true
			}
		}
		return false
	})
}

// changed is raw with another byte in its middle, behind what tells its fields.
func changed(raw []byte) []byte {
	raw = bytes.Clone(raw)
	raw[len(raw)/2] ^= 1
	return raw
}

func mustMarshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	check(t, err)
	return raw
}
