package ledger

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// newBenchTable returns a live table over Pebble and a log in memory.
func newBenchTable(b *testing.B) *table {
	b.Helper()
	w := &world{}
	o := Options{Brokers: []string{"none"}, Dir: b.TempDir(), CheckpointEvery: time.Hour}.withDefaults()
	r := &runner{
		Definition: Define(w.stage()), opts: o, log: slog.New(slog.DiscardHandler),
		cache: pebble.NewCache(o.CacheBytes), tables: map[int32]*table{},
	}
	b.Cleanup(r.cache.Unref)
	store, err := openStore(b.TempDir(), r.cache, uint64(o.MemtableBytes))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.close(); err != nil {
			b.Error(err)
		}
	})
	core, err := NewPartition(r.Definition, 0, store, Nothing(), PartitionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	t := &table{run: r, store: store, Partition: core, session: unmarked{}}
	t.writer = NewWriter(&tape{}, ledgerTopic, 0)
	offset, err := t.writer.Claim(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	t.folded, t.reader.Epoch, t.live = offset, offset+1, true
	return t
}

// BenchmarkApply decides, frames, folds and appends one event an input.
func BenchmarkApply(b *testing.B) {
	t := newBenchTable(b)
	in := t.run.inputs[0]
	body := []byte("an event of a few hundred bytes, as most are: " + fmt.Sprintf("%0200d", 7))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		event, err := t.answer(Record{Topic: in.topic, Key: "example.org", Value: body, Offset: int64(i)})
		if err != nil {
			b.Fatal(err)
		}
		if err := t.Set("example.org", event); err != nil {
			b.Fatal(err)
		}
		t.emit("example.org", event).Then(func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReplay folds recorded events, as recovery does: of a stage that
// marks what it has seen, as dedupe does, with one write of 16 bytes, and of
// one that reads and writes a long key.
func BenchmarkReplay(b *testing.B) {
	b.Run("marks", func(b *testing.B) {
		t := newBenchTable(b)
		t.state = marks{t.store}
		replay(b, t)
	})
	b.Run("words", func(b *testing.B) { replay(b, newBenchTable(b)) })
}

// marks is a state that remembers the last 16 bytes of each event.
type marks struct{ store Store }

func (m marks) Apply(_ string, body []byte, _ int64) error {
	m.store.Set(body[len(body)-16:], nil)
	return nil
}

func (m marks) Due(time.Time, int) []string { return nil }
func (m marks) Close()                      {}

func replay(b *testing.B, t *table) {
	b.Helper()
	from := t.folded + 1
	events := make([][]byte, 4096)
	for i := range events {
		events[i] = encode(&weftpb.Event{
			Epoch: t.reader.Epoch, Offset: from + int64(i), Body: fmt.Appendf(nil, "word %0210d%016x", 7, uint64(i)*0x9e3779b97f4a7c15),
			Positions: []*weftpb.Position{{Topic: inTopic, Offset: int64(i), TimestampMs: 1795252235152 + int64(i)}},
		})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(events) == 0 {
			t.folded = from - 1 // again from the start
		}
		if err := t.fold("example.org", events[i%len(events)], from+int64(i%len(events))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
