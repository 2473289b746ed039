package duplicates

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/similar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a log of pages by partition.
type memory struct {
	mu    sync.Mutex
	start map[int32]int64
	pages map[int32][]Page
	reads int
	err   error
}

func newMemory() *memory { return &memory{start: map[int32]int64{}, pages: map[int32][]Page{}} }

func (m *memory) Bounds(_ context.Context, p int32) (start, end int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.start[p], int64(len(m.pages[p])), m.err
}

func (m *memory) Range(_ context.Context, p int32, from, to int64, visit func(Record) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o := from; o < to && m.err == nil; o++ {
		m.reads++
		page := m.pages[p][o]
		r := Record{Offset: o, Bytes: 100, Page: &page}
		if page.Print.Empty() {
			r.Page = nil
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return m.err
}

func (m *memory) write(p int32, page Page) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages[p] = append(m.pages[p], page)
	return int64(len(m.pages[p]) - 1)
}

// bench is an index over a log.
type bench struct {
	*Index
	log *memory
	dir string
}

func newBench(t rapid.TB, dir string, log *memory) *bench { return newBenchOn(t, nil, dir, log) }

func newBenchOn(t rapid.TB, fs vfs.FS, dir string, log *memory) *bench {
	o := DefaultOptions()
	o.fs = fs
	o.Dir, o.MemtableBytes, o.FlushBytes = dir, 256<<10, 1000
	x, err := Open(o, log)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{x, log, dir}
}

// kill ends the index without a flush: what is not in tables is gone.
func (b *bench) kill(t rapid.TB) {
	if err := errors.Join(b.store.db.Close(), b.store.lock.Release()); err != nil {
		t.Fatal(err)
	}
}

// page of a domain with a text and a SimHash.
func page(id, domain string, text byte, sim uint64) Page {
	return Page{ID: id, URL: "https://" + domain + "/" + id, Domain: domain, Print: similar.Print{Hash: similar.Hash{text, 1}, Sim: sim}}
}

// put judges a page and writes it.
func (b *bench) put(t rapid.TB, partition int32, p Page) Verdict {
	var verdict Verdict
	if err := b.Judge(context.Background(), partition, p, func(v Verdict, written func(int64, int64, error)) {
		verdict, p.Verdict = v, v
		written(b.log.write(partition, p), 100, nil)
	}); err != nil {
		t.Fatal(err)
	}
	return verdict
}

func (b *bench) close(t rapid.TB) {
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestVerdicts(t *testing.T) {
	b := newBench(t, t.TempDir(), newMemory())
	defer b.close(t)
	for _, step := range []struct {
		what     string
		page     Page
		of       string
		distance int
		own      bool
	}{
		{"the first", page("a", "one.example", 1, 0xff00), "", 0, false},
		{"again", page("a", "one.example", 1, 0xff00), "", 0, false},
		{"the same text", page("b", "one.example", 1, 0xff00), "a", 0, true},
		{"near", page("c", "one.example", 2, 0xff03), "a", 2, true},
		{"near, again", page("c", "one.example", 2, 0xff03), "a", 2, true},
		{"the same as what was near", page("d", "one.example", 2, 0xff03), "c", 0, true},
		{"near to what was near only", page("e", "one.example", 3, 0xff1f), "", 0, false},
		{"too far", page("f", "one.example", 4, 0xffff00), "", 0, false},
		{"no bit differs", page("g", "one.example", 5, 0xff00), "a", 1, true},
		{"the same text of another domain", page("h", "two.example", 1, 0xff00), "a", 0, false},
		{"the same text of one's own before", page("i", "two.example", 1, 0xff00), "h", 0, true},
		{"near to one's own before others", page("j", "two.example", 6, 0xff07), "h", 3, true},
		{"near to another domain", page("k", "three.example", 7, 0xff01), "a", 1, false},
		{"near to one's own, which was near to another", page("l", "three.example", 8, 0xff01|1<<60), "k", 1, true},
		{"a short text", page("m", "one.example", 9, 0), "", 0, false},
		{"a short text again", page("n", "one.example", 9, 0), "m", 0, true},
		{"no text", Page{ID: "o", Domain: "one.example"}, "", 0, false},
		{"no text again", Page{ID: "p", Domain: "one.example"}, "", 0, false},
		{"a page whose text changed a bit", page("a", "one.example", 10, 0xff01), "", 0, false},
		{"and one like that", page("q", "one.example", 10, 0xff01), "a", 0, true},
	} {
		want := Verdict{Distance: step.distance, Own: step.own}
		if step.of != "" {
			for _, p := range b.log.pages[0] {
				if p.ID == step.of {
					want.ID, want.URL = p.ID, p.URL
				}
			}
		}
		if got := b.put(t, 0, step.page); got != want {
			t.Errorf("%s (%s): %+v, want %+v", step.what, step.page.ID, got, want)
		}
	}
	if got := b.put(t, 1, page("z", "one.example", 1, 0xff00)); got.Duplicate() {
		t.Errorf("found across partitions: %v", got)
	}
}

// Pages in flight are found, in the order in which they are handed on.
func TestInFlight(t *testing.T) {
	log := newMemory()
	b := newBench(t, t.TempDir(), log)
	defer b.close(t)
	var acknowledge []func()
	judge := func(p Page, err error) (verdict Verdict) {
		if err := b.Judge(t.Context(), 0, p, func(v Verdict, written func(int64, int64, error)) {
			verdict, p.Verdict = v, v
			acknowledge = append(acknowledge, func() {
				if err != nil {
					written(0, 0, err)
					return
				}
				written(log.write(0, p), 100, nil)
			})
		}); err != nil {
			t.Fatal(err)
		}
		return verdict
	}
	lost := errors.New("too large")
	judge(page("a", "x.example", 1, 0xff), nil)
	if v := judge(page("b", "x.example", 1, 0xff), nil); v.ID != "a" || v.Distance != 0 {
		t.Errorf("the same in flight: %+v", v)
	}
	if v := judge(page("c", "x.example", 2, 0xfe), nil); v.ID != "a" || v.Distance != 1 {
		t.Errorf("near in flight: %+v", v)
	}
	if v := judge(page("c", "x.example", 2, 0xfe), nil); v.ID != "a" {
		t.Errorf("a repeat in flight: %+v", v)
	}
	judge(page("d", "x.example", 3, 0xabcdef), lost)
	for _, ack := range acknowledge {
		ack()
	}
	if v := judge(page("e", "x.example", 3, 0xabcdef), nil); v.Duplicate() {
		t.Errorf("a duplicate of what was not written: %+v", v)
	}
	if log.reads > 0 {
		t.Errorf("%d records read back", log.reads)
	}
}

// Whoever writes, whenever processes end, and wherever partitions go, the index is
// the fold of the log: each text is found, no page is its own duplicate, names lead
// to earlier records, and a repeat is answered as the first time.
func TestFoldOfTheLog(t *testing.T) {
	base := t.TempDir()
	var run int
	rapid.Check(t, func(t *rapid.T) {
		run++
		log, fs := newMemory(), vfs.NewMem()
		dirs := []string{filepath.Join(base, fmt.Sprint(run, "a")), filepath.Join(base, fmt.Sprint(run, "b"))}
		owners := []*bench{newBenchOn(t, fs, dirs[0], log), newBenchOn(t, fs, dirs[1], log)}
		defer func() {
			for _, o := range owners {
				o.close(t)
			}
		}()
		now := 0
		first := map[string]Verdict{} // by id and text
		texts := map[similar.Hash]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"put", "put", "put", "put", "move", "restart", "kill", "lose"}).Draw(t, "what") {
			case "move":
				now = 1 - now
				owners[now].Take([]int32{0})
			case "restart":
				owners[now].close(t)
				owners[now] = newBenchOn(t, fs, dirs[now], log)
			case "kill": // what was not on disk is gone
				owners[now].kill(t)
				owners[now] = newBenchOn(t, fs, dirs[now], log)
			case "lose":
				owners[now].close(t)
				dirs[now] += "l"
				owners[now] = newBenchOn(t, fs, dirs[now], log)
			case "put":
				n := rapid.IntRange(0, 12).Draw(t, "page")
				p := page(fmt.Sprint("p", n), fmt.Sprintf("d%d.example", n%2), byte(1+n/3), 0xf0f0+uint64(n/3)*0x10101)
				key := p.ID + p.Print.Hash.String()
				v := owners[now].put(t, 0, p)
				was, again := first[key]
				switch {
				case again && v != was:
					t.Fatalf("%s: %+v, was %+v", key, v, was)
				case v.ID == p.ID:
					t.Fatalf("%s is its own duplicate", p.ID)
				case !again && texts[p.Print.Hash] && (!v.Duplicate() || v.Distance != 0):
					t.Fatalf("%s: the text is known, and the verdict is %+v", key, v)
				}
				if v.Duplicate() && !again {
					earlier := false
					for _, q := range log.pages[0][:len(log.pages[0])-1] {
						earlier = earlier || q.ID == v.ID
					}
					if !earlier {
						t.Fatalf("%s is a duplicate of %s, which is not before it", p.ID, v.ID)
					}
				}
				first[key], texts[p.Print.Hash] = v, true
			}
		}
	})
}

