package traps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// Traps begin with pages that show nothing new and name new URLs, long before there is
// enough evidence. These URLs are admitted in a group of their template. If the template
// turns out to be a trap, the group is withdrawn, and with it the URLs that are not
// fetched yet; the URLs that such pages name from then on are parked. The URLs of pages
// that show something new are in no group. A group is free unless one of its templates
// is a trap, and it is free for good when people lift one of them.

const groupPrefix = "trap "

// IsGroup tells whether a name is the name of a trap's group.
func IsGroup(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// group is the name of the group of a template's URLs. It has a hash, because templates
// may be as long as URLs.
func (id identity) group() string {
	return fmt.Sprintf("%s%016x", groupPrefix, xxh3.HashString(id.host+id.template))
}

// Group puts the targets of an event into groups if their page shows nothing new, and
// adds the groups whose state changes to the event. Parked names the groups that are
// withdrawn with a trap.
func (b *Templates) Group(domain string, event *weftpb.Deduped) {
	c := changes{Templates: b, domain: domain, event: event, trap: map[identity]bool{}}
	if nothingNew(event.GetShowing()) {
		for _, t := range event.Targets {
			c.join(t)
		}
	}
	c.judge()
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
	*Templates
	domain string
	event  *weftpb.Deduped
	// trap has the templates that become a trap (true) or stop being one.
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

// judge finds the templates that turn out to be traps, and the traps that the page of
// the event opens.
func (c *changes) judge() {
	parks := map[identity]bool{}
	for _, in := range c.event.Parked {
		if Reason(in.Reason).byContent() {
			parks[named(in.Host, in.Template)] = true
		}
	}
	for id := range parks {
		if p := c.known(id); p == nil || p.reason == "" {
			c.trap[id] = true
		}
	}
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
		if after.reason == "" && !parks[id] {
			c.trap[id] = false
		}
	}
}

// tellAll tells the state of the groups of a template, and returns their names. A group is
// withdrawn as long as one of its templates is a trap.
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

// stands tells whether one of these is a trap after the event, and none is lifted.
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

// groups are the templates whose groups hold the URLs of a template. The template of all
// queries of a path has the groups of each query.
func (c *changes) groups(id identity) (all []identity) {
	path, any := strings.CutSuffix(id.template, anyQuery)
	if !any {
		return []identity{id}
	}
	of := patternKey(c.domain, identity{host: id.host})
	for key := range kv.Below(c.store, patternKey(c.domain, identity{id.host, path + "?"})) {
		all = append(all, identity{id.host, string(key[len(of):])})
	}
	return all
}

// tell adds the state of a group to the event; the last state counts.
func (c *changes) tell(group string, state weftpb.Group_State) {
	if i := slices.IndexFunc(c.event.Groups, func(g *weftpb.Group) bool { return g.Name == group }); i >= 0 {
		c.event.Groups[i].State = state
		return
	}
	c.event.Groups = append(c.event.Groups, &weftpb.Group{Name: group, State: state})
}
