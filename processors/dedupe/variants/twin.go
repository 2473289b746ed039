package variants

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// The twins of a URL differ from it in one of these ways, and may name the same page:
// the other scheme, with and without "www.", both of these, with and without a final
// slash, a directory and its index file.

// difference is one of these ways. Each has a state of its own.
type difference struct {
	name string
	// If one of rules is in force, both spellings are one page. If all are broken, they
	// are not. also is the same for a second difference, if the spellings differ in two.
	rules, also Set
}

var (
	byScheme = difference{name: "https", rules: of(HTTPS, HTTP)}
	byWWW    = difference{name: "www", rules: of(NoWWW, WWW)}
	byOrigin = difference{name: "https+www", rules: byScheme.rules, also: byWWW.rules}
	bySlash  = difference{name: "slash", rules: slashes}
)

func byIndex(r Rule) difference { return difference{name: r.String(), rules: of(r)} }

func differences() []difference {
	all := []difference{byScheme, byWWW, byOrigin, bySlash}
	for r := firstIndex; r < HTTP; r++ {
		all = append(all, byIndex(r))
	}
	return all
}

// crosses tells whether the two spellings are of different origins.
func (d difference) crosses() bool { return d.rules&elsewhere != 0 }

// group is the name of the group of URLs that differ in this way from URLs that were named
// before. place is the site; if these URLs are at another origin, it is that origin, because a
// group is fetched if its origin does not answer.
func (d difference) group(place string) string { return place + " " + d.name }

// groupOf is the group of the URLs that wait for a twin of a site, and the twin's
// origin, 0 if it is their own.
func (d difference) groupOf(twin urls.URL, site, domain string) (name string, at origins) {
	if !d.crosses() {
		return d.group(site), 0
	}
	return d.group(originName(twin)), originOf(twin, domain)
}

// eachGroup calls visit with what groupOf may return for a site.
func (d difference) eachGroup(site string, visit func(name string, at origins)) {
	if !d.crosses() {
		visit(d.group(site), 0)
		return
	}
	eachOrigin(site, func(name string, at origins) { visit(d.group(name), at) })
}

// stateAt is the state of the group of URLs that wait for URLs of an origin, 0 if it is
// their own. The group is not withdrawn before that origin has answered.
func (d difference) stateAt(s *site, answered, at origins) weftpb.Group_State {
	state := d.state(s)
	if state == weftpb.Group_STATE_WITHDRAWN && at&^answered != 0 {
		return weftpb.Group_STATE_UNSPECIFIED
	}
	return state
}

// state is the state of a group as far as the rules say it.
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

// otherScheme is http for https, and https for http; "" if the URL has a port.
func otherScheme(u urls.URL) string {
	switch {
	case u.Host() != u.Hostname():
		return ""
	case u.Scheme() == "http":
		return "https"
	}
	return "http"
}

// otherHost is the host with or without "www."; "" if there is no such host.
func otherHost(u urls.URL, domain string) string {
	switch bare := Site(u, domain); {
	case bare != u.Host():
		return bare
	case named(u.Hostname()) && !strings.HasPrefix(bare, www):
		return www + bare
	}
	return ""
}

// admit takes a URL that was never seen into the crawl. If a twin of it is in the crawl,
// it waits in a group until it is known whether both are one page.
func (d *decision) admit(t *weftpb.Target) {
	if d.options.Learn && mergeable(t) {
		if w := d.twin(t.Url); w.twin != "" {
			if w.state == weftpb.Group_STATE_WITHDRAWN {
				if d.oneIn(rareProbeEvery, t.Url) {
					t = asProbe(t)
				}
				d.tell(w.group, w.state)
			}
			if mergeable(t) {
				t = proto.CloneOf(t)
				t.Group, t.Twin = w.group, w.twin
			}
		}
	}
	d.named[t.Url] = true
	d.Targets = append(d.Targets, t)
}

// wait is the group that a URL waits in, and the twin that it waits for. The zero value:
// it does not wait.
type wait struct {
	twin, group string
	state       weftpb.Group_State
}

// twin returns where a URL waits for a twin that is in the crawl. A twin that is known
// to be the same page comes before one that may be.
func (d *decision) twin(url string) (w wait) {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return w
	}
	name := siteOf(url, d.domain)
	s := d.look(name)
	eachTwin(u, d.domain, func(how difference, other string) bool {
		if !d.inCrawl(name, other) {
			return true
		}
		twin, _ := urls.Parse(other)
		group, at := how.groupOf(twin, name, d.domain)
		state := how.state(s) // this is read already, and enough for most
		if state == weftpb.Group_STATE_WITHDRAWN {
			state = how.stateAt(s, d.lookAtPages(name).answered, at)
		}
		switch state {
		case weftpb.Group_STATE_WITHDRAWN:
			w = wait{other, group, state}
			return false
		case weftpb.Group_STATE_UNSPECIFIED:
			if w.twin == "" {
				w = wait{other, group, state}
			}
		}
		return true
	})
	return w
}

// inCrawl tells whether a URL is in the crawl, or on its way there in this
// decision, and has a page as far as is known.
func (d *decision) inCrawl(name, url string) bool {
	if d.named[url] {
		return true
	}
	return d.around.Known(url) && !d.missing(name, url) && (!d.hasMerged(name) || d.known.mergedURL(name, url) == nil)
}

// knownTwins are the twins of a URL that were named before.
func (d *decision) knownTwins(url string) (known []string) {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return nil
	}
	eachTwin(u, d.domain, func(_ difference, other string) bool {
		if d.around.Known(other) {
			known = append(known, other)
		}
		return true
	})
	return known
}

// tellChanges tells the states of groups that the evidence changes.
func (d *decision) tellChanges() {
	changed := map[string]bool{}
	for name := range d.sites {
		changed[name] = true
	}
	for name := range d.pages {
		changed[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if d.sites[name] == nil && d.inForce(name)&elsewhere == 0 {
			continue // only its pages changed, and no rule in force depends on them
		}
		before, after := decode(d.known.store.Get(siteKey(name))), d.look(name)
		answered, answers := decodePages(d.known.store.Get(pagesKey(name))).answered, d.lookAtPages(name).answered
		if before.inForce() == after.inForce() && before.broken() == after.broken() && (answered == answers || after.inForce()&elsewhere == 0) {
			continue
		}
		for _, by := range differences() {
			by.eachGroup(name, func(group string, at origins) {
				state := by.stateAt(after, answers, at)
				if state != by.stateAt(before, answered, at) && (d.options.Learn || state != weftpb.Group_STATE_WITHDRAWN) {
					d.tell(group, state)
				}
			})
			// Ledgers of older programs have one group for all origins. Its URLs come back
			// if it is withdrawn.
			if state := by.state(after); by.crosses() && state != weftpb.Group_STATE_WITHDRAWN && by.state(before) == weftpb.Group_STATE_WITHDRAWN {
				d.tell(by.group(name), state)
			}
		}
	}
}

// tell notes the state of a group, once.
func (d *decision) tell(group string, state weftpb.Group_State) {
	if !slices.ContainsFunc(d.Groups, func(told *weftpb.Group) bool { return told.Name == group }) {
		d.Groups = append(d.Groups, &weftpb.Group{Name: group, State: state})
	}
}
