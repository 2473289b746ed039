package verify

import (
	"encoding/binary"
	"maps"
	"os"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

func newTable(tb testing.TB) *table {
	tb.Helper()
	dir := tb.TempDir()
	tb.Setenv("TMPDIR", dir)
	t, err := openTable()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := t.store.Close(); err != nil {
			tb.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			tb.Errorf("left: %v, %v", left, err)
		}
	})
	return t
}

// BenchmarkTable measures what a million URLs cost in memory.
func BenchmarkTable(b *testing.B) {
	const urls = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		t := newTable(b)
		for n := range uint64(urls) {
			t.onItsWay(numbered(n))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/urls, "B/URL")
		runtime.KeepAlive(t)
	}
}

func numbered(n uint64) (print fingerprint) {
	binary.BigEndian.PutUint64(print[:], n*0x9e3779b97f4a7c15)
	return print
}

// What memory holds of the table does not grow with it, and what it does not
// hold is found.
func TestTableHoldsMoreThanMemory(t *testing.T) {
	table := newTable(t)
	table.maxRecent = 10_000
	const urls = 25_000
	for n := range uint64(urls) {
		table.put(numbered(n), entry{at: int64(n), place: queued})
		if len(table.recent) > table.maxRecent {
			t.Fatalf("%d entries are in memory", len(table.recent))
		}
	}
	for n := uint64(0); n < urls; n += 97 {
		if e := table.find(numbered(n)); e.at != int64(n) || e.place != queued {
			t.Fatalf("URL %d is %+v", n, e)
		}
	}
	count := 0
	table.each(func(fingerprint, entry) { count++ })
	if err := table.store.Err(); count != urls || err != nil {
		t.Errorf("%d of %d URLs, %v", count, urls, err)
	}
}

// A table is a map, whatever is written to disk meanwhile.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := openTable()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := table.store.Close(); err != nil {
				t.Error(err)
			}
		}()
		want := map[fingerprint]entry{}
		entries := rapid.Custom(func(t *rapid.T) entry {
			return entry{
				at: rapid.Int64().Draw(t, "at"), partition: rapid.Int32().Draw(t, "partition"), delayMS: rapid.Uint32().Draw(t, "delay"),
				root: rapid.String().Draw(t, "root"), place: place(rapid.Uint8().Draw(t, "place")), attempts: rapid.Uint8().Draw(t, "attempts"),
				releases: rapid.Uint8().Draw(t, "releases"), round: rapid.Uint8().Draw(t, "round"), marks: marks(rapid.Uint16().Draw(t, "marks")),
			}
		})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			print := numbered(rapid.Uint64Range(0, 8).Draw(t, "url"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				want[print] = entries.Draw(t, "entry")
				table.put(print, want[print])
			case 1:
				if got := table.find(print); got != want[print] {
					t.Fatalf("found %+v, want %+v", got, want[print])
				}
			case 2:
				table.flush()
			case 3:
				got := map[fingerprint]entry{}
				table.each(func(print fingerprint, e entry) { got[print] = e })
				if !maps.Equal(got, want) {
					t.Fatalf("holds %v, want %v", got, want)
				}
			}
		}
	})
}
