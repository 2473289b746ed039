package duplicates

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// Whatever process writes, whenever processes end, and wherever partitions go, the index is the
// fold of the log: each text is found, no page is its own duplicate, names lead to earlier
// records, a repeat is answered as the first time, and who reads nothing but the log knows the
// same, to the byte.
func TestFoldOfTheLog(t *testing.T) {
	base := t.TempDir()
	var run int
	rapid.Check(t, func(t *rapid.T) {
		run++
		log, fs := newMemory(), vfs.NewMem()
		dirs := []string{filepath.Join(base, fmt.Sprint(run, "a")), filepath.Join(base, fmt.Sprint(run, "b"))}
		owners := []*owner{newOwnerOn(t, fs, dirs[0], log), newOwnerOn(t, fs, dirs[1], log)}
		defer func() {
			for _, o := range owners {
				o.close(t)
			}
		}()
		now := 0
		first := map[string]Verdict{} // by id and text
		texts := map[simhash.Hash]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"put", "put", "put", "put", "move", "restart", "kill", "lose"}).Draw(t, "what") {
			case "move":
				now = 1 - now
				owners[now].OnAssigned([]int32{0})
			case "restart":
				owners[now].close(t)
				owners[now] = newOwnerOn(t, fs, dirs[now], log)
			case "kill": // what was not on disk is gone
				owners[now].kill(t)
				owners[now] = newOwnerOn(t, fs, dirs[now], log)
			case "lose":
				owners[now].close(t)
				dirs[now] += "l"
				owners[now] = newOwnerOn(t, fs, dirs[now], log)
			case "put":
				n := rapid.IntRange(0, 12).Draw(t, "page")
				p := page(fmt.Sprint("p", n), fmt.Sprintf("d%d.example", n%2), byte(1+n/3), 0xf0f0+uint64(n/6)*0x101)
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
		reader := newOwnerOn(t, fs, dirs[0]+"r", log)
		defer reader.close(t)
		if d := cmp.Diff(reader.everything(t), owners[now].everything(t)); d != "" {
			t.Fatalf("what reads the log and what wrote it differ:\n%s", d)
		}
	})
}

// What others wrote between one's own records is found by the gap in offsets.
func TestGap(t *testing.T) {
	log := newMemory()
	b := newOwner(t, t.TempDir(), log)
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
	b := newOwner(t, dir, log)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	b.put(t, 0, page("b", "x.example", 2, 0xff00ff))
	b.close(t)
	for range 3 {
		log.write(0, page("gone", "x.example", 3, 0xabcdef))
	}
	log.start[0] = 4
	b = newOwner(t, dir, log)
	if v := b.put(t, 0, page("c", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 1 {
		t.Errorf("trimmed: %+v, %d read", v, log.reads)
	}
	b.close(t)
	log.pages[0], log.start[0] = log.pages[0][:1], 0
	b = newOwner(t, dir, log)
	defer b.close(t)
	if v := b.put(t, 0, page("d", "x.example", 2, 0xff00ff)); v.Duplicate() {
		t.Errorf("cut: a duplicate of a page that is not in the log: %+v", v)
	}
	if v := b.put(t, 0, page("e", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("cut: %+v", v)
	}
}
