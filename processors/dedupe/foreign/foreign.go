// Package foreign holds back foreign entries of sitemaps. An entry is foreign if its host is not
// the host of the sitemap. It waits until the robots.txt of its own host names the sitemap
// (sitemaps.org, "Sitemaps and cross submits").
//
// The sitemap, the entry and the robots.txt may belong to three partitions. Two kinds of records
// come to the partition of the entry's domain: entries, each with the name of its sitemap, and
// the names of sitemaps on other hosts that a robots.txt names (Vouch). Either may come first.
//
// Entries wait in withdrawn groups of the frontier, one group for each host and sitemap. They are
// not pending, and no request is made because of them. A vouch frees the group, however many
// URLs it has. If anything else names a URL that waits, the URL leaves the group at once. So a
// foreign entry never keeps a page out of the crawl.
//
// State, below "f/" in the store of dedupe:
//
//	f/v/ HOST 0 SITEMAP16  the robots.txt of the host names the sitemap
//	f/g/ GROUP             the group has or had URLs
//	f/u/ URL16             the URL waits, as far as dedupe knows
//
// A crawl without sitemaps has no such keys, and makes no look-ups.
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

// Entries has the foreign entries of one partition. Only one goroutine at a time may use it.
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

// IsGroup tells whether a group with this name holds entries of a sitemap.
func IsGroup(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// Decide says what a record of normalized changes about entries. unseen are its new targets; those
// that wait get their groups.
func (e *Entries) Decide(n *weftpb.Normalized, unseen []*weftpb.Target) (vouched []*weftpb.Vouch, groups []*weftpb.Group, recalled []string) {
	vouched, groups = e.Vouch(n.Vouched)
	groups = append(groups, e.Place(unseen)...)
	return vouched, groups, e.Recall(n.Targets)
}

// Place puts the targets that are foreign entries into their groups, and returns the groups. If the
// robots.txt of their host has named the sitemap, they become targets like others.
func (e *Entries) Place(targets []*weftpb.Target) (groups []*weftpb.Group) {
	for _, t := range targets {
		sitemap := t.GetEntry().GetForeign()
		if sitemap == "" {
			continue
		}
		host := urls.AuthorityOf(t.GetUrl())
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

// Vouch returns the vouches that are new, and the groups that they free.
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

// groupOf returns the name of the group for the entries of a host in a sitemap. It contains a hash
// of the sitemap's URL, because URLs are long.
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
