package duplicates

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// An index from before there were MinHashes goes on: it knows texts, not what is nearly
// the same, and is what its log says.
func TestIndexOfSimHashes(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	old := func(id string, text byte) Page {
		p := page(id, "x.example", text, 0xff)
		p.Print.Min = simhash.MinHash{}
		return p
	}
	b := newOwner(t, dir, log)
	b.put(t, 0, old("a", 1))
	follower := old("b", 2)
	follower.Verdict = Verdict{ID: "a", URL: "https://x.example/a", Distance: 2, Own: true}
	log.write(0, follower)
	b.put(t, 0, old("c", 3))
	b.everything(t) // it is read
	// What that index had besides: the SimHash, the domain and the entry of a representative.
	first := hashKey(0, old("a", 1).Print.Hash)
	sim := binary.BigEndian.AppendUint64(nil, 0xff)
	representative := binary.BigEndian.AppendUint64(sim, entryOf(old("a", 1)).domain)
	err := b.store.db.Set(binary.BigEndian.AppendUint32(kindKey(0, kindOldRepresentative), 0), append(representative, first[4:]...), pebble.NoSync)
	if err != nil {
		t.Fatal(err)
	}
	b.close(t)

	reads := log.reads
	b = newOwner(t, dir, log)
	defer b.close(t)
	for _, step := range []struct {
		what string
		page Page
		of   string
	}{
		{"again", old("b", 2), "a"},
		{"the same text", page("d", "x.example", 2, 0xff), "b"},
		{"nearly the same as what has no MinHash", page("e", "x.example", 4, 0xff), ""},
		{"nearly the same as what has one", page("f", "x.example", 5, 0xfe), "e"},
	} {
		if v := b.put(t, 0, step.page); v.ID != step.of {
			t.Errorf("%s: %+v, want %q", step.what, v, step.of)
		}
	}
	if log.reads > reads {
		t.Errorf("%d records are read again", log.reads-reads)
	}
	reader := newOwner(t, t.TempDir(), log)
	defer reader.close(t)
	if d := cmp.Diff(reader.everything(t), b.everything(t)); d != "" {
		t.Errorf("what reads the log and what goes on differ:\n%s", d)
	}
}
