package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kafka"
)

// newBenchTable returns a live table over Pebble and a log in memory.
func newBenchTable(b *testing.B) *table {
	b.Helper()
	w := &world{}
	o := Options{Cluster: kafka.At("none"), Dir: b.TempDir(), CheckpointEvery: time.Hour}.withDefaults()
	r := &runner{
		Processor: w.stage(), opts: o, log: slog.New(slog.DiscardHandler),
		cache: pebble.NewCache(cacheBytes),
	}
	b.Cleanup(r.cache.Unref)
	store, err := openStore(b.TempDir(), r.cache, memtableBytes)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.close(); err != nil {
			b.Error(err)
		}
	})
	core, err := NewPartition(r.Processor, 0, store, Nothing(), PartitionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	t := &table{run: r, store: store, Partition: core, member: &membership{commits: &committer{due: map[topicPartition]int64{}}}}
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
	in, out := t.run.Inputs[0], producer{table: t}
	body := []byte("an event of a few hundred bytes, as most are: " + fmt.Sprintf("%0200d", 7))
	if err := t.store.settle(); err != nil { // it is live
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		event, err := t.decide(InputRecord{Topic: in.Topic, Key: "example.org", Value: body, Offset: int64(i)})
		if err != nil {
			b.Fatal(err)
		}
		out.EmitWithHeaders(ledgerTopic, "example.org", event, nil).Then(func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReplay folds recorded events on one core, as recovery does, with
// all that Pebble does meanwhile: of a stage that marks what it has seen, as
// dedupe does, with one write of 16 bytes, and of one that reads and writes a
// long key. Marks are new each time. Words come again: soon, as a domain does
// in the frontier, or after so many others that each is read from a table.
func BenchmarkReplay(b *testing.B) {
	b.Run("marks", func(b *testing.B) {
		t := newBenchTable(b)
		t.state = marks{store: t.store}
		replay(b, t, math.MaxInt)
	})
	b.Run("words", func(b *testing.B) { replay(b, newBenchTable(b), 4096) })
	b.Run("wide", func(b *testing.B) { replay(b, newBenchTable(b), 100_000) })
}

// marks is a state that remembers the last 16 bytes of each event.
type marks struct {
	Untimed
	store Store
}

func (m marks) Apply(_ string, body []byte, _ int64) error {
	m.store.Set(body[len(body)-16:], nil)
	return nil
}

func (m marks) Decide(InputRecord, time.Time, int64) ([]byte, error) { return nil, nil }

// replay folds events of so many distinct words.
func replay(b *testing.B, t *table, distinct int) {
	b.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a core is a core
	from := t.folded + 1
	word := func(i int) uint64 { return uint64(i%distinct) * 0x9e3779b97f4a7c15 }
	events, words := make([][]byte, 4096), make([][]byte, 4096)
	for i := range events {
		body := fmt.Appendf(nil, "word %0210d%016x", 7, word(i))
		events[i] = encode(&weftpb.Event{
			Epoch: t.reader.Epoch, Offset: from + int64(i), Body: body,
			Positions: []*weftpb.Position{{Topic: inTopic, Offset: int64(i), TimestampMs: 1795252235152 + int64(i)}},
		})
		words[i] = events[i][bytes.Index(events[i], body):][len(body)-16 : len(body)]
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n := i % len(events)
		if n == 0 {
			t.folded = from - 1 // again from the start
		}
		var sum [8]byte
		binary.BigEndian.PutUint64(sum[:], word(i))
		hex.Encode(words[n], sum[:])
		if err := t.fold("example.org", events[n], from+int64(n)); err != nil {
			b.Fatal(err)
		}
	}
	b.StartTimer() // what is gathered counts, too
	if err := t.store.settle(); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
