package broker

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
)

// The offset of a moment is the offset of the first record since then, or the end if there is no
// such record.
func offsetsOfTimes(c corner) {
	topic := c.topic("t", 2)
	noon := time.UnixMilli(1_700_000_000_000)
	for i := range 3 {
		r := &kgo.Record{Topic: topic, Value: []byte("v"), Timestamp: noon.Add(time.Duration(i) * time.Minute)}
		if err := c.client.ProduceSync(c.ctx, r).FirstErr(); err != nil {
			c.Fatal(err)
		}
	}
	for since, want := range map[time.Duration]int64{
		-time.Hour: 0, 0: 0, time.Second: 1, time.Minute: 1, 2 * time.Minute: 2, time.Hour: 3,
	} {
		listed, err := c.admin.ListOffsetsAfterMilli(c.ctx, noon.Add(since).UnixMilli(), topic)
		if err != nil {
			c.Fatal(err)
		}
		if o, _ := listed.Lookup(topic, 0); o.Offset != want || o.Err != nil {
			c.Errorf("%v after noon: offset %d, want %d: %v", since, o.Offset, want, o.Err)
		}
		if o, _ := listed.Lookup(topic, 1); o.Offset != 0 || o.Err != nil {
			c.Errorf("%v after noon: offset %d of an empty log: %v", since, o.Offset, o.Err)
		}
	}
}

// The bounds since a moment are right also while segments of records that were deleted still exist.
func offsetsOfTimesOfATrimmedLog(c corner) {
	topic := c.topic("t", 1, "segment.bytes", "1048576")
	noon := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	value := make([]byte, 600_000)
	_, _ = rand.Read(value) // cannot be compressed: a segment has one record
	for i := range 8 {
		r := &kgo.Record{Topic: topic, Value: value, Timestamp: noon.Add(time.Duration(i) * time.Minute)}
		if err := c.client.ProduceSync(c.ctx, r).FirstErr(); err != nil {
			c.Fatal(err)
		}
	}
	if err := c.trim(topic, 6); err != nil {
		c.Fatal(err)
	}
	for since, want := range map[time.Duration]int64{-time.Hour: 6, 0: 6, 6 * time.Minute: 6, time.Hour: 8} {
		bounds, err := kafka.BoundsSince(c.ctx, c.admin, topic, noon.Add(since).UnixMilli())
		if err != nil {
			c.Fatal(err)
		}
		if got := bounds[0]; got != (kafka.Bounds{Start: want, End: 8}) {
			c.Errorf("%v after noon: %+v, want %d to 8", since, got, want)
		}
	}
}

// trim deletes the records of partition 0 before an offset.
func (c corner) trim(topic string, to int64) error {
	c.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, to, -1)
	deleted, err := c.admin.DeleteRecords(c.ctx, offsets)
	if err != nil {
		c.Fatal(err)
	}
	return deleted.Error()
}

func logIsTrimmed(c corner) {
	topic := c.topic("t", 1)
	c.write(topic, "0", "1", "2", "3", "4")
	for _, step := range []struct{ to, start int64 }{{2, 2}, {1, 2}, {4, 4}} {
		err := c.trim(topic, step.to)
		if step.to < step.start && errors.Is(err, kerr.OffsetOutOfRange) {
			err = nil // kfake refuses what Kafka takes for done
		}
		if err != nil {
			c.Errorf("trim to %d: %v", step.to, err)
		}
		if start, end := c.bounds(topic); start != step.start || end != 5 {
			c.Errorf("trimmed to %d the log is from %d to %d", step.to, start, end)
		}
	}
	if err := c.trim(topic, 6); !errors.Is(err, kerr.OffsetOutOfRange) {
		c.Errorf("trim beyond the end: %v", err)
	}
	if got := values(c.read(c.from(topic, kgo.NewOffset().AtStart()), 1)); !slices.Equal(got, []string{"4"}) {
		c.Errorf("left are %q", got)
	}
}

func emptiedLogKeepsItsEnd(c corner) {
	topic := c.topic("t", 1)
	c.write(topic, "0", "1")
	if err := c.trim(topic, 2); err != nil {
		c.Fatal(err)
	}
	if start, end := c.bounds(topic); start != 2 || end != 2 {
		c.Errorf("emptied, the log is from %d to %d", start, end)
	}
	c.write(topic, "2")
	if r := c.read(c.from(topic, kgo.NewOffset().AtStart()), 1)[0]; r.Offset != 2 {
		c.Errorf("the next record is at %d", r.Offset)
	}
}

// A reader that wants an offset that is not there is told so, and is not sent
// elsewhere.
func outOfRangeIsTold(c corner) {
	topic := c.topic("t", 1)
	c.write(topic, "0", "1", "2", "3", "4")
	if err := c.trim(topic, 3); err != nil {
		c.Fatal(err)
	}
	for _, at := range []int64{0, 2, 6, 100} {
		fetches := c.from(topic, kgo.NewOffset().At(at), kgo.KeepRetryableFetchErrors()).PollFetches(c.ctx)
		if err := fetches.Err(); !errors.Is(err, kerr.OffsetOutOfRange) {
			c.Errorf("reading at %d: %v, and %q", at, err, values(fetches.Records()))
		}
	}
	if got := values(c.read(c.from(topic, kgo.NewOffset().At(3)), 2)); !slices.Equal(got, []string{"3", "4"}) {
		c.Errorf("reading at the start: %q", got)
	}
}

// A reader at the end gets the next record when it comes, without asking
// again and again.
func fetchWaitsForMore(c corner) {
	topic := c.topic("t", 1)
	c.write(topic, "old")
	reader := c.from(topic, kgo.NewOffset().At(1), kgo.FetchMaxWait(10*time.Second))
	polled := make(chan []string, 1)
	go func() { polled <- values(reader.PollFetches(c.ctx).Records()) }()
	c.write(topic, "new")
	select {
	case got := <-polled:
		if !slices.Equal(got, []string{"new"}) {
			c.Errorf("read %q", got)
		}
	case <-c.ctx.Done():
		c.Error("nothing came")
	}
}

// A record that is larger than what a fetch asks for comes all the same.
func recordLargerThanAFetch(c corner) {
	topic := c.topic("t", 1, "max.message.bytes", "16777216")
	page := make([]byte, 10<<20)
	_, _ = rand.Read(page) // never fails
	producer := c.connect(kgo.ProducerBatchMaxBytes(16 << 20))
	c.write(topic, "before")
	if err := producer.ProduceSync(c.ctx, &kgo.Record{Topic: topic, Value: page}).FirstErr(); err != nil {
		c.Fatal(err)
	}
	c.write(topic, "after")
	got := c.read(c.from(topic, kgo.NewOffset().At(0), kgo.FetchMaxBytes(2<<20), kgo.FetchMaxPartitionBytes(1<<20)), 3)
	if !bytes.Equal(got[1].Value, page) || string(got[2].Value) != "after" {
		c.Errorf("read records of %d, %d and %d bytes", len(got[0].Value), len(got[1].Value), len(got[2].Value))
	}
}
