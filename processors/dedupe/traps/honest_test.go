package traps

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A trap whose URLs look like honest ones, as all names in the root of a site do,
// takes none of them: what pages name that show something new is admitted, and
// the template is no trap any more once such pages are most. The trap begins
// anew with them, at one honest page in ten, and ends with them.
func TestHonestPagesBesideATrap(t *testing.T) {
	for _, c := range []struct{ name, honest, lure string }{
		{"names in the root", "/%s", "/lure-%s"},
		{"pages of a list", "/list?page=%s", "/list?page=0%s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(DefaultOptions())
			honest := func(n int) string { return fmt.Sprintf(c.honest, letters(n)) }
			lures := 0
			lure := func() string {
				lures++
				return fmt.Sprintf(c.lure, letters(lures))
			}
			if n := s.walk(true, 1000, func(int) string { return lure() }); n == 1000 {
				t.Fatal("the trap is none")
			}
			const pages = 3000
			asked := lures
			for queue, found := []string{""}, 1; len(queue) > 0 && asked < 100*pages; asked++ {
				at := queue[0]
				queue = queue[1:]
				if at != "" { // of the trap
					for range 2 {
						if next := lure(); s.names(at, true, next) == 1 {
							queue = append(queue, next)
						}
					}
					continue
				}
				for range min(3, pages-found) {
					if s.names(honest(found/3), false, honest(found)) == 0 {
						t.Fatalf("page %d is held back", found)
					}
					queue, found = append(queue, ""), found+1
				}
				if entrance := lure(); found%10 == 0 && s.names(honest(found/3), false, entrance) == 1 {
					queue = append(queue, entrance)
				}
			}
			t.Logf("%d requests for %d pages", asked, pages)
			if asked > 4*pages {
				t.Errorf("%d requests for %d pages", asked, pages)
			}
		})
	}
}

// A trap that shows something new now and then ends nevertheless.
func TestTrapThatVaries(t *testing.T) {
	s := open(DefaultOptions())
	path := func(n int) string { return fmt.Sprintf("/r/%s", letters(n)) }
	admitted, named := 1, 1
	for queue := []int{0}; len(queue) > 0 && admitted < 20_000; queue = queue[1:] {
		paths := make([]string, 20)
		for i := range paths {
			paths[i] = path(named + i)
		}
		n := s.names(path(queue[0]), queue[0]%10 != 0, paths...)
		for i := range n {
			queue = append(queue, named+i)
		}
		admitted, named = admitted+n, named+len(paths)
	}
	t.Logf("%d URLs were admitted", admitted)
	if admitted > mostSpared+1000 {
		t.Errorf("%d URLs were admitted", admitted)
	}
}

// A page that names more URLs than an event has room for is one page, whatever it
// shows.
func TestPageIsBookedOnce(t *testing.T) {
	s := open(DefaultOptions())
	for n := range 100 {
		if s.names("/list/2", true, fmt.Sprintf("/list/%d", 10+n)) == 0 {
			t.Fatalf("one page made a trap with its event %d", n)
		}
	}
	for n := range 100 {
		if s.names(fmt.Sprintf("/list/%d", 3+n%2), true, fmt.Sprintf("/list/%d", 200+n)) == 0 {
			t.Fatalf("two pages, whose events come in turn, made a trap with event %d", n)
		}
	}
	if n := s.walk(true, 100, func(n int) string { return fmt.Sprintf("/list/%d", 1000+n) }); n != 9 {
		t.Errorf("%d pages more were admitted", n)
	}
}

// The first copies of pages say nothing, as in a tree that is not translated. Copies of a few pages without end are a trap's.
func TestCopiesOfAnotherTree(t *testing.T) {
	s := open(DefaultOptions())
	copies := func(n, original int) bool {
		at := func(n int) *weftpb.Target { return &weftpb.Target{Url: fmt.Sprintf("%s/de/docs/%s", root, letters(n))} }
		event := &weftpb.Deduped{Source: at(n).Url, Showing: weftpb.Showing_SHOWING_COPY, Original: uint64(original)}
		event.Targets, event.Parked = s.book.Judge(s.options, domain, event.Showing, []*weftpb.Target{at(n + 1)})
		s.append(event)
		return len(event.Targets) == 1
	}
	const pages = 500
	for n := range pages {
		if !copies(n, n) {
			t.Fatalf("page %d is held back", n)
		}
	}
	for n := pages; copies(n, n%mostOriginals); n++ {
		if n == 2*pages {
			t.Fatal("the copies do not end")
		}
	}
}

// Pages that name nothing new are not evidence for or against their template. A dozen among
// thousands that are alike and name new URLs of another template make it a trap for themselves,
// and not for lists that show something new.
func TestFewAlikeAmongMany(t *testing.T) {
	s := open(DefaultOptions())
	for n := range looksSame {
		s.names(fmt.Sprintf("/item/%d", n), true, fmt.Sprintf("/notify/%d", n))
	}
	const items = 20
	for page := range mostSpared {
		paths := make([]string, items)
		for i := range paths {
			paths[i] = fmt.Sprintf("/item/%d", 100+page*items+i)
		}
		if n := s.names(fmt.Sprintf("/list/%d", page), false, paths...); n != items {
			t.Fatalf("of %d items of list %d, %d were admitted", items, page, n)
		}
	}
}
