package frontier

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/test/memstore"
)

func TestPriority(t *testing.T) {
	for _, test := range []struct {
		depth    uint32
		via      weftpb.Via
		priority uint32
		reason   string
	}{
		{0, weftpb.Via_VIA_SEED, 0, "seed"},
		{2, weftpb.Via_VIA_SEED, 0, "seed"},
		{0, weftpb.Via_VIA_REDIRECT, 0, "seed"},
		{0, weftpb.Via_VIA_SITEMAP, 0, "seed"},
		{1, weftpb.Via_VIA_SITEMAP, 1, "sitemap"},
		{40, weftpb.Via_VIA_SITEMAP, 1, "sitemap"},
		{1, weftpb.Via_VIA_LINK, 2, "shallow"},
		{3, weftpb.Via_VIA_LINK, 2, "shallow"},
		{3, weftpb.Via_VIA_REDIRECT, 2, "shallow"},
		{4, weftpb.Via_VIA_LINK, 3, "deep"},
		{4, weftpb.Via_VIA_UNSPECIFIED, 3, "deep"},
	} {
		priority, reason := Priority(test.depth, test.via)
		if priority != test.priority || reason != test.reason {
			t.Errorf("Priority(%d, %v) = %d, %s; want %d, %s", test.depth, test.via, priority, reason, test.priority, test.reason)
		}
	}
}

func TestOriginOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/":              "https://a.example",
		"https://a.example/b/c?d=http://": "https://a.example",
		"http://a.example:8080/":          "http://a.example:8080",
		"http://[::1]:80/x":               "http://[::1]:80",
		"https://a.example":               "https://a.example",
		"https://a.example?q":             "https://a.example",
		"https:///x":                      "",
		"mailto:a@a.example":              "",
		"/x":                              "",
		"":                                "",
	} {
		got, ok := originOf(url)
		if ok != (want != "") || ok && got != want {
			t.Errorf("originOf(%q) = %q, %v; want %q", url, got, ok, want)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	if err := testOptions().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for want, change := range map[string]func(*Options){
		"partition": func(o *Options) { o.Partition = -1 },
		"delay":     func(o *Options) { o.Delay = -time.Second },
		"within":    func(o *Options) { o.Delay = 2 * time.Hour },
		"factor":    func(o *Options) { o.ResponseFactor = -1 },
		"visits":    func(o *Options) { o.PerDomain = 0 },
		"per":       func(o *Options) { o.PerDomain = 65 },
		"window":    func(o *Options) { o.Window = 0 },
		"origins":   func(o *Options) { o.MaxOrigins = 0 },
		"breaker":   func(o *Options) { o.BreakerFailures = 0 },
		"given up":  func(o *Options) { o.GiveUpAfter = -time.Second },
		"robots":    func(o *Options) { o.Allowed = nil },
	} {
		opts := testOptions()
		change(&opts)
		if err := opts.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about the %s", err, want)
		}
	}
}

