package duplicates

import (
	"errors"
	"testing"
)

func TestVerdicts(t *testing.T) {
	b := newOwner(t, t.TempDir(), newMemory())
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
		{"no bin differs from what was near", page("r", "one.example", 11, 0xff03), "c", 1, true},
		{"the same of another domain", page("s", "four.example", 12, 0xff03), "a", 2, false},
		{"too far", page("f", "one.example", 4, 0xffff00), "", 0, false},
		{"no bin differs", page("g", "one.example", 5, 0xff00), "a", 1, true},
		{"the same text of another domain", page("h", "two.example", 1, 0xff00), "a", 0, false},
		{"the same text of one's own before", page("i", "two.example", 1, 0xff00), "h", 0, true},
		{"near to one's own before others", page("j", "two.example", 6, 0xff07), "h", 3, true},
		{"near to another domain", page("k", "three.example", 7, 0xff01), "a", 1, false},
		{"near to one's own, which was near to another", page("l", "three.example", 8, 0xff01|1<<20), "k", 1, true},
		{"a short text", page("m", "one.example", 9, 0), "", 0, false},
		{"a short text again", page("n", "one.example", 9, 0), "m", 0, true},
		{"no text", Page{ID: "o", Domain: "one.example"}, "", 0, false},
		{"no text again", Page{ID: "p", Domain: "one.example"}, "", 0, false},
		{"a page whose text changed a little", page("a", "one.example", 10, 0xff01), "", 0, false},
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
	b := newOwner(t, t.TempDir(), log)
	defer b.close(t)
	var acknowledge []func()
	judge := func(p Page, err error) Verdict {
		flight, failed := b.Judge(t.Context(), 0, p)
		if failed != nil {
			t.Fatal(failed)
		}
		defer flight.Release()
		written := flight.Hand()
		p.Verdict = flight.Verdict
		acknowledge = append(acknowledge, func() {
			if err != nil {
				written(nil, err)
				return
			}
			written(log.record(0, p), nil)
		})
		return p.Verdict
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
	judge(page("f", "x.example", 4, 0xfc), nil)
	if v := judge(page("g", "x.example", 5, 0xfc), nil); v.ID != "f" || v.Distance != 1 {
		t.Errorf("the SimHash of a follower in flight: %+v", v)
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
