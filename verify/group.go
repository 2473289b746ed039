package verify

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/traps"
)

// groups are the groups of a domain, by name: what they hold, and whether that is
// pending.
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

// aside books that n URLs join a group, or leave it.
func (p *partition) aside(s *step, url, name string, n int64) {
	g := s.domain.group(name)
	g.count += n
	if g.count < 0 && p.whole {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, URL: url, Says: fmt.Sprintf("it leaves group %q, which holds none", name),
			Records: []Record{s.says("takes it out")},
		})
	}
	if g.state == weftpb.Group_STATE_WITHDRAWN {
		p.have.withdrawn += n
		return
	}
	p.count(s, queued, n)
}

// regroup books the state of a group.
func (p *partition) regroup(s *step, told *weftpb.Group) {
	g := s.domain.group(told.GetName())
	held := g.count
	p.aside(s, "", told.GetName(), -held)
	g.state = told.GetState()
	p.aside(s, "", told.GetName(), held)
}

// recall books that a URL goes from its group to a queue.
func (p *partition) recall(s *step, r *weftpb.Recall) {
	p.move(s, r.GetUrl(), queued, queued)
	p.aside(s, r.GetUrl(), r.GetGroup(), -1)
	p.count(s, queued, 1)
}

func (p *partition) leavesFor(s *step, q *weftpb.Request) {
	p.leaves(s, q.GetTarget().GetUrl(), q.GetAgain(), q.GetTarget().GetGroup())
}

// leaves books that a URL goes from its group, if it is in one, to a queue, from
// which it goes on. None leaves a group that is withdrawn.
func (p *partition) leaves(s *step, url string, again bool, group string) {
	if again || group == "" {
		return
	}
	if s.domain.group(group).state == weftpb.Group_STATE_WITHDRAWN && p.whole {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, URL: url, Says: fmt.Sprintf("it leaves group %q, which is withdrawn", group),
			Records: []Record{s.says("takes it out")},
		})
	}
	p.aside(s, url, group, -1)
	p.count(s, queued, 1)
}

// twins holds that what URLs wait aside for is in the crawl: by the same event of
// dedupe, or before. parked and merged URLs are booked by then.
func (l *ledgers) twins(r *kgo.Record, body *weftpb.Deduped) {
	for _, t := range body.Targets {
		if t.Group == "" || traps.IsGroup(t.Group) || body.Lifted != nil {
			continue
		}
		_, twin := l.table.get(t.Twin)
		if !twin.is(inDeduped) && !twin.is(inTrap) && !twin.is(standsAside) && l.dedupedWhole {
			l.violate(Violation{
				Kind: KindNoStandIn, Domain: string(r.Key), URL: t.Url, Says: fmt.Sprintf("it waits aside for %q, which is not in the crawl", t.Twin),
				Records: []Record{recordOf(r, "has it wait in group "+t.Group)},
			})
		}
	}
}

// noteWithdrawn tells how many URLs are not fetched unless their group comes back.
func (l *ledgers) noteWithdrawn() {
	var withdrawn int64
	for _, p := range l.partitions {
		withdrawn += p.have.withdrawn
	}
	if withdrawn > 0 {
		l.note(fmt.Sprintf("%d URLs are withdrawn: they wait aside for others of their site that were named before, or are of a trap", withdrawn))
	}
}
