package ledger

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"
)

// Rule 4: the local store is a cache. A clean close publishes a checkpoint, the
// next start replays nothing of what it holds, and an unusable one costs a
// replay and no more.
func TestRule4StoreIsACache(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"published":        nil,
		"missing":          func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, checkpointFile))) },
		"directory gone":   func(t *testing.T, dir string) { check(t, os.RemoveAll(dir)) },
		"copy gone":        func(t *testing.T, dir string) { check(t, os.RemoveAll(copyIn(t, dir))) },
		"file gone":        func(t *testing.T, dir string) { check(t, os.Remove(copied(t, dir, "MANIFEST-*"))) },
		"name torn":        func(t *testing.T, dir string) { check(t, os.Truncate(filepath.Join(dir, checkpointFile), 40)) },
		"name empty":       func(t *testing.T, dir string) { check(t, os.Truncate(filepath.Join(dir, checkpointFile), 0)) },
		"name flipped":     func(t *testing.T, dir string) { flip(t, filepath.Join(dir, checkpointFile), 60) },
		"table truncated":  func(t *testing.T, dir string) { check(t, os.Truncate(copied(t, dir, "*.sst"), 10)) },
		"table flipped":    func(t *testing.T, dir string) { flip(t, copied(t, dir, "*.sst"), 20) },
		"manifest flipped": func(t *testing.T, dir string) { flip(t, copied(t, dir, "MANIFEST-*"), -20) },
		"manifest zeroed": func(t *testing.T, dir string) {
			name := copied(t, dir, "MANIFEST-*")
			size := sizeOf(t, name)
			check(t, os.Truncate(name, size/2)) // a power cut between size and content
			check(t, os.Truncate(name, size))
		},
		"later version":    rewrite(func(c *checkpoint) { c.Version++ }),
		"of another topic": rewrite(func(c *checkpoint) { c.Ledger = "another" }),
		"of another log":   rewrite(func(c *checkpoint) { c.Record++ }),
		"beyond the end":   rewrite(func(c *checkpoint) { c.Offset += 1000 }),
		"killed while copying": func(t *testing.T, dir string) {
			check(t, os.Mkdir(filepath.Join(dir, "copy-999"), 0o755))
			check(t, os.WriteFile(filepath.Join(dir, "copy-999", "MANIFEST-000001"), []byte("half"), 0o644))
		},
		"killed while publishing": func(t *testing.T, dir string) {
			check(t, os.WriteFile(filepath.Join(dir, checkpointFile+".next"), []byte(`{"checkpoint":{"ver`), 0o644))
			check(t, os.CopyFS(filepath.Join(dir, "copy-999"), os.DirFS(copyIn(t, dir))))
		},
		"killed while running": func(t *testing.T, dir string) {
			check(t, os.MkdirAll(filepath.Join(dir, scratchDir), 0o755))
			check(t, os.WriteFile(filepath.Join(dir, scratchDir, "CURRENT"), []byte("nonsense"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.start(w.options())
			w.produce(numbers(0, 50)...)
			w.exactly(numbers(0, 50))
			want := w.newest().dump()
			mustStop(t, stop)
			if spoil != nil {
				spoil(t, w.stateDir())
			}
			stop = w.start(w.options())
			w.reaches(IncidentClaim, 2)
			if d := cmp.Diff(want, w.newest().dump()); d != "" && name != "table flipped" { // found when it is read
				t.Errorf("state differs:\n%s", d)
			}
			w.produce(slices.Concat(numbers(0, 50), numbers(50, 60))...)
			w.exactly(slices.Concat(numbers(0, 50), numbers(0, 60)))
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}

// stateDir is the state directory of the world's partition.
func (w *world) stateDir() string {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.dir, "*", "*", "0"))
	check(w.t, err)
	if len(dirs) != 1 {
		w.t.Fatalf("state directories %q", dirs)
	}
	return dirs[0]
}

// ledgerOf returns the topic id in the name of a state directory.
func ledgerOf(dir string) string {
	return strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), ledgerTopic+"-")
}

// copyIn is the published copy in dir.
func copyIn(t *testing.T, dir string) string {
	t.Helper()
	c, err := readCheckpoint(dir, ledgerOf(dir))
	check(t, err)
	return filepath.Join(dir, c.Dir)
}

// copied is the first file of the published copy that matches.
func copied(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(copyIn(t, dir), pattern))
	check(t, err)
	if len(files) == 0 {
		t.Fatalf("no %s in the checkpoint", pattern)
	}
	return files[0]
}

// rewrite changes what the published checkpoint says of itself.
func rewrite(change func(*checkpoint)) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		c, err := readCheckpoint(dir, ledgerOf(dir))
		check(t, err)
		change(&c)
		check(t, c.publish(dir))
	}
}

