package variants

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/urls"
)

// Twins of a URL are the URLs that may name the same page by one way in which
// spellings differ, in either direction: the other scheme, with and without "www.",
// both of these, with and without a final slash, a directory and its index file.

// difference is one of these ways. States are kept of each by itself.
type difference struct {
	name string
	// rules of which one in force says that both spellings are one page, and all
	// broken that they are not; and the same of a second difference, if both are
	// between the two.
	rules, also Set
}

var (
	byScheme = difference{name: "https", rules: of(HTTPS)}
	byWWW    = difference{name: "www", rules: of(NoWWW, WWW)}
	byOrigin = difference{name: "https+www", rules: byScheme.rules, also: byWWW.rules}
	bySlash  = difference{name: "slash", rules: slashes}
)

func byIndex(r Rule) difference { return difference{name: r.String(), rules: of(r)} }

// differences are all there are.
func differences() []difference {
	all := []difference{byScheme, byWWW, byOrigin, bySlash}
	for r := firstIndex; int(r) < rules; r++ {
		all = append(all, byIndex(r))
	}
	return all
}

// group is the name of the group of a site's URLs that differ so from URLs that
// were named before.
func (d difference) group(site string) string { return site + " " + d.name }

// state is what is known of the group.
func (d difference) state(s *site) weftpb.Group_State {
	one := stateOf(s, d.rules)
	if d.also == 0 {
		return one
	}
	switch other := stateOf(s, d.also); {
	case one == weftpb.Group_STATE_FREE || other == weftpb.Group_STATE_FREE:
		return weftpb.Group_STATE_FREE
	case one == weftpb.Group_STATE_WITHDRAWN:
		return other
	}
	return weftpb.Group_STATE_UNSPECIFIED
}

func stateOf(s *site, rules Set) weftpb.Group_State {
	switch {
	case s.inForce()&rules != 0:
		return weftpb.Group_STATE_WITHDRAWN
	case rules&^s.broken() == 0:
		return weftpb.Group_STATE_FREE
	}
	return weftpb.Group_STATE_UNSPECIFIED
}

// eachTwin calls visit with the twins of a URL, until it returns false.
func eachTwin(u urls.URL, domain string, visit func(difference, string) bool) {
	path := u.Path()
	query := u.PathAndQuery()[len(path):]
	at := func(d difference, scheme, host, path string) bool {
		return visit(d, scheme+"://"+host+path+query)
	}
	scheme, host := otherScheme(u), otherHost(u, domain)
	switch {
	case scheme != "" && !at(byScheme, scheme, u.Host(), path):
	case host != "" && !at(byWWW, u.Scheme(), host, path):
	case scheme != "" && host != "" && !at(byOrigin, scheme, host, path):
	case unslashable(path+"/") && !at(bySlash, u.Scheme(), u.Host(), path+"/"):
	case unslashable(path) && !at(bySlash, u.Scheme(), u.Host(), path[:len(path)-1]):
	default:
		if r, ok := indexRule(path); ok {
			at(byIndex(r), u.Scheme(), u.Host(), directory(path))
		}
		if lastSegment(path) != "" {
			return
		}
		for i, file := range indexFiles {
			if !at(byIndex(firstIndex+Rule(i)), u.Scheme(), u.Host(), path+file) {
				return
			}
		}
	}
}

// otherScheme is http for https, and https for http, "" for a port of its own.
func otherScheme(u urls.URL) string {
	switch {
	case u.Host() != u.Hostname():
		return ""
	case u.Scheme() == "http":
		return "https"
	}
	return "http"
}

// otherHost is the host with or without "www.", "" if there is no such host.
func otherHost(u urls.URL, domain string) string {
	switch bare := Site(u, domain); {
	case bare != u.Host():
		return bare
	case named(u.Hostname()) && !strings.HasPrefix(bare, www):
		return www + bare
	}
	return ""
}

// admit takes a URL that nobody has named before into the crawl. One of which a twin
// is in it waits aside, until it is known whether both are one page.
func (d *decision) admit(t *weftpb.Target) {
	if d.options.Learn && mergeable(t) {
		if by, twin := d.twin(t.Url); twin != "" {
			name := siteOf(t.Url, d.domain)
			state := by.state(d.look(name))
			if state == weftpb.Group_STATE_WITHDRAWN {
				if rarely(t.Url) {
					t = asProbe(t)
				}
				d.tell(by.group(name), state)
			}
			if mergeable(t) {
				t = proto.CloneOf(t)
				t.Group, t.Twin = by.group(name), twin
			}
		}
	}
	d.named[t.Url] = true
	d.Targets = append(d.Targets, t)
}

// twin is a twin of a URL that is in the crawl, and how both differ: one that is
// known to be the same page rather than one that may be; "" is none.
func (d *decision) twin(url string) (by difference, twin string) {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return by, ""
	}
	s, name := d.look(siteOf(url, d.domain)), siteOf(url, d.domain)
	eachTwin(u, d.domain, func(how difference, other string) bool {
		if !d.inCrawl(name, other) {
			return true
		}
		switch how.state(s) {
		case weftpb.Group_STATE_WITHDRAWN:
			by, twin = how, other
			return false
		case weftpb.Group_STATE_UNSPECIFIED:
			if twin == "" {
				by, twin = how, other
			}
		}
		return true
	})
	return by, twin
}

// inCrawl tells whether a URL is in the crawl, or on its way there in this
// decision, and has a page as far as is known.
func (d *decision) inCrawl(name, url string) bool {
	if d.named[url] {
		return true
	}
	return d.around.Known(url) && !d.missing(name, url) && (!d.keeps(name) || d.book.given(name, url) == nil)
}

// recallTwins has the twins of a URL fetched that wait aside for it: it has no page.
func (d *decision) recallTwins(url string) {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return
	}
	eachTwin(u, d.domain, func(_ difference, other string) bool {
		if d.around.Known(other) {
			d.Recalled = append(d.Recalled, other)
		}
		return true
	})
}

// recallItself has a URL fetched that a seed or a redirect names, if it may wait
// aside for a twin.
func (d *decision) recallItself(t *weftpb.Target) {
	if !d.around.Known(t.Url) {
		return
	}
	u, refusal := urls.Parse(t.Url)
	if refusal != urls.Accepted {
		return
	}
	eachTwin(u, d.domain, func(_ difference, other string) bool {
		if d.around.Known(other) {
			d.Recalled = append(d.Recalled, t.Url)
			return false
		}
		return true
	})
}

// tellChanges tells the states of groups that the evidence changes.
func (d *decision) tellChanges() {
	for _, name := range slices.Sorted(maps.Keys(d.sites)) {
		after := d.sites[name]
		before := decode(d.book.store.Get(siteKey(name)))
		if before.inForce() == after.inForce() && before.broken() == after.broken() {
			continue
		}
		for _, by := range differences() {
			if state := by.state(after); state != by.state(before) {
				d.tell(by.group(name), state)
			}
		}
	}
}

// tell says the state of a group, once.
func (d *decision) tell(group string, state weftpb.Group_State) {
	for _, told := range d.Groups {
		if told.Name == group {
			return
		}
	}
	d.Groups = append(d.Groups, &weftpb.Group{Name: group, State: state})
}
