package traps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// A page that shows nothing new and names URLs that nobody has seen before is how
// traps begin, long before there is enough evidence for one. Its URLs are admitted
// in a group of their template, so that those that are not fetched when the
// template turns out to be a trap are withdrawn, as the URLs are parked that the same pages
// name from then on. The URLs of pages that show something new are in no group. A
// group is free unless one of its traps stands, and it is free for good when people
// lift one.

// groupPrefix begins the names of all groups of traps.
const groupPrefix = "trap "

// IsGroup tells whether the name of a group is that of a trap's.
func IsGroup(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// group is the name of the group of a template's URLs. Templates are as long as URLs.
func (id identity) group() string {
	return fmt.Sprintf("%s%016x", groupPrefix, xxh3.HashString(id.host+id.template))
}

// Group puts those of an event's targets into groups that its page names although
// it shows nothing new, and tells the groups whose state changes with the event.
// Those that are withdrawn are named by what is parked, too.
func (b *Book) Group(domain string, event *weftpb.Deduped) {
	c := changes{Book: b, domain: domain, event: event, told: map[string]bool{}, trap: map[identity]bool{}}
	if nothingNew(event.GetShowing()) {
		for _, t := range event.Targets {
			c.join(t)
		}
	}
	c.parked()
	c.opened()
	for _, p := range event.Parked {
		if id := named(p.Host, p.Template); c.trap[id] {
			p.Groups = c.tellAll(id, weftpb.Group_STATE_WITHDRAWN)
		}
	}
	for id, trap := range c.trap {
		if !trap {
			c.tellAll(id, weftpb.Group_STATE_FREE)
		}
	}
	slices.SortFunc(event.Groups, func(x, y *weftpb.Group) int { return strings.Compare(x.Name, y.Name) })
}

// nothingNew tells whether a page showed what others had shown.
func nothingNew(shows weftpb.Showing) bool {
	return shows == weftpb.Showing_SHOWING_AGAIN || shows == weftpb.Showing_SHOWING_COPY
}

// changes are what an event changes about groups.
type changes struct {
	*Book
	domain string
	event  *weftpb.Deduped
	told   map[string]bool
	// trap tells of templates of which it changes whether they are traps.
	trap map[identity]bool
}

// join puts a target into the group of its template.
func (c *changes) join(t *weftpb.Target) {
	ids := c.identities(c.domain, t.GetUrl())
	if t.GetVia() == weftpb.Via_VIA_SEED || t.GetVia() == weftpb.Via_VIA_REDIRECT || t.GetGroup() != "" || c.exempted(ids) {
		return
	}
	t.Group = ids[0].group()
	c.tell(t.Group, weftpb.Group_STATE_FREE)
}

// exempted tells whether people lifted a trap of a URL.
func (c *changes) exempted(ids [2]identity) bool {
	return slices.ContainsFunc(ids[:], func(id identity) bool {
		p := c.known(id)
		return p != nil && p.exempt
	})
}

// known is what is known of a template, nil for none.
func (c *changes) known(id identity) *pattern {
	if id.template == "" {
		return nil
	}
	return c.pattern(c.domain, id)
}

// opened finds the traps that the page of the event opens.
func (c *changes) opened() {
	if c.event.GetShowing() == weftpb.Showing_SHOWING_UNSPECIFIED {
		return
	}
	for _, id := range c.identities(c.domain, c.event.GetSource()) {
		p := c.known(id)
		if p == nil || p.reason == "" {
			continue
		}
		after := *p
		after.originals = slices.Clone(p.originals)
		after.show(c.event.GetSource(), c.event.GetShowing(), c.event.GetOriginal())
		if after.reason == "" && !c.parks(id) {
			c.trap[id] = false
		}
	}
}

// parked finds the templates that turn out to be traps.
func (c *changes) parked() {
	for _, in := range c.event.Parked {
		id := named(in.Host, in.Template)
		if p := c.known(id); Reason(in.Reason).byContent() && (p == nil || p.reason == "") {
			c.trap[id] = true
		}
	}
}

// parks tells whether the event parks URLs of a trap.
func (c *changes) parks(id identity) bool {
	return slices.ContainsFunc(c.event.Parked, func(in *weftpb.Parked) bool {
		return named(in.Host, in.Template) == id && Reason(in.Reason).byContent()
	})
}

// tellAll tells the state of the groups of a template, and returns their names. A
// group is withdrawn as long as one of its traps stands.
func (c *changes) tellAll(id identity, state weftpb.Group_State) (names []string) {
	for _, of := range c.groups(id) {
		ids := of.all()
		if c.exempted(ids) && state == weftpb.Group_STATE_WITHDRAWN || state == weftpb.Group_STATE_FREE && c.stands(ids) {
			continue
		}
		names = append(names, of.group())
		c.tell(of.group(), state)
	}
	return names
}

// all are the templates whose traps a group's URLs are of.
func (id identity) all() (ids [2]identity) {
	for i, template := range withQueries(id.template) {
		if template != "" && (i == 0 || template != id.template) {
			ids[i] = identity{id.host, template}
		}
	}
	return ids
}

// stands tells whether one of these is a trap once the event is folded, and none is lifted.
func (c *changes) stands(ids [2]identity) bool {
	if c.exempted(ids) {
		return false
	}
	return slices.ContainsFunc(ids[:], func(id identity) bool {
		if trap, changed := c.trap[id]; changed {
			return trap
		}
		p := c.known(id)
		return p != nil && p.reason != ""
	})
}

// groups are the templates whose groups a template's URLs are in: that of all
// queries of a path holds those of each query.
func (c *changes) groups(id identity) (all []identity) {
	path, any := strings.CutSuffix(id.template, anyQuery)
	if !any {
		return []identity{id}
	}
	of := patternKey(c.domain, identity{host: id.host})
	lower, upper := patternKey(c.domain, identity{id.host, path + "?"}), patternKey(c.domain, identity{id.host, path + "@"})
	c.store.Scan(lower, upper, func(key, _ []byte) bool {
		all = append(all, identity{id.host, string(key[len(of):])})
		return true
	})
	return all
}

// tell tells the state of a group; what is told last holds.
func (c *changes) tell(group string, state weftpb.Group_State) {
	if c.told[group] {
		i := slices.IndexFunc(c.event.Groups, func(g *weftpb.Group) bool { return g.Name == group })
		c.event.Groups[i].State = state
		return
	}
	c.told[group] = true
	c.event.Groups = append(c.event.Groups, &weftpb.Group{Name: group, State: state})
}
