package foreign

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

const sitemap = "https://cdn.example/s.xml"

func entries(list ...string) (targets []*weftpb.Target) {
	for _, url := range list {
		targets = append(targets, &weftpb.Target{Url: url, Via: weftpb.Via_VIA_SITEMAP, Entry: &weftpb.Entry{Foreign: sitemap}})
	}
	return targets
}

// crowd folds what it decides.
type crowd struct{ *Entries }

func (c crowd) place(targets []*weftpb.Target) []*weftpb.Group {
	groups := c.Place(targets)
	c.Apply(&weftpb.Deduped{Targets: targets, Groups: groups})
	return groups
}

func (c crowd) vouch(host string) []*weftpb.Group {
	fresh, groups := c.Vouch([]*weftpb.Vouch{{Host: host, Sitemap: sitemap}})
	c.Apply(&weftpb.Deduped{Vouched: fresh, Groups: groups})
	return groups
}

// Entries wait for the robots.txt of their own host, and each host's entries for its own.
func TestEntriesWaitForTheirHost(t *testing.T) {
	store := &memstore.Store{}
	c := crowd{Open(store)}
	a := entries("https://a.example/1", "https://a.example/2", "https://b.example/1")
	groups := c.place(a)
	if len(groups) != 2 || a[0].Group != a[1].Group || a[0].Group == a[2].Group || !IsGroup(a[0].Group) {
		t.Fatalf("%v of %v", groups, a)
	}
	for _, g := range groups {
		if g.State != weftpb.Group_STATE_WITHDRAWN {
			t.Errorf("%v is fetched", g)
		}
	}
	c = crowd{Open(store)} // another process
	if freed := c.vouch("a.example"); len(freed) != 1 || freed[0].Name != a[0].Group || freed[0].State != weftpb.Group_STATE_FREE {
		t.Errorf("the word of a frees %v", freed)
	}
	if again, _ := c.Vouch([]*weftpb.Vouch{{Host: "a.example", Sitemap: sitemap}}); again != nil {
		t.Errorf("the same word is new again: %v", again)
	}
	late := entries("https://a.example/3", "https://b.example/2")
	if groups := c.place(late); len(groups) != 1 || late[0].Group != "" || late[0].Entry.Foreign != "" || late[1].Group != a[2].Group {
		t.Errorf("after the word of a: %v of %v", groups, late)
	}
	other := []*weftpb.Target{{Url: "https://a.example/4", Entry: &weftpb.Entry{Foreign: "https://cdn.example/other.xml"}}}
	if c.Place(other); other[0].Group == "" {
		t.Error("the word for one sitemap counts for another")
	}
}

// A host that speaks first frees nothing, and its entries wait for nothing.
func TestTheWordComesFirst(t *testing.T) {
	c := crowd{Open(&memstore.Store{})}
	if groups := c.vouch("a.example"); groups != nil {
		t.Errorf("there is no group, and %v is freed", groups)
	}
	a := entries("http://a.example/1")
	if groups := c.place(a); groups != nil || a[0].Group != "" {
		t.Errorf("it waits in %v", groups)
	}
}

// What a page names leaves its group, once.
func TestNamedByAPage(t *testing.T) {
	c := crowd{Open(&memstore.Store{})}
	link := []*weftpb.Target{{Url: "https://a.example/1", Via: weftpb.Via_VIA_LINK}, {Url: "https://a.example/2", Via: weftpb.Via_VIA_LINK}}
	if got := c.Recall(link); got != nil {
		t.Errorf("nothing waits, and %v is recalled", got)
	}
	c.place(entries("https://a.example/1"))
	if got := c.Recall(entries("https://a.example/1")); got != nil {
		t.Errorf("the sitemap itself recalls %v", got)
	}
	got := c.Recall(append(link, link...))
	if !slices.Equal(got, []string{"https://a.example/1"}) {
		t.Fatalf("recalled are %v", got)
	}
	c.Apply(&weftpb.Deduped{Recalled: got})
	if got := c.Recall(link); got != nil {
		t.Errorf("%v is recalled again", got)
	}
}

// A crawl without foreign entries stores nothing and reads nothing.
func TestOrdinaryCrawlsPayNothing(t *testing.T) {
	store := &counting{Store: &memstore.Store{}}
	e := Open(store)
	targets := []*weftpb.Target{{Url: "https://a.example/1", Entry: &weftpb.Entry{LastmodMs: 1}}, {Url: "https://a.example/2"}}
	e.Place(targets)
	e.Vouch(nil)
	e.Recall(targets)
	e.Apply(&weftpb.Deduped{Targets: targets, Recalled: []string{"https://a.example/2"}})
	if store.reads+len(store.Keys()) > 0 {
		t.Errorf("%d reads, keys %v", store.reads, strings.Join(store.Keys(), " "))
	}
}

type counting struct {
	*memstore.Store
	reads int
}

func (c *counting) Get(key []byte) []byte { c.reads++; return c.Store.Get(key) }
