package ledger

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/blob"
)

// A new machine starts from the newest checkpoint in the bucket and replays what follows it; if
// one cannot be used, the one before it is tried, and in the end the ledger. The state equals a
// replay of everything.
func TestNewMachine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil    func(t *testing.T, b blob.Bucket)
		replayed int64
		passed   int
	}{
		"whole": {replayed: 50},
		"a half": {replayed: 150, spoil: func(t *testing.T, b blob.Bucket) {
			check(t, b.Delete(t.Context(), slices.Max(keys(t, b, manifestsDir))))
		}},
		"manifest torn": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			key := slices.Max(keys(t, b, manifestsDir))
			write(t, b, key, read(t, b, key)[:60])
		}},
		"of another topic": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Ledger = "another" })
		}},
		"of another cluster": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Cluster = "another" })
		}},
		"of another partition": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Partition = 7 })
		}},
		"of a later version": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Version++ })
		}},
		"beyond the ledger's end": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Offset += 1000 })
		}},
		"of events that were lost": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) { m.Checkpoint.Record++ })
		}},
		"object missing": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			_, key := onlyNewest(t, b, "")
			check(t, b.Delete(t.Context(), key))
		}},
		"object short": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			_, key := onlyNewest(t, b, tableExt)
			write(t, b, key, read(t, b, key)[1:])
		}},
		"object rotten": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			_, key := onlyNewest(t, b, tableExt)
			body := read(t, b, key)
			body[9] ^= 1
			write(t, b, key, body)
		}},
		"block rotten before it was sent": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			file, key := onlyNewest(t, b, tableExt)
			body := read(t, b, key)
			body[9] ^= 1
			path := filepath.Join(t.TempDir(), "rotten")
			check(t, os.WriteFile(path, body, 0o644))
			sum, err := sums{}.of(filepath.Split(path))
			check(t, err)
			write(t, b, filepath.Dir(key)+"/"+sum, body)
			remake(t, b, func(m *manifest) { m.Objects[file] = sum })
		}},
		"does not open": {replayed: 150, passed: 1, spoil: func(t *testing.T, b blob.Bucket) {
			remake(t, b, func(m *manifest) {
				maps.DeleteFunc(m.Checkpoint.Files, func(file string, _ int64) bool { return strings.HasPrefix(file, "MANIFEST") })
			})
		}},
		"both damaged": {replayed: 250, passed: 2, spoil: func(t *testing.T, b blob.Bucket) {
			for _, key := range keys(t, b, manifestsDir) {
				write(t, b, key, []byte("{}"))
			}
		}},
		"nothing there": {replayed: 250, spoil: func(t *testing.T, b blob.Bucket) {
			for _, key := range keys(t, b, manifestsDir) {
				check(t, b.Delete(t.Context(), key))
			}
		}},
	}
	w, sound := sent(t)
	want, all := boot(w, t.TempDir(), nil).recovers()
	if all != 250 {
		t.Fatalf("a full replay has %d events", all)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "whole" && name != "object rotten" && name != "both damaged" {
				t.Skip("a second each")
			}
			bucket := copyOfFolder(t, sound)
			if test.spoil != nil {
				test.spoil(t, bucket)
			}
			m := boot(w, t.TempDir(), bucket)
			got, replayed := m.recovers()
			if replayed != test.replayed || m.happened()[IncidentPassedOver] != test.passed {
				t.Errorf("%d events replayed, want %d; happened: %v", replayed, test.replayed, m.happened())
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("state differs from a full replay:\n%s", d)
			}
		})
	}
}

// The published checkpoint of the machine itself is used unless the bucket has
// a newer one.
func TestNewerOfTwoPlaces(t *testing.T) {
	t.Parallel()
	w, bucket := newWorld(t), folder(t)
	boot(w, w.dir, bucket).works(100, numbers(0, 100))
	elsewhere := t.TempDir()
	boot(w, elsewhere, bucket).works(200, numbers(100, 200))
	boot(w, elsewhere, nil).works(230, numbers(200, 230))

	m := boot(w, elsewhere, bucket)
	if _, replayed := m.recovers(); replayed != 0 || m.happened()[IncidentFetched] != 0 {
		t.Errorf("the newer local checkpoint: %d events replayed; happened: %v", replayed, m.happened())
	}
	m = boot(w, w.dir, bucket)
	got, replayed := m.recovers()
	if replayed != 0 || m.happened()[IncidentFetched] != 1 {
		t.Errorf("the older local checkpoint: %d events replayed; happened: %v", replayed, m.happened())
	}
	if len(got) != 230 {
		t.Errorf("%d keys", len(got))
	}
}

