package frontier

import (
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

// inspect holds that a domain folded alone, without the events of the others,
// looks like it does in the whole, and that looking finds every URL once.
func (w *world) inspect() {
	var names []string
	w.f.Domains(func(name string) bool {
		names = append(names, name)
		return true
	})
	seen := map[string]bool{}
	for _, l := range w.log {
		seen[l.domain] = l.domain != ""
	}
	for name, is := range seen {
		if is != slices.Contains(names, name) {
			w.t.Fatalf("domains are %q, the log has %q", names, name)
		}
	}
	held := map[string]int{}
	for _, name := range names {
		alone := New(Options{Partition: w.opts.Partition, SomeDomains: true}, &memstore.Store{})
		for _, l := range w.log {
			if l.domain != name {
				continue
			}
			if err := alone.Apply(name, decoded(w.t, l.event), l.offset); err != nil {
				w.t.Fatalf("fold %s alone: %v", name, err)
			}
		}
		if got, want := w.picture(alone, name, map[string]int{}), w.picture(w.f, name, held); got != want {
			w.t.Fatalf("%s alone is\n%s\nand in the whole\n%s", name, got, want)
		}
	}
	want := checkHeld(w.store)
	for url, n := range held {
		if want[url] != n {
			w.t.Fatalf("%s was found %d times, is held %d times", url, n, want[url])
		}
	}
	if len(held) != len(want) {
		w.t.Fatalf("%d URLs were found, %d are held", len(held), len(want))
	}
}

// picture prints all that can be seen of a domain and counts its URLs in held.
func (w *world) picture(f *Frontier, name string, held map[string]int) string {
	state, err1 := f.DomainState(name)
	visits, err2 := f.Visits(name)
	origins, err3 := f.Origins(name, w.now)
	picture, queued := fmt.Sprintln(state, origins), map[Place]string{}
	err4 := f.Queued(name, func(place Place, q *weftpb.Request) bool {
		held[q.Target.Url]++
		queued[place] = q.Target.Url
		picture += fmt.Sprintln(place, q)
		return true
	})
	err5 := f.Withdrawn(name, func(place Place, q *weftpb.Request) bool {
		held[q.Target.Url]++
		place.Priority = -1 // not to be taken for one that waits
		queued[place] = q.Target.Url
		picture += fmt.Sprintln(place, q)
		return true
	})
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			w.t.Fatalf("look at %s: %v", name, err)
		}
	}
	waiting := state.Retries + state.Grouped + state.Withdrawn
	for _, n := range state.Queued {
		waiting += n
	}
	if uint64(len(queued)) != waiting {
		w.t.Fatalf("%s holds %d URLs in %d places", name, waiting, len(queued))
	}
	for _, v := range visits {
		for i, q := range v.Requests {
			if v.Open[i] && !v.Robots {
				held[q.Target.Url]++
			}
		}
		picture += fmt.Sprintln(v)
	}
	return picture
}
