package processors

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/bodies"
)

func (b workbench) collector() *collector {
	b.t.Helper()
	c, err := newCollector(b.Env)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.close)
	return c
}

// there are the pages whose bodies are in the store.
func (b workbench) there() (pages []string) {
	b.t.Helper()
	for key, err := range b.Bodies.Keys(b.t.Context()) {
		if err != nil {
			b.t.Fatal(err)
		}
		page, _, _ := strings.Cut(path.Base(key.Name), ".")
		pages = append(pages, page)
	}
	slices.Sort(pages)
	return pages
}

func (b workbench) holds(when string, pages ...string) {
	b.t.Helper()
	if got := b.there(); !slices.Equal(got, pages) {
		b.t.Errorf("%s the store holds %q, want %q", when, got, pages)
	}
}

// trim lets fetched begin at an offset.
func (b workbench) trim(to int64) {
	b.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(b.Names.Fetched, 0, to, -1)
	deleted, err := b.admin.DeleteRecords(b.t.Context(), offsets)
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b workbench) sweep(c *collector, atRest bool) {
	b.t.Helper()
	if err := c.sweep(b.t.Context(), atRest); err != nil {
		b.t.Fatal(err)
	}
}

// A body goes when the log begins behind its record, however long ago that was
// read: somebody else may have to read it still.
func TestBodiesGoWithTheirRecords(t *testing.T) {
	b := newWorkbench(t)
	b.withBodies()
	c := b.collector()
	for i, title := range []string{"a", "b", "c"} {
		value, key := b.page(title)
		b.write(b.Names.Fetched, string(value))
		c.parsed(&kgo.Record{Offset: int64(i)}, key)
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
	b := newWorkbench(t)
	_, bucket := b.withBodies()
	c := b.collector()
	value, key := b.page("a")
	b.write(b.Names.Fetched, string(value), "another")
	c.parsed(&kgo.Record{Offset: 0}, key)
	b.trim(1)
	bucket.down.Store(true)
	if err := c.collect(t.Context()); err == nil {
		t.Error("no error")
	}
	bucket.down.Store(false)
	if err := c.collect(t.Context()); err != nil {
		t.Error(err)
	}
	b.holds("at last")
}

// What no record refers to goes in the second round that finds it; what one
// refers to, be it one in rejected, stays.
func TestSweep(t *testing.T) {
	b := newWorkbench(t)
	b.withBodies()
	c := b.collector()
	recorded, _ := b.page("recorded")
	trimmed, _ := b.page("trimmed")
	rejected, _ := b.page("rejected")
	late, _ := b.page("late")
	b.page("orphan")
	b.write(b.Names.Fetched, string(trimmed), string(rejected), string(recorded))
	aside, err := b.aside("parse")
	if err != nil {
		t.Fatal(err)
	}
	defer aside.client.Close()
	if err := aside.setAside(t.Context(), &kgo.Record{Topic: b.Names.Fetched, Value: rejected}, reasonPanic); err != nil {
		t.Fatal(err)
	}
	b.trim(2)
	b.sweep(c, false)
	b.holds("in the first round", "late", "orphan", "recorded", "rejected", "trimmed")
	b.write(b.Names.Fetched, string(late))
	b.page("young")
	b.sweep(c, false)
	b.holds("in the second", "late", "recorded", "rejected", "young")

	// Those whose records it has met go with them.
	b.write(b.Names.Fetched, "another")
	b.trim(4)
	if err := c.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.holds("when their records are trimmed", "rejected", "young")

	// What was replayed is found behind what was looked through before.
	b.write(b.Names.Fetched, string(rejected))
	b.sweep(c, false)
	b.sweep(c, false)
	if _, ok := c.places[bodies.Reference(rejected).GetKey()]; !ok {
		t.Error("a replayed record is not found")
	}
	b.holds("after a third and a fourth", "rejected")
}

// A round that fails has seen nothing: what it had sighted is young again.
func TestSweepBeginsAnewAfterTrouble(t *testing.T) {
	b := newWorkbench(t)
	_, bucket := b.withBodies()
	c := b.collector()
	b.page("orphan")
	b.sweep(c, false)
	bucket.down.Store(true)
	if err := c.sweep(t.Context(), false); err == nil {
		t.Error("no error")
	}
	bucket.down.Store(false)
	b.sweep(c, false)
	b.holds("in the first round after trouble", "orphan")
	b.sweep(c, false)
	b.holds("in the second")
}

// Where nobody writes, one round is enough.
func TestSweepAtRest(t *testing.T) {
	b := newWorkbench(t)
	b.withBodies()
	value, _ := b.page("recorded")
	b.page("orphan")
	b.write(b.Names.Fetched, string(value))
	if err := CollectBodies(t.Context(), b.Env); err != nil {
		t.Fatal(err)
	}
	b.holds("at rest", "recorded")
}
