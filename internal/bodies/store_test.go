package bodies_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/test/s3server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	id    = kadm.TopicID{0xff, 0xff, 0xff} // in base64 its text begins with slashes
	topic = hex.EncodeToString(id[:])
)

func open(t testing.TB, location string) (*bodies.Store, blob.Bucket) {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return bodies.New(bucket, id, slog.New(slog.DiscardHandler)), bucket
}

// text of so many bytes.
func text(n int) []byte {
	body := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{byte(n)}).Read(body); err != nil {
		panic(err)
	}
	return body
}

// record is the record of a page whose body was put into s.
func record(t testing.TB, s *bodies.Store, partition int32, body []byte) (value []byte, ref *weftpb.BodyReference) {
	t.Helper()
	ref, err := s.Put(t.Context(), partition, "page", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	value, err = proto.Marshal(&weftpb.Fetched{Id: "page", Proto: "HTTP/1.1", Remote: "[::1]:80", Location: "x", Stored: ref})
	if err != nil {
		t.Fatal(err)
	}
	return value, ref
}

func keys(t *testing.T, s *bodies.Store) (all []bodies.Key) {
	t.Helper()
	for key, err := range s.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, key)
	}
	return all
}

func TestBodiesComeBack(t *testing.T) {
	for place, locate := range map[string]func(t *testing.T) string{
		"folder": func(t *testing.T) string { return t.TempDir() },
		"S3":     func(t *testing.T) string { return s3server.Serve(t, "crawls") },
	} {
		t.Run(place, func(t *testing.T) {
			s, bucket := open(t, locate(t))
			for _, foreign := range []string{"probe-1", topic + "/x/1", "other/0/page.A"} {
				if err := bucket.Put(t.Context(), foreign, strings.NewReader("x"), 1); err != nil {
					t.Fatal(err)
				}
			}
			for i, n := range []int{0, 1, 1 << 20, 30<<20 + 7} {
				body := text(n)
				value, ref := record(t, s, int32(i), body)
				whole, err := s.Load(t.Context(), value)
				if err != nil {
					t.Fatal(err)
				}
				var f weftpb.Fetched
				if err := proto.Unmarshal(whole, &f); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(f.Body, body) || f.Id != "page" || f.Location != "x" || f.Stored.GetKey() != ref.Key {
					t.Errorf("%d bytes come back as %d, with id %q", n, len(f.Body), f.Id)
				}
				if got := keys(t, s); !slices.Equal(got, []bodies.Key{{Name: ref.Key, Partition: int32(i)}}) {
					t.Errorf("%v are there, want %s", got, ref.Key)
				}
				if err := s.Delete(t.Context(), ref.Key); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Load(t.Context(), value); !errors.Is(err, bodies.ErrMissing) {
					t.Errorf("a deleted body: %v", err)
				}
			}
		})
	}
}

