package ledger

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
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

// BenchmarkReplay folds recorded events, as recovery does.
func BenchmarkReplay(b *testing.B) {
	t := newBenchTable(b)
	from := t.folded + 1
	events := make([][]byte, 4096)
	for i := range events {
		events[i] = encode(&weftpb.Event{
			Epoch: t.reader.Epoch, Offset: from + int64(i), Body: []byte("word " + strconv.Itoa(i) + fmt.Sprintf("%0200d", 7)),
			Positions: []*weftpb.Position{{Topic: inTopic, Offset: int64(i)}},
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
