// Package foreign holds back entries of sitemaps that are of another host than their
// sitemap, until the robots.txt of that host names the sitemap (sitemaps.org, "Sitemaps and
// cross submits").
//
// The sitemap, the entry's host and its robots.txt may belong to three partitions. What the
// rule needs meets in the partition of the entry's domain: the entries, each with the name of
// its sitemap, and from the robots.txt the names of the sitemaps of other hosts (Vouch).
// Either may come first.
//
// Entries wait in a group of the frontier, one for each host and sitemap, that is withdrawn:
// they are not pending, and no request is made because of them. The vouch frees the group,
// however many URLs it holds. A URL that waits and that anything else names leaves the group at
// once, so an entry that does not count keeps no page from the crawl.
//
// State, below "f/" in the store of dedupe:
//
//	f/v/ HOST 0 SITEMAP16  the robots.txt of the host names the sitemap
//	f/g/ GROUP             the group has or had URLs
//	f/u/ URL16             the URL waits, as far as dedupe knows
//
// A crawl without sitemaps has nothing there, and pays for no look.
package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

// Entries is what is known in one partition. One goroutine at a time may use it.
type Entries struct {
	store kv.Store
	// any: at least one URL was ever held back.
	any bool
}

const (
	vouchPrefix   = "f/v/"
	groupedPrefix = "f/g/"
	waitingPrefix = "f/u/"
	groupPrefix   = "sitemap "
)

// Open returns the entries in store.
func Open(store kv.Store) *Entries {
	e := &Entries{store: store}
	for range kv.Below(store, []byte(groupedPrefix)) {
		e.any = true
		break
	}
	return e
}

// IsGroup tells whether the name of a group is that of entries of a sitemap.
func IsGroup(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// Place puts the targets that are foreign entries into their groups, and returns the groups.
// Those for which the robots.txt of their host speaks are like others from then on.
func (e *Entries) Place(targets []*weftpb.Target) (groups []*weftpb.Group) {
	for _, t := range targets {
		sitemap := t.GetEntry().GetForeign()
		if sitemap == "" {
			continue
		}
		host := hostOf(t.GetUrl())
		if e.store.Get(vouchKey(host, sitemap)) != nil {
			t.Entry.Foreign = ""
			continue
		}
		t.Group = groupOf(host, sitemap)
		if !slices.ContainsFunc(groups, func(g *weftpb.Group) bool { return g.Name == t.Group }) {
			groups = append(groups, &weftpb.Group{Name: t.Group, State: weftpb.Group_STATE_WITHDRAWN})
		}
	}
	return groups
}

// Vouch returns what is new of what robots.txt files say, and the groups that it frees.
func (e *Entries) Vouch(said []*weftpb.Vouch) (fresh []*weftpb.Vouch, groups []*weftpb.Group) {
	for _, v := range said {
		if e.store.Get(vouchKey(v.GetHost(), v.GetSitemap())) != nil {
			continue
		}
		fresh = append(fresh, v)
		if group := groupOf(v.GetHost(), v.GetSitemap()); e.any && e.store.Get([]byte(groupedPrefix+group)) != nil {
			groups = append(groups, &weftpb.Group{Name: group, State: weftpb.Group_STATE_FREE})
		}
	}
	return fresh, groups
}

// Recall returns the URLs that wait and that something else names.
func (e *Entries) Recall(targets []*weftpb.Target) (recalled []string) {
	if !e.any {
		return nil
	}
	for _, t := range targets {
		if t.GetEntry().GetForeign() == "" && e.store.Get(waitingKey(t.GetUrl())) != nil && !slices.Contains(recalled, t.GetUrl()) {
			recalled = append(recalled, t.GetUrl())
		}
	}
	return recalled
}

// Apply folds an event.
func (e *Entries) Apply(event *weftpb.Deduped) {
	for _, v := range event.GetVouched() {
		e.store.Set(vouchKey(v.GetHost(), v.GetSitemap()), []byte{1})
	}
	for _, t := range event.GetTargets() {
		if IsGroup(t.GetGroup()) {
			e.any = true
			e.store.Set([]byte(groupedPrefix+t.Group), []byte{1})
			e.store.Set(waitingKey(t.GetUrl()), []byte{1})
		}
	}
	if e.any {
		for _, url := range event.GetRecalled() {
			e.store.Delete(waitingKey(url))
		}
	}
}

// groupOf is the name of the group of a host's entries in a sitemap. It has a hash, because
// URLs are long.
func groupOf(host, sitemap string) string {
	return fmt.Sprintf("%s%016x", groupPrefix, xxh3.HashString(host+"\x00"+sitemap))
}

func vouchKey(host, sitemap string) []byte {
	print := urls.Fingerprint(sitemap)
	return append(append([]byte(vouchPrefix+host), 0), print[:]...)
}

func waitingKey(url string) []byte {
	print := urls.Fingerprint(url)
	return append([]byte(waitingPrefix), print[:]...)
}

// hostOf is the host, and port, of a canonical URL.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