// A body with its content codings is read by itself, and goes with the body.
func TestCodedBodies(t *testing.T) {
	s, bucket := open(t, t.TempDir())
	body, coded := text(5000), text(300)
	ref, err := s.Put(t.Context(), 2, "page", body, coded)
	if err != nil {
		t.Fatal(err)
	}
	value, err := proto.Marshal(&weftpb.Fetched{Stored: ref})
	if err != nil {
		t.Fatal(err)
	}
	read := func(load func(context.Context, []byte) ([]byte, error)) *weftpb.Fetched {
		t.Helper()
		var f weftpb.Fetched
		whole, err := load(t.Context(), value)
		if err = errors.Join(err, proto.Unmarshal(whole, &f)); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	if f := read(s.Load); !bytes.Equal(f.Body, body) || f.CodedBody != nil {
		t.Errorf("Load: %d bytes, %d coded", len(f.Body), len(f.CodedBody))
	}
	if f := read(s.LoadCoded); !bytes.Equal(f.CodedBody, coded) || f.Body != nil {
		t.Errorf("LoadCoded: %d bytes, %d coded", len(f.Body), len(f.CodedBody))
	}
	if plain, _ := record(t, s, 2, body); !bytes.Equal(plain, must(s.LoadCoded(t.Context(), plain))) {
		t.Error("a record without a coded body changed")
	}

	// A process that died between the two objects leaves only the first.
	if err := bucket.Delete(t.Context(), ref.Key); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(keys(t, s), bodies.Key{Name: ref.Key, Partition: 2}) {
		t.Errorf("%s is not among the keys", ref.Key)
	}
	if err := s.Delete(t.Context(), ref.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadCoded(t.Context(), value); !errors.Is(err, bodies.ErrMissing) {
		t.Errorf("a deleted body: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The same page twice is two objects: each goes with its own record.
func TestKeysAreUsedOnce(t *testing.T) {
	s, _ := open(t, t.TempDir())
	_, first := record(t, s, 0, text(5))
	_, second := record(t, s, 0, text(5))
	if first.Key == second.Key {
		t.Errorf("twice %s", first.Key)
	}
}

func TestRecordsWithoutReference(t *testing.T) {
	s, _ := open(t, t.TempDir())
	small, err := proto.Marshal(&weftpb.Fetched{Id: "page", Body: []byte("a body")})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range [][]byte{nil, small, []byte("no record"), {0xff}} {
		got, err := s.Load(t.Context(), value)
		if err != nil || !bytes.Equal(got, value) {
			t.Errorf("%q becomes %q: %v", value, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		bodies.Reference(rapid.SliceOf(rapid.Byte()).Draw(t, "value"))
	})
}

// An object that is not what was put there is noticed, whatever was done to it.
func TestDamageIsNoticed(t *testing.T) {
	for name, damage := range map[string]func(body []byte) []byte{
		"truncated":  func(b []byte) []byte { return b[:len(b)-1] },
		"longer":     func(b []byte) []byte { return append(b, 'x') },
		"empty":      func([]byte) []byte { return nil },
		"another":    func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"in its end": func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := open(t, dir)
			value, ref := record(t, s, 3, text(100_000))
			path := filepath.Join(dir, filepath.FromSlash(ref.Key))
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(body), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Load(t.Context(), value); !errors.Is(err, bodies.ErrDamaged) {
				t.Error(err)
			}
		})
	}
	s, _ := open(t, t.TempDir())
	for _, size := range []int64{-1, 1 << 40} {
		value, err := proto.Marshal(&weftpb.Fetched{Stored: &weftpb.BodyReference{Key: "k", Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), value); !errors.Is(err, bodies.ErrDamaged) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// troubled is a bucket that fails while it is down.
type troubled struct {
	blob.Bucket
	mu         sync.Mutex
	down, read error // of everything; of reading an object
	tried      int
}

func (b *troubled) set(down, read error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down, b.read, b.tried = down, read, 0
}

// try counts an attempt.
func (b *troubled) try() (down, read error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried++
	return b.down, errors.Join(b.down, b.read)
}

func (b *troubled) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if down, _ := b.try(); down != nil {
		return down
	}
	return b.Bucket.Put(ctx, key, body, size)
}

func (b *troubled) Get(ctx context.Context, key string, w io.Writer) error {
	if _, read := b.try(); read != nil {
		return read
	}
	return b.Bucket.Get(ctx, key, w)
}

func (b *troubled) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	if down, _ := b.try(); down != nil {
		return func(yield func(blob.Object, error) bool) { yield(blob.Object{}, down) }
	}
	return b.Bucket.List(ctx, prefix)
}

// Trouble with the store is waited out: an hour of it costs an hour.
func TestTroubleIsWaitedOut(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, bucket := open(t, dir)
		var log bytes.Buffer
		refused := errors.New("connection refused")
		down := &troubled{Bucket: bucket}
		s := bodies.New(down, id, slog.New(slog.NewTextHandler(&log, nil)))
		const outage = time.Hour
		later := func(do func() error) {
			t.Helper()
			down.set(refused, nil)
			log.Reset()
			done := make(chan error)
			go func() { done <- do() }()
			time.Sleep(outage)
			synctest.Wait()
			if !s.Waiting() {
				t.Error("nobody waits")
			}
			if down.tried > 1000 {
				t.Errorf("tried %d times in %v", down.tried, outage)
			}
			down.set(nil, nil)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if s.Waiting() {
				t.Error("somebody waits still")
			}
			if lines := strings.Count(log.String(), "connection refused"); lines < 50 || lines > 61 {
				t.Errorf("said %d times in %v", lines, outage)
			}
		}
		var ref *weftpb.BodyReference
		later(func() (err error) { ref, err = s.Put(t.Context(), 0, "page", text(10), nil); return err })
		value, err := proto.Marshal(&weftpb.Fetched{Stored: ref})
		if err != nil {
			t.Fatal(err)
		}
		later(func() error { _, err := s.Load(t.Context(), value); return err })

		// Who cannot wait any longer is let go.
		down.set(refused, nil)
		gone := errors.New("the partition is somebody else's")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if _, err := s.Put(ctx, 0, "page", text(10), nil); !errors.Is(err, gone) {
			t.Error(err)
		}

		// One object that cannot be read is not a trouble of the store.
		down.set(nil, errors.New("input/output error"))
		if _, err := s.Load(t.Context(), value); !errors.Is(err, bodies.ErrDamaged) || !errors.Is(err, down.read) {
			t.Error(err)
		}
	})
}

func TestFewAreSentAtOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, bucket := open(t, dir)
		down := &troubled{Bucket: bucket, down: errors.New("slow")}
		s := bodies.New(down, id, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		for range 20 {
			go func() {
				if _, err := s.Put(ctx, 0, "page", nil, nil); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if down.tried != 4 {
			t.Errorf("%d are sent at once", down.tried)
		}
		cancel()
		synctest.Wait()
	})
}
