package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
)

// counted is a state that counts the events applied to it.
type counted struct {
	words
	applied *atomic.Int64
}

func (c counted) Apply(key string, body []byte, offset int64) error {
	c.applied.Add(1)
	return c.words.Apply(key, body, offset)
}

// machine is an owner with a directory of its own and perhaps a bucket.
type machine struct {
	*tally
	w       *world
	applied atomic.Int64
	remote  *Remote
	state   words
	stop    func() error
}

// boot starts an owner in dir; a nil bucket is none.
func boot(w *world, dir string, bucket blob.Bucket) *machine {
	w.t.Helper()
	m := &machine{tally: newTally(w.t), w: w}
	o := w.options()
	o.Dir, o.Observe = dir, m.observe
	if bucket != nil {
		m.remote = remote(bucket)
		w.t.Cleanup(m.remote.Close)
		o.Remote = m.remote
	}
	stage := w.stage()
	stage.Open = func(_ int32, store Store) (State, error) {
		m.state = words{store: store}
		return counted{m.state, &m.applied}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, stage, o) }()
	m.stop = func() error { cancel(); return within(patience, ended) }
	return m
}

// works has the machine make the ledger's events up to the number total of the
// values, and end gracefully; what it has published then is sent.
func (m *machine) works(total int, values []string) {
	m.w.t.Helper()
	m.reaches(IncidentClaim, 1)
	m.w.produce(values...)
	valid(m.w, total)
	mustStop(m.w.t, m.stop)
	if m.remote != nil {
		m.remote.Close()
	}
}

// recovers returns the machine's state after its claim, and how many events it
// replayed for it.
func (m *machine) recovers() (state map[string]string, replayed int64) {
	m.w.t.Helper()
	m.reaches(IncidentClaim, 1)
	state, replayed = m.state.dump(), m.applied.Load()
	mustStop(m.w.t, m.stop)
	if m.remote != nil {
		m.remote.Close()
	}
	return state, replayed
}

// remote is a Remote that sends at its end all that waits, even on a busy machine.
func remote(bucket blob.Bucket) *Remote {
	r := NewRemote(bucket, slog.New(slog.DiscardHandler))
	r.last = patience
	return r
}

func folder(t *testing.T) blob.Bucket {
	t.Helper()
	b, err := blob.Open(t.Context(), t.TempDir())
	check(t, err)
	return b
}

// copyOfFolder copies a folder.
func copyOfFolder(t *testing.T, b blob.Bucket) blob.Bucket {
	t.Helper()
	other := folder(t)
	check(t, os.CopyFS(other.String(), os.DirFS(b.String())))
	return other
}

// sent is a world whose bucket holds a checkpoint after 100 events and one
// after 200, and whose ledger goes on to 250.
func sent(t *testing.T) (*world, blob.Bucket) {
	t.Helper()
	w, bucket := newWorld(t), folder(t)
	boot(w, w.dir, bucket).works(100, numbers(0, 100))
	boot(w, w.dir, bucket).works(200, numbers(50, 150))
	boot(w, w.dir, nil).works(250, numbers(150, 200))
	if got := len(keys(t, bucket, manifestsDir)); got != 2 {
		t.Fatalf("%d checkpoints in the bucket", got)
	}
	return w, bucket
}

// keys lists the keys of one kind in the bucket, sorted.
func keys(t *testing.T, b blob.Bucket, kind string) (all []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), "") {
		check(t, err)
		if strings.Contains(o.Key, "/"+kind+"/") {
			all = append(all, o.Key)
		}
	}
	slices.Sort(all)
	return all
}

func read(t *testing.T, b blob.Bucket, key string) []byte {
	t.Helper()
	var body bytes.Buffer
	check(t, b.Get(t.Context(), key, &body))
	return body.Bytes()
}

func write(t *testing.T, b blob.Bucket, key string, body []byte) {
	t.Helper()
	check(t, b.Put(t.Context(), key, bytes.NewReader(body), int64(len(body))))
}

// manifests reads the manifests in the bucket, oldest first.
func manifests(t *testing.T, b blob.Bucket) (all []manifest) {
	t.Helper()
	for _, key := range keys(t, b, manifestsDir) {
		var m manifest
		check(t, unseal(read(t, b, key), &m))
		all = append(all, m)
	}
	return all
}

// remake changes the newest manifest, which stays sound by itself.
func remake(t *testing.T, b blob.Bucket, change func(m *manifest)) {
	t.Helper()
	key := slices.Max(keys(t, b, manifestsDir))
	var m manifest
	check(t, unseal(read(t, b, key), &m))
	check(t, b.Delete(t.Context(), key))
	change(&m)
	raw, err := seal(m)
	check(t, err)
	write(t, b, filepath.Dir(key)+"/"+m.name(), raw)
}

// onlyNewest returns the key of a file, with that ending, of the newest
// checkpoint that the one before it does not share.
func onlyNewest(t *testing.T, b blob.Bucket, ext string) (file, key string) {
	t.Helper()
	all := manifests(t, b)
	shared := slices.Collect(maps.Values(all[0].Objects))
	for file, sum := range all[1].Objects {
		if !slices.Contains(shared, sum) && strings.HasSuffix(file, ext) {
			for _, key := range keys(t, b, objectsDir) {
				if strings.HasSuffix(key, sum) {
					return file, key
				}
			}
		}
	}
	t.Fatalf("the newest checkpoint has no %q file of its own", ext)
	return "", ""
}

// watched is a bucket that remembers what was put, and may refuse or wait.
type watched struct {
	blob.Bucket
	mu     sync.Mutex
	puts   []string
	before func(key string) error // nil: nothing
}

func (b *watched) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if b.before != nil {
		if err := b.before(key); err != nil {
			return err
		}
	}
	err := b.Bucket.Put(ctx, key, body, size)
	if err == nil {
		b.mu.Lock()
		b.puts = append(b.puts, key)
		b.mu.Unlock()
	}
	return err
}

func (b *watched) put(kind string) (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range b.puts {
		if strings.Contains(key, "/"+kind+"/") {
			all = append(all, key)
		}
	}
	return all
}

// feed produces values from a number on, one after another, until kind has
// happened n times, and returns the next number.
func feed(w *world, from int, kind string, n int) int {
	w.t.Helper()
	for deadline := time.Now().Add(patience); w.happened()[kind] < n; from++ {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited for %s; happened: %v", kind, w.happened())
		}
		w.produce(strconv.Itoa(from))
	}
	return from
}

// unlisted is a bucket that cannot be listed.
type unlisted struct {
	blob.Bucket
	refuse atomic.Bool
}

func (b *unlisted) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	if b.refuse.Load() {
		return func(yield func(blob.Object, error) bool) { yield(blob.Object{}, errors.New("the bucket is away")) }
	}
	return b.Bucket.List(ctx, prefix)
}
