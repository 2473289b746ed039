package variants

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/memstore"
)

const domain = "x.org"

// crawl is a dedupe partition: what is known, the sites, and all events.
type crawl struct {
	t       rapid.TB
	options *Options
	store   *memstore.Store
	sites   *Sites
	known   map[string]bool
	events  []*weftpb.Deduped
	// admitted counts how often a URL got into the crawl; merged is what stands
	// for one that did not.
	admitted map[string]int
	merged   map[string]string
	queue    []*weftpb.Target
	// aside are URLs that wait, by group, and groups the states of these.
	aside  map[string][]*weftpb.Target
	groups map[string]weftpb.Group_State
}

func newCrawl(t rapid.TB, learn bool, same ...string) *crawl {
	t.Helper()
	options, err := NewOptions(learn, same)
	if err != nil {
		t.Fatal(err)
	}
	store := &memstore.Store{}
	return &crawl{
		t: t, options: options, store: store, sites: Open(store),
		known: map[string]bool{}, admitted: map[string]int{}, merged: map[string]string{},
		aside: map[string][]*weftpb.Target{}, groups: map[string]weftpb.Group_State{},
	}
}

// take decides and folds a record, and checks that the decision changed nothing
// and that the fold may come twice.
func (c *crawl) take(n *weftpb.Normalized) *weftpb.Deduped {
	c.t.Helper()
	before := c.store.Clone()
	event := c.decide(n)
	if key, same := before.Equal(c.store); !same {
		c.t.Fatalf("a decision changed %q", key)
	}
	c.apply(event)
	once := c.store.Clone()
	c.sites.Apply(domain, event)
	if key, same := once.Equal(c.store); !same {
		c.t.Fatalf("the same event again changes %q", key)
	}
	return event
}

func (c *crawl) decide(n *weftpb.Normalized) *weftpb.Deduped {
	d := c.sites.Decide(c.options, domain, n, c.unseen(n.Targets), Surroundings{
		Known:   func(url string) bool { return c.known[url] },
		InScope: func(_ *weftpb.Target, kept urls.URL, _ string) bool { return kept.Path() != "/forbidden/" },
	})
	if size := proto.Size(&weftpb.Deduped{Targets: d.Restored}); size > maxMergedBytes {
		c.t.Fatalf("%d bytes come back at once", size)
	}
	return &weftpb.Deduped{Evidence: d.Evidence, Merged: d.Merged, Targets: append(c.unseen(d.Targets), d.Restored...),
		Groups: d.Groups, Recalled: d.Recalled}
}

func (c *crawl) unseen(targets []*weftpb.Target) (fresh []*weftpb.Target) {
	here := map[string]bool{}
	for _, t := range targets {
		if !c.known[t.Url] && !here[t.Url] {
			here[t.Url] = true
			fresh = append(fresh, t)
		}
	}
	return fresh
}

func (c *crawl) apply(event *weftpb.Deduped) {
	c.sites.Apply(domain, event)
	c.events = append(c.events, event)
	for _, m := range event.Merged {
		c.known[m.Target.Url] = true
		c.merged[m.Target.Url] = m.Kept
	}
	for _, t := range event.Targets {
		c.known[t.Url] = true
		c.admitted[t.Url]++
		delete(c.merged, t.Url)
		if t.Group == "" {
			c.queue = append(c.queue, t)
			continue
		}
		if !c.known[t.Twin] {
			c.t.Fatalf("%s waits for %s, which nobody has named", t.Url, t.Twin)
		}
		c.aside[t.Group] = append(c.aside[t.Group], t)
	}
	for _, g := range event.Groups {
		c.groups[g.Name] = g.State
	}
	for _, url := range event.Recalled {
		c.recall(url)
	}
}

// recall moves a URL that waits to the queue.
func (c *crawl) recall(url string) {
	for group, all := range c.aside {
		if i := slices.IndexFunc(all, func(t *weftpb.Target) bool { return t.Url == url }); i >= 0 {
			c.queue = append(c.queue, all[i])
			c.aside[group] = slices.Delete(all, i, i+1)
		}
	}
}

// next is the URL that is fetched next, as the frontier has it: one that waits when
// nothing else is there, and none that is withdrawn.
func (c *crawl) next() *weftpb.Target {
	for _, group := range slices.Sorted(maps.Keys(c.aside)) {
		if all := c.aside[group]; len(c.queue) == 0 && len(all) > 0 && c.groups[group] != weftpb.Group_STATE_WITHDRAWN {
			c.queue, c.aside[group] = all[:1:1], all[1:]
		}
	}
	if len(c.queue) == 0 {
		return nil
	}
	t := c.queue[0]
	c.queue = c.queue[1:]
	return t
}

// withdrawn tells whether a URL is never fetched because a twin is.
func (c *crawl) withdrawn(url string) bool {
	for _, all := range c.aside {
		if slices.ContainsFunc(all, func(t *weftpb.Target) bool { return t.Url == url }) {
			return true
		}
	}
	return false
}

