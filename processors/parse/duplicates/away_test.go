package duplicates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is given away, or was an earlier life's, stays on disk as long as it may
// come back, and is read from the log when it comes back later.
func TestPartitionsThatAreAway(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	b := newOwner(t, dir, log)
	b.OnAssigned([]int32{0, 1, 2, 7})
	for partition := range int32(3) {
		b.put(t, partition, page("a", "x.example", 1, 0xff))
		b.put(t, partition, page("z", "x.example", 2, 0xff00ff))
	}
	b.OnRevoked(t.Context(), []int32{1})
	b.close(t)

	b = newOwner(t, dir, log)
	defer b.close(t)
	const later = time.Hour/2 + time.Minute
	kept := func(when string, partition int32, id string, want ...int32) {
		t.Helper()
		b.clock = b.clock.Add(later)
		b.put(t, partition, page(id, "x.example", 9, 0xabcdef))
		got, err := b.store.partitions()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	b.OnAssigned([]int32{0, 1})
	kept("begun", 0, "b", 0, 1, 2)
	b.OnRevoked(t.Context(), []int32{1}) // without a page
	kept("half an hour", 0, "c", 0, 1, 2)
	kept("an hour", 0, "d", 0, 1)
	b.OnAssigned([]int32{1}) // in time
	kept("one has come back", 0, "e", 0, 1)
	kept("and stays, idle as it is", 0, "f", 0, 1)
	reads := log.reads
	if v := b.put(t, 1, page("g", "x.example", 1, 0xff)); v.ID != "a" || log.reads != reads+1 { // what was not folded yet
		t.Errorf("came back in time: %+v, %d read", v, log.reads-reads)
	}
	b.OnRevoked(t.Context(), []int32{0})
	kept("another is away", 1, "h", 0, 1)
	kept("for half an hour", 1, "i", 0, 1)
	kept("for an hour", 1, "j", 1)
	reads = log.reads
	if v := b.put(t, 0, page("k", "x.example", 1, 0xff)); v.ID != "a" || log.reads != reads+7 {
		t.Errorf("came back too late: %+v, %d read", v, log.reads-reads)
	}
}