// Tables that checkpoints share are sent once, two checkpoints are kept, and
// nothing is left of the others.
func TestTwoCheckpointsAreKept(t *testing.T) {
	t.Parallel()
	w, bucket := newWorld(t), &watched{Bucket: folder(t)}
	for i := range 5 {
		boot(w, w.dir, bucket).works(100*i+100, numbers(100*i, 100*i+100))
	}
	all := manifests(t, bucket)
	if len(all) != 2 || all[1].Checkpoint.Offset <= all[0].Checkpoint.Offset {
		t.Fatalf("%d checkpoints kept", len(all))
	}
	needed := map[string]bool{}
	for _, m := range all {
		for _, sum := range m.Objects {
			needed[sum] = true
		}
	}
	if got := len(keys(t, bucket, objectsDir)); got != len(needed) {
		t.Errorf("%d objects for the %d that are needed", got, len(needed))
	}
	shared := false
	for _, sum := range all[1].Objects {
		shared = shared || slices.Contains(slices.Collect(maps.Values(all[0].Objects)), sum)
	}
	if !shared {
		t.Error("two checkpoints share nothing")
	}
	puts := bucket.put(objectsDir)
	if slices.Sort(puts); len(slices.Compact(slices.Clone(puts))) != len(puts) {
		t.Error("an object was sent twice")
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*", "*", "0", sendingDir+"*")); len(left) > 0 {
		t.Errorf("left to be sent: %q", left)
	}
}

// A bucket that refuses is counted and tried again; the stage goes on.
func TestBucketRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var away atomic.Bool
	away.Store(true)
	bucket := &watched{Bucket: folder(t), before: func(key string) error {
		if away.Load() && strings.Contains(key, "/"+manifestsDir+"/") {
			return errors.New("the bucket is away")
		}
		return nil
	}}
	o := w.options()
	o.CheckpointEvery, o.Remote = time.Nanosecond, remote(bucket)
	defer o.Remote.Close()
	stop := w.start(o)
	made := feed(w, 0, IncidentUnsent, 1)
	made = feed(w, made, IncidentCheckpoint, w.happened()[IncidentCheckpoint]+3)
	if got := valid(w, made); len(got) != made {
		t.Errorf("%d events of %d", len(got), made)
	}
	if got := bucket.put(manifestsDir); len(got) > 0 {
		t.Errorf("manifests %q", got)
	}
	away.Store(false)
	feed(w, made, IncidentSent, 1)
	restarts := w.happened()[IncidentRestart]
	mustStop(t, stop)
	if restarts > 0 {
		t.Error("the stage was restarted")
	}
}

// A checkpoint that no newer one follows is tried again.
func TestUnsentIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var refused atomic.Bool
	bucket := &watched{Bucket: folder(t), before: func(key string) error {
		if strings.Contains(key, "/"+manifestsDir+"/") && refused.CompareAndSwap(false, true) {
			return errors.New("the bucket is away")
		}
		return nil
	}}
	m := boot(w, w.dir, bucket)
	m.reaches(IncidentClaim, 1)
	mustStop(t, m.stop) // publishes
	m.reaches(IncidentUnsent, 1)
	m.reaches(IncidentSent, 1)
	m.remote.Close()
	if got := keys(t, bucket, manifestsDir); len(got) != 1 {
		t.Errorf("checkpoints %q", got)
	}
}

