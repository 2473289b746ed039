package duplicates

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner is an index over a log, of one process.
type owner struct {
	*Index
	log   *memory
	dir   string
	clock time.Time
}

func newOwner(t rapid.TB, dir string, log *memory) *owner {
	return newOwnerOn(t, vfs.Default, dir, log)
}

func newOwnerOn(t rapid.TB, fs vfs.FS, dir string, log *memory) *owner {
	w := &owner{log: log, dir: dir, clock: time.Unix(1e9, 0)}
	w.Index = New(dir, log)
	w.tune = tuning{files: fs, now: func() time.Time { return w.clock }, memtableBytes: 256 << 10, flushBytes: 1000}
	if err := w.openStore(context.Background()); err != nil {
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
	flight, err := o.Judge(context.Background(), partition, p)
	if err != nil {
		t.Fatal(err)
	}
	defer flight.Release()
	p.Verdict = flight.Verdict
	flight.Hand()(o.log.record(partition, p), nil)
	return flight.Verdict
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
	flight, err := o.Judge(context.Background(), 0, unwritten)
	if err == nil {
		flight.Release() // it is not written
	}
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
	print := simhash.Fingerprint{Hash: simhash.Hash{text, 1}, Sim: steps}
	for bit := range 21 {
		if steps>>bit&1 == 1 {
			print.Min[bit%2] |= 7 << (3 * bit) // three bins
		}
	}
	return Page{ID: id, URL: "https://" + domain + "/" + id, Domain: domain, Print: print}
}
