package broker

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
)

func recordsComeBackAsWritten(c corner) {
	topic := c.topic("t", 1)
	at := time.UnixMilli(1_700_000_000_123)
	written := []*kgo.Record{
		{Value: []byte("value")},
		{Key: []byte("key"), Value: []byte{}},
		{Key: []byte{}, Value: nil},
		{Key: []byte("é\x00\xff"), Value: []byte(strings.Repeat("again and ", 10_000)), Headers: []kgo.RecordHeader{
			{Key: "partition", Value: []byte{0, 0, 0, 7}}, {Key: "", Value: nil}, {Key: "partition", Value: []byte{}},
		}},
	}
	var offset int64
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		producer := c.connect(kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(10*time.Millisecond))
		var batch []*kgo.Record
		for i, r := range written {
			copied := *r
			copied.Topic, copied.Timestamp = topic, at.Add(time.Duration(i)*time.Second)
			batch = append(batch, &copied)
		}
		if err := producer.ProduceSync(c.ctx, batch...).FirstErr(); err != nil {
			c.Errorf("%s: %v", name, err)
			continue
		}
		for i, got := range c.read(c.from(topic, kgo.NewOffset().At(offset)), len(written))[:len(written)] {
			want := written[i]
			if got.Offset != offset || !got.Timestamp.Equal(at.Add(time.Duration(i)*time.Second)) {
				c.Errorf("%s: record %d is at %d, of %v", name, i, got.Offset, got.Timestamp)
			}
			// Byte for byte, cmp takes long under the race detector.
			sent, came := content{want.Key, want.Value, want.Headers}, content{got.Key, got.Value, got.Headers}
			if !reflect.DeepEqual(sent, came) {
				c.Errorf("%s: record %d (-want +got):\n%s", name, i, cmp.Diff(sent, came))
			}
			offset++
		}
	}
}

type content struct {
	Key, Value []byte
	Headers    []kgo.RecordHeader
}

// Acknowledgements come in order, and offsets are without gaps, however much is
// in flight.
func recordsKeepTheirOrder(c corner) {
	topic := c.topic("t", 1)
	producer := c.connect(kgo.RequiredAcks(kgo.AllISRAcks()))
	const n = 3000
	var (
		acked   []int64
		all     sync.WaitGroup
		written []string
	)
	all.Add(n)
	for i := range n {
		written = append(written, strconv.Itoa(i))
		producer.Produce(c.ctx, &kgo.Record{Topic: topic, Value: []byte(written[i])}, func(r *kgo.Record, err error) {
			defer all.Done()
			if err != nil {
				c.Error(err)
			}
			acked = append(acked, r.Offset)
		})
	}
	all.Wait()
	for i, at := range acked {
		if at != int64(i) {
			c.Fatalf("acknowledgement %d is of offset %d", i, at)
		}
	}
	if diff := cmp.Diff(written, values(c.read(c.from(topic, kgo.NewOffset().At(0)), n))); diff != "" {
		c.Errorf("-written +read:\n%s", diff)
	}
}

// A batch that is sent again because its acknowledgement was lost is told where
// it stands, and does not stand there twice.
func repeatedBatchIsDropped(c corner) {
	topic := c.topic("t", 1)
	p := c.producer()
	for sequence := range int32(3) {
		if at, err := p.append(topic, 0, sequence, "v"); err != nil || at != int64(sequence) {
			c.Fatalf("batch %d is at %d: %v", sequence, at, err)
		}
	}
	for _, sequence := range []int32{2, 1, 0} {
		if at, err := p.append(topic, 0, sequence, "v"); err != nil || at != int64(sequence) {
			c.Errorf("batch %d again is at %d: %v", sequence, at, err)
		}
	}
	if _, end := c.bounds(topic); end != 3 {
		c.Errorf("the log ends at %d", end)
	}
}

// A batch behind one that was lost is refused: it would stand before it.
func gapInSequenceIsRefused(c corner) {
	topic := c.topic("t", 1)
	p := c.producer()
	if _, err := p.append(topic, 0, 0, "v"); err != nil {
		c.Fatal(err)
	}
	if at, err := p.append(topic, 0, 2, "v"); !errors.Is(err, kerr.OutOfOrderSequenceNumber) {
		c.Errorf("a batch after a gap is at %d: %v", at, err)
	}
	if at, err := p.append(topic, 0, 1, "v"); err != nil || at != 1 {
		c.Errorf("the batch that was missing is at %d: %v", at, err)
	}
}

func oldEpochIsRefused(c corner) {
	topic := c.topic("t", 1)
	p := c.producer()
	for epoch, want := range []int64{0, 1} {
		if at, err := p.append(topic, int16(epoch), 0, "v"); err != nil || at != want {
			c.Fatalf("the first batch of epoch %d is at %d: %v", epoch, at, err)
		}
	}
	if at, err := p.append(topic, 0, 1, "v"); !errors.Is(err, kerr.InvalidProducerEpoch) {
		c.Errorf("a batch of an old epoch is at %d: %v", at, err)
	}
}

func producersHaveTheirOwnIDs(c corner) {
	a, b := c.producer(), c.producer()
	if a.id == b.id || a.id < 0 || b.id < 0 {
		c.Errorf("two producers have the ids %d and %d", a.id, b.id)
	}
}

// The owner of a ledger's partition learns from the gap in its offsets that
// another has claimed it.
func writersOfALedgerFence(c corner) {
	topic := c.topic("ledger", 1)
	claim := func(name string) *ledger.Writer {
		w := ledger.NewWriter(c.connect(kgo.RequiredAcks(kgo.AllISRAcks())), topic, 0)
		if _, err := w.Claim(c.ctx, []byte(name)); err != nil {
			c.Fatal(err)
		}
		return w
	}
	appended := func(w *ledger.Writer) error {
		w.Append("k", []byte("event"), func(int64, error) {})
		return w.Flush(c.ctx)
	}
	first := claim("first")
	if err := appended(first); err != nil {
		c.Fatal(err)
	}
	second := claim("second")
	if err := appended(first); !errors.Is(err, ledger.ErrFenced) {
		c.Errorf("the owner of before: %v", err)
	}
	if err := appended(first); !errors.Is(err, ledger.ErrFenced) {
		c.Errorf("the owner of before, again: %v", err)
	}
	// The second owner notices the event that the first one got through.
	if err := appended(second); !errors.Is(err, ledger.ErrFenced) {
		c.Errorf("the owner of now: %v", err)
	}
	third := claim("third")
	for range 3 {
		if err := appended(third); err != nil {
			c.Errorf("the owner alone: %v", err)
		}
	}
}