// While one checkpoint is being sent others are published; of these the newest
// is sent next, and no other.
func TestNewestIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, gate := make(chan struct{}), make(chan struct{})
	var once sync.Once
	bucket := &watched{Bucket: folder(t), before: func(string) error {
		once.Do(func() { close(first); <-gate })
		return nil
	}}
	o := w.options()
	o.CheckpointEvery, o.Remote = time.Nanosecond, remote(bucket)
	stop := w.start(o)
	made := feed(w, 0, IncidentCheckpoint, 1)
	<-first
	made = feed(w, made, IncidentCheckpoint, w.happened()[IncidentCheckpoint]+3)
	valid(w, made)
	mustStop(t, stop)
	close(gate)
	o.Remote.Close()
	all := manifests(t, bucket)
	if got := bucket.put(manifestsDir); len(got) != 2 || len(all) != 2 {
		t.Fatalf("sent %q", got)
	}
	if want := w.end() - 1; all[1].Checkpoint.Offset != want {
		t.Errorf("the last one sent is at %d, the ledger's last event at %d", all[1].Checkpoint.Offset, want)
	}
}

// A checkpoint of an end that the log has lost is removed by the next owner,
// though its offset is higher; a former owner that still has something to send
// gives way to a later one.
func TestCheckpointsBeyondOurs(t *testing.T) {
	t.Parallel()
	w, bucket := sent(t)
	remake(t, bucket, func(m *manifest) { m.Checkpoint.Offset += 1000 })
	lost := slices.Max(keys(t, bucket, manifestsDir))
	boot(w, w.dir, bucket).works(250, nil)
	if got := keys(t, bucket, manifestsDir); len(got) != 2 || slices.Contains(got, lost) {
		t.Errorf("checkpoints %q", got)
	}

	kept := slices.Concat(keys(t, bucket, manifestsDir), keys(t, bucket, objectsDir))
	m := manifests(t, bucket)[0]
	old := &shipment{
		place:      place{bucket, m.Cluster, ledgerTopic, m.Checkpoint.Ledger, 0},
		checkpoint: m.Checkpoint, log: source{client: []kgo.Opt{kgo.SeedBrokers(w.brokers...)}, topic: ledgerTopic},
	}
	if err := old.send(t.Context()); !errors.Is(err, errSuperseded) {
		t.Errorf("a former owner's checkpoint: %v", err)
	}
	if got := slices.Concat(keys(t, bucket, manifestsDir), keys(t, bucket, objectsDir)); !slices.Equal(got, kept) {
		t.Errorf("it changed the bucket from %q to %q", kept, got)
	}
}

// A trimmed ledger is recovered from the bucket. While that cannot be reached
// the stage waits; only when it has nothing is that the end.
func TestTrimmedLedgerNeedsTheBucket(t *testing.T) {
	t.Parallel()
	w, bucket := sent(t)
	want, _ := boot(w, t.TempDir(), nil).recovers()
	oldest := manifests(t, bucket)[0].Checkpoint.Offset
	var offsets kadm.Offsets
	offsets.AddOffset(ledgerTopic, 0, oldest, -1)
	_, err := w.admin.DeleteRecords(t.Context(), offsets)
	check(t, err)

	for _, key := range keys(t, bucket, manifestsDir)[1:] {
		write(t, bucket, key, []byte("{}")) // so that the older one must do
	}
	got, replayed := boot(w, t.TempDir(), bucket).recovers()
	if d := cmp.Diff(want, got); d != "" || replayed != 150 {
		t.Errorf("%d events replayed, state differs:\n%s", replayed, d)
	}

	away := &unlisted{Bucket: bucket}
	away.refuse.Store(true)
	m := boot(w, t.TempDir(), away)
	m.reaches(IncidentRestart, 1)
	away.refuse.Store(false)
	if got, _ := m.recovers(); len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}

	o := w.options()
	o.Dir = t.TempDir()
	if err := Run(t.Context(), w.stage(), o); !errors.Is(err, ErrTrimmed) {
		t.Errorf("without the bucket: %v", err)
	}
	o.Remote = remote(folder(t))
	defer o.Remote.Close()
	if err := Run(t.Context(), w.stage(), o); !errors.Is(err, ErrTrimmed) {
		t.Errorf("with an empty bucket: %v", err)
	}
}
