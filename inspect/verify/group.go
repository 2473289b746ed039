package verify

import "github.com/weftcrawl/weft/codecs/weftpb"

// groups are the groups of a domain, by name: the number of their URLs, and whether
// these are pending.
type groups map[string]*group

type group struct {
	state weftpb.Group_State
	count int64
}

func (d *domain) group(name string) *group {
	g := d.groups[name]
	if g == nil {
		if d.groups == nil {
			d.groups = groups{}
		}
		g = &group{}
		d.groups[name] = g
	}
	return g
}

// aside counts that n URLs join a group, or leave it.
func (p *partition) aside(s *step, url, name string, n int64) {
	g := s.domain.group(name)
	g.count += n
	if g.count < 0 && p.whole {
		p.violate(s, KindImpossibleStep, url, s.says("takes it out"), "it leaves group %q, which holds none", name)
	}
	if g.state == weftpb.Group_STATE_WITHDRAWN {
		p.have.withdrawn += n
		return
	}
	p.count(s, queued, n)
}

func (p *partition) regroup(s *step, told *weftpb.Group) {
	g := s.domain.group(told.GetName())
	held := g.count
	p.aside(s, "", told.GetName(), -held)
	g.state = told.GetState()
	p.aside(s, "", told.GetName(), held)
}

// recall counts that a URL goes from its group to a queue.
func (p *partition) recall(s *step, r *weftpb.Recall) {
	p.move(s, r.GetUrl(), queued, queued)
	p.aside(s, r.GetUrl(), r.GetGroup(), -1)
	p.count(s, queued, 1)
}

func (p *partition) leavesFor(s *step, q *weftpb.Request) {
	p.leaves(s, q.GetTarget().GetUrl(), q.GetAgain(), q.GetTarget().GetGroup())
}

// leaves counts that a URL goes from its group, if it is in one, to a queue. It leaves the queue
// next. No URL leaves a withdrawn group.
func (p *partition) leaves(s *step, url string, again bool, group string) {
	if again || group == "" {
		return
	}
	if s.domain.group(group).state == weftpb.Group_STATE_WITHDRAWN && p.whole {
		p.violate(s, KindImpossibleStep, url, s.says("takes it out"), "it leaves group %q, which is withdrawn", group)
	}
	p.aside(s, url, group, -1)
	p.count(s, queued, 1)
}
