package stage_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// While nothing is acknowledged an Outbox takes records of four mebibytes, and no more. What waits is
// written when there is room, and Flush waits for it.
func TestOutboxBoundsWhatIsOnItsWay(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	out, err := b.NewOutbox(topics.Parse)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	const records = 10
	busy, room := make(chan struct{}), make(chan struct{})
	send := func(ctx context.Context, value string, then func(*kgo.Record, error)) {
		out.Send(ctx, stage.Output{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: []byte(value)}, then)
	}
	send(t.Context(), "first", func(*kgo.Record, error) { // acknowledgements are handled one after another
		close(busy)
		<-room
	})
	<-busy
	var written atomic.Int64
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range records {
			send(t.Context(), string(make([]byte, 1<<20-1)), func(_ *kgo.Record, err error) { // with its key a mebibyte
				if err == nil {
					written.Add(1)
				}
			})
		}
	}()
	b.Until(func() bool { return out.Client.BufferedProduceRecords() >= 4 }, "no record is sent")
	select {
	case <-sent:
		t.Errorf("%d bytes are on their way", out.Client.BufferedProduceBytes())
	case <-time.After(50 * time.Millisecond):
	}
	ended, end := context.WithCancel(t.Context())
	end()
	lost := make(chan error, 1)
	send(ended, "lost", func(_ *kgo.Record, err error) { lost <- err })
	if err := <-lost; err == nil {
		t.Error("a record is written although its context has ended before there is room")
	}
	close(room)
	<-sent
	if err := out.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := written.Load(); n != records {
		t.Errorf("%d of %d records are written after a flush", n, records)
	}
	// A record that is larger than the bound is on its way alone.
	large := make(chan error, 1)
	send(t.Context(), string(make([]byte, 5<<20)), func(_ *kgo.Record, err error) { large <- err })
	if err := <-large; err != nil {
		t.Error(err)
	}
}

// What cannot be written says where to.
func TestOutboxNamesTheTopicOfAFailure(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	out, err := b.NewOutbox(topics.Parse)
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	lost := make(chan error, 1)
	out.Send(t.Context(), stage.Output{Topic: b.Names.Parsed, Domain: "k.example"}, func(_ *kgo.Record, err error) { lost <- err })
	if err := <-lost; !errors.Is(err, kgo.ErrClientClosed) || !strings.HasPrefix(err.Error(), "write to "+b.Names.Parsed+"/") {
		t.Error(err)
	}
}