// TestOverlay holds an overlay against a store that really is written to.
func TestOverlay(t *testing.T) {
	key := rapid.StringMatching(`[ab]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		base := &memstore.Store{}
		for range rapid.IntRange(0, 6).Draw(t, "base") {
			base.Set([]byte(key.Draw(t, "key")), []byte("base"))
		}
		untouched, want := base.Clone(), base.Clone()
		var over overlay
		over.reset(base)
		for i := range rapid.IntRange(0, 8).Draw(t, "writes") {
			k, v := []byte(key.Draw(t, "key")), []byte(fmt.Sprint(i))
			if rapid.Bool().Draw(t, "delete") {
				over.Delete(k)
				want.Delete(k)
				continue
			}
			over.Set(k, v)
			want.Set(k, v)
		}
		lower, upper := []byte(key.Draw(t, "lower")), []byte(key.Draw(t, "upper"))
		limit := rapid.IntRange(1, 10).Draw(t, "limit")
		if got, want := listing(&over, lower, upper, limit), listing(want, lower, upper, limit); !slices.Equal(got, want) {
			t.Fatalf("scan of [%s, %s) gives %v, want %v", lower, upper, got, want)
		}
		k := []byte(key.Draw(t, "key"))
		if got, want := over.Get(k), want.Get(k); string(got) != string(want) || (got == nil) != (want == nil) {
			t.Fatalf("%s is %q, want %q", k, got, want)
		}
		if key, equal := base.Equal(untouched); !equal {
			t.Fatalf("the base changed at %s", key)
		}
	})
}

func listing(s kv.Store, lower, upper []byte, limit int) []string {
	var list []string
	s.Scan(lower, upper, func(key, value []byte) bool {
		list = append(list, string(key)+"="+string(value))
		return len(list) < limit
	})
	return list
}

// TestIndex holds the first entry that an index remembers against a search.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &memstore.Store{}
		x := &index{prefix: 'b'}
		store.Set([]byte("a"), nil)
		store.Set([]byte("c"), nil)
		entries := map[string]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			number := rapid.Uint64Range(0, 5).Draw(t, "number")
			name := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "name")
			key := string(x.key(number, []byte(name)...))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				x.remove(store, number, []byte(name)...)
				delete(entries, key)
			case 1:
				x = &index{prefix: 'b'} // a restart
			default:
				x.set(store, number, []byte(name)...)
				entries[key] = true
			}
			if rapid.Bool().Draw(t, "unread") {
				continue
			}
			first, below, above := uint64(noEntry), 0, 0
			for key := range entries {
				n := binary.BigEndian.Uint64([]byte(key[1:9]))
				first = min(first, n)
				below += int(delta(false, n <= 2))
				above += int(delta(false, n > 2))
			}
			if got := x.first(store); got != first {
				t.Fatalf("first is %d, want %d", got, first)
			}
			x.upTo(store, 2, func([]byte) bool { below--; return true })
			x.beyond(store, 2, func([]byte) bool { above--; return true })
			if below != 0 || above != 0 {
				t.Fatalf("%d entries up to 2 and %d above are missing", below, above)
			}
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache[int](100)
	c.put("kept", 1, 1)
	for i := range 1000 {
		if i%10 == 0 {
			c.put("kept", 1, 1)
		}
		c.put(fmt.Sprint(i), i, 2)
		if n := len(c.young) + len(c.old); n > 60 {
			t.Fatalf("%d entries after %d", n, i)
		}
	}
	if v, ok := c.get("kept"); !ok || v != 1 {
		t.Error("what was used is gone")
	}
	if _, ok := c.get("0"); ok {
		t.Error("what was not used is still there")
	}
}

// TestShare holds the shares of a crawl's budget to the seeds' rule: by rank, at least 100 each.
// What is divided is at most the budget and the least shares.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(1, 1<<40).Draw(t, "budget")
		ranks := rapid.SliceOfN(rapid.Int64Range(1, 1<<32), 1, 50).Draw(t, "ranks")
		slices.Sort(ranks)
		var all, given, least int64
		for _, rank := range ranks {
			all += rank
		}
		before := int64(0)
		for _, rank := range ranks {
			share, exact := Share(budget, rank, all), float64(budget)*float64(rank)/float64(all)
			switch {
			case share < minShare:
				t.Fatalf("a domain has %d requests", share)
			case share < before:
				t.Fatalf("a domain of rank %d has %d requests, one of a lower rank %d", rank, share, before)
			case exact < minShare && share != minShare, exact > minShare+1 && share != int64(exact):
				t.Fatalf("a domain of rank %d of %d has %d requests of %d, not %g", rank, all, share, budget, exact)
			}
			if before = share; exact < minShare {
				least += minShare
			}
			given += share
		}
		if given > budget+least {
			t.Fatalf("%d are given of %d, and %d at least", given, budget, least)
		}
	})
	if share := Share(1000, 0, 0); share != minShare {
		t.Errorf("while nothing is known a domain has %d requests", share)
	}
}
