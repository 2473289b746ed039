package ledger

import (
	"encoding/binary"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// testBytes has writes passed on often.
const testBytes = 6000

// emptyStore returns a store on an empty directory, at the beginning of its
// recovery.
func emptyStore(t *testing.T) *disk {
	t.Helper()
	cache := pebble.NewCache(1 << 20)
	t.Cleanup(cache.Unref)
	store, err := openStore(t.TempDir(), cache, 1<<20)
	check(t, err)
	t.Cleanup(func() { check(t, store.close()) })
	store.pending.Store(newPending(testBytes))
	return store
}

// A store reads what was written to it, in recovery and after: what is pending
// hides what Pebble has, and is in every scan and every checkpoint.
func TestStoreReadsItsWrites(t *testing.T) {
	store, model := emptyStore(t), memory{}
	var checkpoints int
	rapid.Check(t, func(rt *rapid.T) {
		for key := range model {
			store.Delete([]byte(key))
			delete(model, key)
		}
		check(t, store.settle())
		store.pending.Store(newPending(testBytes))
		key := rapid.Custom(func(rt *rapid.T) []byte {
			return []byte("k/" + strconv.Itoa(rapid.IntRange(0, 20).Draw(rt, "key")))
		})
		scan := func(s Store, lower, upper []byte, most int) (found []string) {
			s.Scan(lower, upper, func(key, value []byte) bool {
				found = append(found, string(key), string(value))
				return len(found) < 2*most
			})
			return found
		}
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				// Some pass the pending writes on at once.
				value := make([]byte, rapid.SampledFrom([]int{0, 1, 8, 100, testBytes / 3}).Draw(rt, "bytes"))
				if len(value) > 0 {
					value[0] = rapid.Byte().Draw(rt, "first")
				}
				k := key.Draw(rt, "at")
				store.Set(k, value)
				model.Set(k, value)
				k[0]++ // neither is retained
				clear(value)
			},
			"delete": func(rt *rapid.T) {
				k := key.Draw(rt, "at")
				store.Delete(k)
				model.Delete(k)
			},
			"get": func(rt *rapid.T) {
				k := key.Draw(rt, "at")
				got := store.Get(k)
				if want := model.Get(k); string(got) != string(want) || (got == nil) != (want == nil) {
					rt.Fatalf("%s is %d bytes, want %d", k, len(got), len(want))
				}
				clear(got) // it is a copy
			},
			"scan": func(rt *rapid.T) {
				lower, upper, most := key.Draw(rt, "lower"), key.Draw(rt, "upper"), rapid.IntRange(1, 30).Draw(rt, "most")
				if d := cmp.Diff(scan(model, lower, upper, most), scan(store, lower, upper, most)); d != "" {
					rt.Fatalf("scan differs:\n%s", d)
				}
			},
			"settle": func(rt *rapid.T) {
				if rapid.IntRange(0, 19).Draw(rt, "when") > 0 {
					rt.Skip("seldom")
				}
				check(t, store.settle())
			},
			"checkpoint": func(rt *rapid.T) {
				if rapid.IntRange(0, 19).Draw(rt, "when") > 0 {
					rt.Skip("seldom")
				}
				checkpoints++
				dir := filepath.Join(t.TempDir(), strconv.Itoa(checkpoints))
				check(t, store.checkpoint(dir))
				cache := pebble.NewCache(1 << 20)
				defer cache.Unref()
				kept, err := openStore(dir, cache, 1<<20)
				check(t, err)
				if d := cmp.Diff(scan(model, nil, nil, 1000), scan(kept, nil, nil, 1000)); d != "" {
					rt.Errorf("checkpoint differs:\n%s", d)
				}
				check(t, kept.close())
			},
			"": func(rt *rapid.T) { check(t, store.Err()) },
		})
	})
}

// A reader beside the writer never finds a key gone or older than before, while
// writes are passed on and when the recovery ends.
func TestReaderDuringRecovery(t *testing.T) {
	store := emptyStore(t)
	key, padding := []byte("counter"), make([]byte, testBytes/8)
	count := func(n uint64) { store.Set(key, binary.BigEndian.AppendUint64(nil, n)) }
	count(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				value := store.Get(key)
				if value == nil || binary.BigEndian.Uint64(value) < last {
					t.Errorf("read %x after %d", value, last)
					return
				}
				last = binary.BigEndian.Uint64(value)
			}
		})
	}
	for n := range uint64(4000) {
		count(n)
		store.Set([]byte(strconv.Itoa(int(n%16))), padding)
		if n == 3500 {
			check(t, store.settle())
		}
	}
	close(done)
	readers.Wait()
	check(t, store.Err())
}
