package parse

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
)

// collecting is a workbench with a store of bodies.
type collecting struct{ stagetest.Workbench }

func newCollecting(t *testing.T) (b collecting, bucket *stagetest.Flaky) {
	t.Helper()
	b = collecting{stagetest.NewWorkbench(t)}
	_, bucket = b.WithBodies()
	return b, bucket
}

func (b collecting) collector() *bodyCollector {
	b.T.Helper()
	c, err := newBodyCollector(b.Env)
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(c.close)
	return c
}

// there are the pages whose bodies are in the store.
func (b collecting) there() (pages []string) {
	b.T.Helper()
	for key, err := range b.Bodies.Keys(b.T.Context()) {
		if err != nil {
			b.T.Fatal(err)
		}
		page, _, _ := strings.Cut(path.Base(key.Name), ".")
		pages = append(pages, page)
	}
	slices.Sort(pages)
	return pages
}

func (b collecting) holds(when string, pages ...string) {
	b.T.Helper()
	if got := b.there(); !slices.Equal(got, pages) {
		b.T.Errorf("%s the store holds %q, want %q", when, got, pages)
	}
}

// trim lets fetched begin at an offset.
func (b collecting) trim(to int64) {
	b.T.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(b.Names.Fetched, 0, to, -1)
	deleted, err := b.Admin.DeleteRecords(b.T.Context(), offsets)
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

func (b collecting) sweep(c *bodyCollector, atRest bool) {
	b.T.Helper()
	if err := c.sweep(b.T.Context(), atRest); err != nil {
		b.T.Fatal(err)
	}
}

// A body goes when the log begins behind its record, however long ago that was read: another
// reader may still need it.
func TestBodiesGoWithTheirRecords(t *testing.T) {
	b, _ := newCollecting(t)
	c := b.collector()
	for i, title := range []string{"a", "b", "c"} {
		value, key := b.Page(title)
		b.Write(b.Names.Fetched, string(value))
		c.used(&kgo.Record{Offset: int64(i)}, key)
	}
	collect := func() {
		t.Helper()
		if err := c.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	collect()
	b.holds("before any is trimmed", "a", "b", "c")
	b.trim(2)
	collect()
	b.holds("when two are trimmed", "c")
	collect()
	if len(c.places) != 1 {
		t.Errorf("it remembers %d places, want 1", len(c.places))
	}
}

// Trouble with one body leaves it for the next round.
func TestCollectingIsTriedAgain(t *testing.T) {
	b, bucket := newCollecting(t)
	c := b.collector()
	value, key := b.Page("a")
	b.Write(b.Names.Fetched, string(value), "another")
	c.used(&kgo.Record{Offset: 0}, key)
	b.trim(1)
	bucket.Down.Store(true)
	if err := c.collect(t.Context()); err == nil {
		t.Error("no error")
	}
	bucket.Down.Store(false)
	if err := c.collect(t.Context()); err != nil {
		t.Error(err)
	}
	b.holds("at last")
}

// What no record refers to goes in the second round that finds it; a body that a record refers to
// stays, also for a record of rejected.
func TestSweep(t *testing.T) {
	b, _ := newCollecting(t)
	c := b.collector()
	recorded, _ := b.Page("recorded")
	trimmed, _ := b.Page("trimmed")
	rejected, _ := b.Page("rejected")
	late, _ := b.Page("late")
	b.Page("orphan")
	b.Write(b.Names.Fetched, string(trimmed), string(rejected), string(recorded))
	rejects, err := b.NewOutbox("parse")
	if err != nil {
		t.Fatal(err)
	}
	defer rejects.Close()
	if err := rejects.Reject(t.Context(), &kgo.Record{Topic: b.Names.Fetched, Value: rejected}, stage.ReasonPanic); err != nil {
		t.Fatal(err)
	}
	b.trim(2)
	b.sweep(c, false)
	b.holds("in the first round", "late", "orphan", "recorded", "rejected", "trimmed")
	b.Write(b.Names.Fetched, string(late))
	b.Page("young")
	b.sweep(c, false)
	b.holds("in the second", "late", "recorded", "rejected", "young")

	// Those whose records it has met go with them.
	b.Write(b.Names.Fetched, "another")
	b.trim(4)
	if err := c.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.holds("when their records are trimmed", "rejected", "young")

	// What was replayed is found behind what was looked through before.
	b.Write(b.Names.Fetched, string(rejected))
	b.sweep(c, false)
	b.sweep(c, false)
	if _, ok := c.places[bodies.Reference(rejected).GetKey()]; !ok {
		t.Error("a replayed record is not found")
	}
	b.holds("after a third and a fourth", "rejected")
}

// A sweep that fails counts as if it had found nothing.
func TestSweepBeginsAnewAfterTrouble(t *testing.T) {
	b, bucket := newCollecting(t)
	c := b.collector()
	b.Page("orphan")
	b.sweep(c, false)
	bucket.Down.Store(true)
	if err := c.sweep(t.Context(), false); err == nil {
		t.Error("no error")
	}
	bucket.Down.Store(false)
	b.sweep(c, false)
	b.holds("in the first round after trouble", "orphan")
	b.sweep(c, false)
	b.holds("in the second")
}

// If no process writes, one round is enough.
func TestSweepAtRest(t *testing.T) {
	b, _ := newCollecting(t)
	value, _ := b.Page("recorded")
	b.Page("orphan")
	b.Write(b.Names.Fetched, string(value))
	if err := CollectBodies(t.Context(), b.Env); err != nil {
		t.Fatal(err)
	}
	b.holds("at rest", "recorded")
}