// check folds all events from nothing: the store must be the same, and so must
// be what memory holds of it.
func (c *crawl) check() {
	c.t.Helper()
	again := &memstore.Store{}
	book := Open(again)
	for _, event := range c.events {
		book.Apply(domain, event)
	}
	if key, same := again.Equal(c.store); !same {
		c.t.Fatalf("the fold of the events differs at %q", key)
	}
	if a, b := fmt.Sprint(c.sites.tracked), fmt.Sprint(Open(again).tracked); a != b {
		c.t.Fatalf("memory holds %s, the store tells %s", a, b)
	}
	var want, have site
	c.store.Scan([]byte(mergedPrefix), []byte("v/m0"), func(_, value []byte) bool {
		want.merged, want.bytes = want.merged+1, want.bytes+bytesOf(decodeMerged(value))
		return true
	})
	c.store.Scan([]byte(sitePrefix), []byte("v/s0"), func(_, value []byte) bool {
		s := decode(value)
		have.merged, have.bytes = have.merged+s.merged, have.bytes+s.bytes
		return true
	})
	if have.merged != want.merged || have.bytes != want.bytes || have.merged != uint64(len(c.merged)) {
		c.t.Fatalf("%d URLs of %d bytes are given up; counted are %d of %d", want.merged, want.bytes, have.merged, have.bytes)
	}
	for url := range c.known {
		kept, merged := c.merged[url]
		switch {
		case c.admitted[url] > 1:
			c.t.Fatalf("%s got into the crawl %d times", url, c.admitted[url])
		case c.admitted[url] == 1 && merged, c.admitted[url] == 0 && !merged:
			c.t.Fatalf("%s: admitted %d times, merged %v", url, c.admitted[url], merged)
		case merged && c.admitted[kept] != 1:
			c.t.Fatalf("%s stands for %s and is not in the crawl", kept, url)
		}
	}
}

func link(url string) *weftpb.Target {
	return &weftpb.Target{Url: url, Via: weftpb.Via_VIA_LINK, Depth: 1}
}

func naming(targets ...*weftpb.Target) *weftpb.Normalized {
	return &weftpb.Normalized{Targets: targets}
}

// A crawl of a site with any rules, with exceptions anywhere, loses no page. The only exception is
// a page that differs from its variant, if no page that was read does so and it is not a probe.
// Every URL has one outcome.
func TestNoPageIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCrawl(t, rapid.Bool().Draw(t, "learn"))
		habit := rapid.SampledFrom([]string{"redirect", "canonical", "content", "few words"}).Draw(t, "habit")
		slashed := rapid.Bool().Draw(t, "slashed")
		pages := rapid.IntRange(1, maxPages).Draw(t, "pages")
		odd := rapid.SliceOfDistinct(rapid.IntRange(0, pages-1), rapid.ID).Draw(t, "odd")
		read := map[string]bool{} // contents
		both := func(i int) [2]string {
			kept, other := fmt.Sprintf("http://x.org/%d", i), fmt.Sprintf("http://x.org/%d/", i)
			if slashed {
				return [2]string{other, kept}
			}
			return [2]string{kept, other}
		}
		// An odd page has two contents, or only the variant has one and the kept
		// form is missing.
		answer := func(target *weftpb.Target) *weftpb.Normalized {
			var i int
			if _, err := fmt.Sscanf(target.Url, "http://x.org/%d", &i); err != nil {
				t.Fatal(err)
			}
			pair := both(i)
			// A text of a few words is not compared.
			own := func(content string, shown ...*weftpb.Evidence) *weftpb.Normalized {
				again := read[content]
				read[content] = true
				switch {
				case len(shown) > 0:
				case target.Via == weftpb.Via_VIA_PROBE:
					shown = append(shown, &weftpb.Evidence{Kind: weftpb.Evidence_KIND_OWN, Url: target.Url})
				case habit != "few words":
					shown = append(shown, &weftpb.Evidence{Kind: weftpb.Evidence_KIND_PAGE, Url: target.Url})
				}
				if again && habit != "few words" {
					other := pair[0]
					if target.Url == other {
						other = pair[1]
					}
					shown = append(shown, &weftpb.Evidence{Kind: weftpb.Evidence_KIND_CONTENT, Url: target.Url, SameAs: other})
				}
				return &weftpb.Normalized{Evidence: shown}
			}
			if slices.Contains(odd, i) {
				switch {
				case i%3 == 0 && target.Url == pair[0]:
					return &weftpb.Normalized{Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_MISSING, Url: target.Url}}}
				case i%3 == 1 && target.Url == pair[0]: // the other way round
					back := &weftpb.Target{Url: pair[1], Via: weftpb.Via_VIA_REDIRECT}
					return &weftpb.Normalized{
						Targets:  []*weftpb.Target{back},
						Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_REDIRECT, Url: pair[0], SameAs: pair[1]}},
					}
				}
				return own(target.Url)
			}
			if target.Url == pair[0] {
				return own(pair[0])
			}
			says := func(kind weftpb.Evidence_Kind) *weftpb.Evidence {
				return &weftpb.Evidence{Kind: kind, Url: pair[1], SameAs: pair[0]}
			}
			switch habit {
			case "redirect":
				return &weftpb.Normalized{
					Targets:  []*weftpb.Target{{Url: pair[0], Via: weftpb.Via_VIA_REDIRECT}},
					Evidence: []*weftpb.Evidence{says(weftpb.Evidence_KIND_REDIRECT)},
				}
			case "canonical":
				return own(pair[0], says(weftpb.Evidence_KIND_CANONICAL))
			}
			return own(pair[0])
		}
		order := rapid.Permutation(twice(pages)).Draw(t, "order")
		for {
			if len(order) > 0 && (len(c.queue) == 0 || rapid.Bool().Draw(t, "name")) {
				c.take(naming(link(both(order[0] / 2)[order[0]%2])))
				order = order[1:]
				continue
			}
			next := c.next()
			if next == nil {
				break
			}
			c.take(answer(next))
		}
		c.check()
		// Two pages that differ show that no rule holds.
		shown := habit != "few words" && slices.ContainsFunc(odd, func(i int) bool {
			pair := both(i)
			return i%3 == 2 && read[pair[0]] && read[pair[1]]
		})
		for i := range pages {
			pair := both(i)
			want := []string{pair[0]}
			if slices.Contains(odd, i) {
				want = pair[1:]
				switch {
				case i%3 == 2 && shown:
					want = pair[:]
				case i%3 == 2:
					want = slices.DeleteFunc(pair[:], func(url string) bool { return c.merged[url] != "" || c.withdrawn(url) })
				}
			}
			for _, content := range want {
				if !read[content] {
					t.Fatalf("the page of %s was never read", content)
				}
			}
		}
	})
}

