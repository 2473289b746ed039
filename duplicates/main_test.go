package duplicates

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/similar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner is an index over a log, of one process.
type owner struct {
	*Index
	log   *memory
	dir   string
	clock time.Time
}

func newOwner(t rapid.TB, dir string, log *memory) *owner { return newOwnerOn(t, nil, dir, log) }

func newOwnerOn(t rapid.TB, fs vfs.FS, dir string, log *memory) *owner {
	w := &owner{log: log, dir: dir, clock: time.Unix(1e9, 0)}
	o := DefaultOptions()
	o.fs, o.now = fs, func() time.Time { return w.clock }
	o.Dir, o.MemtableBytes, o.FlushBytes = dir, 256<<10, 1000
	var err error
	if w.Index, err = Open(o, log); err != nil {
		t.Fatal(err)
	}
	return w
}

// kill ends the index without a flush: what is not in tables is gone.
func (o *owner) kill(t rapid.TB) {
	if err := errors.Join(o.store.db.Close(), o.store.lock.Release()); err != nil {
		t.Fatal(err)
	}
}

// put judges a page and writes it.
func (o *owner) put(t rapid.TB, partition int32, p Page) Verdict {
	var verdict Verdict
	if err := o.Judge(context.Background(), partition, p, func(v Verdict, written func(int64, int64, error)) {
		verdict, p.Verdict = v, v
		written(o.log.write(partition, p), 100, nil)
	}); err != nil {
		t.Fatal(err)
	}
	return verdict
}

func (o *owner) close(t rapid.TB) {
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// everything is what the index has on disk and is about to have there, when it has
// caught up with its log of partition 0.
func (o *owner) everything(t rapid.TB) map[string]string {
	unwritten := page("unwritten", "unwritten.example", 255, 0)
	err := o.Judge(context.Background(), 0, unwritten, func(_ Verdict, written func(int64, int64, error)) {
		written(0, 0, errors.New("not to be written"))
	})
	it, failed := o.store.db.NewIter(nil)
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for ok := it.First(); ok; ok = it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// page of a domain with a text. Of two pages the distance is the number of the 21 bits
// in which steps differ, if that is at most three; 0: it has no MinHash.
func page(id, domain string, text byte, steps uint64) Page {
	print := similar.Print{Hash: similar.Hash{text, 1}, Sim: steps}
	for bit := range 21 {
		if steps>>bit&1 == 1 {
			print.Min[bit%2] |= 7 << (3 * bit) // three bins
		}
	}
	return Page{ID: id, URL: "https://" + domain + "/" + id, Domain: domain, Print: print}
}