// What others wrote between one's own records is found by the gap in offsets.
func TestGap(t *testing.T) {
	log := newMemory()
	b := newBench(t, t.TempDir(), log)
	defer b.close(t)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	log.write(0, page("zombie", "x.example", 2, 0xabcdef))
	b.put(t, 0, page("b", "x.example", 3, 0x1234567))
	if v := b.put(t, 0, page("c", "x.example", 2, 0xabcdef)); v.ID != "zombie" {
		t.Errorf("%+v", v)
	}
}

// The log may begin later than the fold goes on, and end before it.
func TestTrimmedAndCutLogs(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	b := newBench(t, dir, log)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	b.put(t, 0, page("b", "x.example", 2, 0xff00ff))
	b.close(t)
	for range 3 {
		log.write(0, page("gone", "x.example", 3, 0xabcdef))
	}
	log.start[0] = 4
	b = newBench(t, dir, log)
	if v := b.put(t, 0, page("c", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 1 {
		t.Errorf("trimmed: %+v, %d read", v, log.reads)
	}
	b.close(t)
	log.pages[0], log.start[0] = log.pages[0][:1], 0
	b = newBench(t, dir, log)
	defer b.close(t)
	if v := b.put(t, 0, page("d", "x.example", 2, 0xff00ff)); v.Duplicate() {
		t.Errorf("cut: a duplicate of a page that is not in the log: %+v", v)
	}
	if v := b.put(t, 0, page("e", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("cut: %+v", v)
	}
}

// An index that cannot be read is built anew.
func TestDamage(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	b := newBench(t, dir, log)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	b.close(t)
	manifests, err := filepath.Glob(filepath.Join(dir, "0", "index", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, name := range manifests {
		if err := os.WriteFile(name, []byte("no manifest"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b = newBench(t, dir, log)
	defer b.close(t)
	if v := b.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 1 {
		t.Errorf("%+v, %d read", v, log.reads)
	}
	// And one that turns out to be so while it is used.
	b.judge(errEntry)
	if v := b.put(t, 0, page("c", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 3 {
		t.Errorf("%+v, %d read", v, log.reads)
	}
}

func TestTroubleWithTheLogIsTriedAgain(t *testing.T) {
	log := newMemory()
	log.write(0, page("a", "x.example", 1, 0xff))
	b := newBench(t, t.TempDir(), log)
	defer b.close(t)
	log.err = errors.New("no broker")
	err := b.Judge(t.Context(), 0, page("b", "x.example", 1, 0xff), func(Verdict, func(int64, int64, error)) {
		t.Error("judged without the log")
	})
	if !errors.Is(err, log.err) {
		t.Errorf("%v", err)
	}
	log.err = nil
	if v := b.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("%+v", v)
	}
}

// Two processes on one directory have an index each.
func TestTwoProcesses(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	one, two := newBench(t, dir, log), newBench(t, dir, log)
	defer one.close(t)
	defer two.close(t)
	one.put(t, 0, page("a", "x.example", 1, 0xff))
	if v := two.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("%+v", v)
	}
}

// Release waits for what is in flight, and not longer than it may.
func TestRelease(t *testing.T) {
	b := newBench(t, t.TempDir(), newMemory())
	defer b.close(t)
	var written func(int64, int64, error)
	if err := b.Judge(t.Context(), 0, page("a", "x.example", 1, 0xff), func(_ Verdict, w func(int64, int64, error)) { written = w }); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.Release(ended, []int32{0, 7})
	released := make(chan struct{})
	go func() { defer close(released); b.Release(context.WithoutCancel(t.Context()), []int32{0}) }()
	select {
	case <-released:
		t.Error("released before the page is written")
	default:
	}
	written(0, 100, nil)
	<-released
}

// A search finds exactly what a look at all finds, once each.
func TestNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		flip := func(sim uint64) uint64 {
			for range r.IntN(6) {
				sim ^= 1 << r.IntN(64)
			}
			return sim
		}
		centre := r.Uint64()
		var n near
		want := map[int]int{}
		for i := range rapid.SampledFrom([]int{0, 1, 500, 3000}).Draw(t, "others") {
			sim := r.Uint64()
			if r.IntN(4) == 0 {
				sim = flip(centre)
			}
			n.add(sim, uint64(i))
			if d := similar.Bits(sim, centre); d <= similar.MaxDistance {
				want[i] = d
			}
		}
		n.search(centre, len(n.sims), func(number, distance int, domain uint32) {
			if d, ok := want[number]; !ok || d != distance || int(domain) != number {
				t.Fatalf("%d at %d of %d, want %d, %v", number, distance, domain, d, ok)
			}
			delete(want, number)
		})
		if len(want) > 0 {
			t.Fatalf("not found: %v", want)
		}
	})
}

// However many share a band, a search ends.
func TestMaxLooks(t *testing.T) {
	var n near
	for i := range 1000 {
		n.add(42, uint64(i))
	}
	found := 0
	n.search(42, 10, func(int, int, uint32) { found++ })
	if found != 10 {
		t.Errorf("%d looked at", found)
	}
}

// FuzzEntry: whatever is stored, reading it fails or gives an entry that is stored
// the same.
func FuzzEntry(f *testing.F) {
	f.Add([]byte{})
	f.Add(entryOf(page("id", "x.example", 1, 2)).append(nil))
	p := page("id", "x.example", 1, 2)
	p.Verdict = Verdict{ID: "other", URL: "https://x.example/other", Distance: 3, Own: true}
	f.Add(entryOf(p).append(nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		e, err := readEntry(similar.Hash{9}, value)
		if err != nil {
			return
		}
		again, err := readEntry(similar.Hash{9}, e.append(nil))
		if err != nil || again != e {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
	})
}

// BenchmarkJudge judges and folds pages of 50 domains: one of ten a duplicate, one
// of ten nearly so.
func BenchmarkJudge(b *testing.B) {
	log := &silentLog{}
	o := DefaultOptions()
	o.Dir = b.TempDir()
	x, err := Open(o, log)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var known []Page
	offset := int64(0)
	put := func() {
		n := r.IntN(10)
		domain := fmt.Sprintf("site-%d.example", r.IntN(50))
		p := Page{ID: fmt.Sprintf("%032x", r.Uint64()), URL: fmt.Sprintf("https://www.%s/articles/%d/page", domain, offset), Domain: domain}
		switch {
		case n == 0 && len(known) > 0:
			p.Print = known[r.IntN(len(known))].Print
		default:
			for i := range 2 {
				v := r.Uint64()
				for j := range 8 {
					p.Print.Hash[8*i+j] = byte(v >> (8 * j))
				}
			}
			p.Print.Sim = r.Uint64() | 1
			if n == 1 && len(known) > 0 {
				p.Print.Sim = known[r.IntN(len(known))].Print.Sim ^ 1<<40
			}
			known = append(known, p)
		}
		err := x.Judge(context.Background(), 0, p, func(_ Verdict, written func(int64, int64, error)) {
			written(offset, 10_000, nil)
			offset++
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 100_000 {
		put()
	}
	b.ReportAllocs()
	for b.Loop() {
		put()
	}
	b.StopTimer()
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	var size int64
	_ = filepath.Walk(o.Dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return nil
	})
	b.ReportMetric(float64(size)/float64(offset), "disk-B/page")
}

type silentLog struct{}

func (*silentLog) Bounds(context.Context, int32) (start, end int64, err error) { return 0, 0, nil }
func (*silentLog) Range(context.Context, int32, int64, int64, func(Record) error) error {
	return nil
}