// Where pages answer with a slash and without alike, and some have links that lead
// where they should from one of the two, that one is read if anybody names it,
// whatever pages without such links show.
func TestNoRelativeLinkIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCrawl(t, true)
		pages := rapid.IntRange(1, 20).Draw(t, "pages")
		relative := rapid.SliceOfDistinct(rapid.IntRange(0, pages-1), rapid.ID).Draw(t, "relative")
		short := rapid.SliceOfDistinct(rapid.IntRange(0, pages-1), rapid.ID).Draw(t, "short")
		read, first := map[string]bool{}, map[int]string{}
		answer := func(target *weftpb.Target) *weftpb.Normalized {
			var i int
			if _, err := fmt.Sscanf(target.Url, "http://x.org/%d", &i); err != nil {
				t.Fatal(err)
			}
			shown := func(kind weftpb.Evidence_Kind, other string) *weftpb.Evidence {
				return &weftpb.Evidence{Kind: kind, Url: target.Url, SameAs: other, Relative: slices.Contains(relative, i)}
			}
			n := &weftpb.Normalized{}
			switch few := slices.Contains(short, i); {
			case target.Via == weftpb.Via_VIA_PROBE:
				n.Evidence = append(n.Evidence, shown(weftpb.Evidence_KIND_OWN, ""))
			case !few:
				n.Evidence = append(n.Evidence, shown(weftpb.Evidence_KIND_PAGE, ""))
			default:
				n.Evidence = append(n.Evidence, shown(weftpb.Evidence_KIND_SHORT, ""))
			}
			if first[i] != "" && !slices.Contains(short, i) {
				n.Evidence = append(n.Evidence, shown(weftpb.Evidence_KIND_CONTENT, first[i]))
			}
			read[target.Url], first[i] = true, target.Url
			return n
		}
		named := rapid.Permutation(twice(pages)).Draw(t, "order")
		named = named[:rapid.IntRange(0, len(named)).Draw(t, "named")]
		for left := named; ; {
			if len(left) > 0 && (len(c.queue) == 0 || rapid.Bool().Draw(t, "name")) {
				c.take(naming(link(oneOfTwo(left[0]))))
				left = left[1:]
				continue
			}
			next := c.next()
			if next == nil {
				break
			}
			c.take(answer(next))
		}
		c.check()
		for _, n := range named {
			if url := oneOfTwo(n); slices.Contains(relative, n/2) && !read[url] {
				t.Fatalf("%s, whose links are others, was never read: %s stands for it", url, c.merged[url])
			}
		}
	})
}

// oneOfTwo is a URL of a page n/2, with a slash or without.
func oneOfTwo(n int) string { return fmt.Sprintf("http://x.org/%d%s", n/2, []string{"", "/"}[n%2]) }

func twice(n int) []int {
	all := make([]int, 2*n)
	for i := range all {
		all[i] = i
	}
	return all
}