// flip inverts a byte of a file, from its end if at is negative. A link of the file elsewhere keeps
// its contents.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	raw, err := os.ReadFile(name)
	check(t, err)
	if at < 0 {
		at += len(raw)
	}
	raw[at] ^= 0xff
	check(t, os.Remove(name))
	check(t, os.WriteFile(name, raw, 0o644))
}

func sizeOf(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	check(t, err)
	return info.Size()
}

// Whatever byte of a checkpoint is damaged: it is noticed, or what is read from
// it is what was written. It never passes for another state.
func TestDamageIsNeverTakenForState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(numbers(0, 200)...)
	w.exactly(numbers(0, 200))
	mustStop(t, stop)
	want := w.rebuilt()
	dir := w.stateDir()
	id := ledgerOf(dir)
	files, err := listFiles(copyIn(t, dir))
	check(t, err)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for name, size := range files {
		for range min(size, 40) {
			at := random.Int64N(size)
			broken := filepath.Join(t.TempDir(), ledgerTopic+"-"+id, "0")
			check(t, os.CopyFS(broken, os.DirFS(dir)))
			flip(t, filepath.Join(copyIn(t, broken), name), int(at))
			got, err := readState(broken, id)
			if err == nil && !cmp.Equal(want, got) {
				t.Errorf("seed %d: %s is damaged at %d, and %d of %d keys are read as if nothing were", seed, name, at, len(got), len(want))
			}
		}
	}
}

// readState reads the checkpoint in dir as a start does.
func readState(dir, id string) (state map[string]string, err error) {
	c, err := readCheckpoint(dir, id)
	if err != nil {
		return nil, err
	}
	scratch, err := makeScratch(dir, c.Dir)
	if err != nil {
		return nil, err
	}
	cache := pebble.NewCache(1 << 20)
	defer cache.Unref()
	store, err := openStore(scratch, cache, 1<<20)
	if err != nil {
		return nil, err
	}
	state = words{store: store}.dump()
	return state, errors.Join(store.Err(), store.close())
}

// Rule 4: while running, a checkpoint is published only after its last event
// is acknowledged.
func TestCheckpointWhileRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options()
	o.CheckpointEvery = time.Nanosecond
	stop := w.start(o)
	w.produceUntil(w.has(IncidentCheckpoint, 1))
	c, err := readCheckpoint(w.stateDir(), ledgerOf(w.stateDir()))
	check(t, err)
	if end := w.end(); c.Offset >= end {
		t.Errorf("checkpoint at %d, log ends at %d", c.Offset, end)
	}
	mustStop(t, stop)
}

// Every checkpoint that a life published is the fold of the ledger up to its
// offset: what follows can be replayed on it.
func TestCheckpointInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.process(owner{CheckpointEvery: time.Nanosecond})
	p.start()
	inputs := w.produceUntil(p.has(IncidentCheckpoint, 5))
	p.kill()
	w.evict()
	dir := w.stateDir()
	c, err := readCheckpoint(dir, ledgerOf(dir))
	check(t, err)
	got, err := readState(dir, ledgerOf(dir))
	check(t, err)
	if d := cmp.Diff(w.folded(c.Offset), got); d != "" {
		t.Errorf("checkpoint at %d and fold of the ledger differ:\n%s", c.Offset, d)
	}
	w.produce(numbers(0, 10)...)
	stop := w.start(w.options()) // on the checkpoint
	w.exactly(append(numbers(0, inputs), numbers(0, 10)...))
	live := w.newest().dump()
	mustStop(t, stop)
	w.sameAsRebuilt(live)
}

// folded is the state that the events up to offset fold into, without any of
// the machinery.
func (w *world) folded(last int64) map[string]string {
	w.t.Helper()
	all := w.events(nil)
	cache := pebble.NewCache(1 << 20)
	defer cache.Unref()
	store, err := openStore(w.t.TempDir(), cache, 1<<20)
	check(w.t, err)
	state := words{store: store}
	var r EventReader
	for offset, ev := range all[:last+1] {
		read, err := r.Read(encode(ev), ledgerTopic, 0, int64(offset))
		check(w.t, err)
		if read != nil && len(read.Body) > 0 {
			check(w.t, state.Apply("k", read.Body, int64(offset)))
		}
	}
	dump := state.dump()
	check(w.t, errors.Join(store.Err(), store.close()))
	return dump
}

// The name of the data directory may have the characters of patterns.
func TestCopiesInAnyDirectoryAreRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl[1")
	for _, name := range []string{"copy-1", "copy-2", sendingDir + "1"} {
		check(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	check(t, removeCopies(dir, "copy-2"))
	check(t, new(Remote).sweep(dir))
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 || left[0].Name() != "copy-2" {
		t.Errorf("%v are left", left)
	}
}
