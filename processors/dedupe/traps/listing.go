package traps

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Trap is what the events of dedupe say of one trap.
type Trap struct {
	// Domain is the registrable domain; Host and Template are what a lift names.
	Domain   string `json:"domain"`
	Host     string `json:"host"`
	Template string `json:"template"`
	// Reason is empty if the trap was lifted before anything was held back.
	Reason Reason `json:"reason,omitempty"`
	// Held counts the URLs that are held back, Released those that came back.
	Held     int `json:"held"`
	Released int `json:"released,omitempty"`
	// Withdrawn counts the URLs that were admitted before it was a trap and still wait.
	// They are fetched only if it stops being a trap.
	Withdrawn int `json:"withdrawn,omitempty"`
	// Lifted: people lifted it.
	Lifted bool `json:"lifted,omitempty"`
	// Examples are the last URLs that were held back.
	Examples []string `json:"examples,omitempty"`

	bytes  []int           // of the held URLs as the store has them, the oldest first
	groups map[string]bool // that were withdrawn with it
}

// Listing folds events into a list of traps for people. The zero value is empty.
type Listing struct {
	traps  map[identityOf]*Trap
	groups map[groupOf]*group
}

type groupOf struct{ domain, name string }

// group is what the frontier holds of a group.
type group struct {
	withdrawn bool
	count     int
}

// ApplyScheduled folds an event of the scheduler about a domain: how many URLs of the
// groups of traps wait, and which groups are withdrawn.
func (l *Listing) ApplyScheduled(domain string, event *weftpb.Scheduled) {
	move := func(name string, again bool, n int) {
		if IsGroup(name) && !again {
			l.group(domain, name).count += n
		}
	}
	for _, g := range event.GetGroups() {
		if IsGroup(g.GetName()) {
			l.group(domain, g.GetName()).withdrawn = g.GetState() == weftpb.Group_STATE_WITHDRAWN
		}
	}
	for _, a := range event.GetAdmitted() {
		move(a.GetRequest().GetTarget().GetGroup(), false, 1)
	}
	for _, r := range event.GetRecalled() {
		move(r.GetGroup(), false, -1)
	}
	for _, s := range event.GetSettled() {
		move(s.GetGroup(), s.GetVisit() != "" || s.GetAgain(), -1)
	}
	for _, d := range event.GetDeferred() {
		move(d.GetRequest().GetTarget().GetGroup(), d.GetRequest().GetAgain(), -1)
	}
	for _, v := range event.GetReleased() {
		for _, q := range v.GetRequests() {
			move(q.GetTarget().GetGroup(), q.GetAgain(), -1)
		}
	}
}

func (l *Listing) group(domain, name string) *group {
	if l.groups == nil {
		l.groups = map[groupOf]*group{}
	}
	of := groupOf{domain, name}
	if l.groups[of] == nil {
		l.groups[of] = &group{}
	}
	return l.groups[of]
}

const mostExamples = 3

// Apply folds an event of a domain.
func (l *Listing) Apply(domain string, event *weftpb.Deduped) {
	for _, p := range event.GetParked() {
		t := l.trap(domain, p.GetHost(), p.GetTemplate())
		t.Reason = Reason(p.GetReason())
		for _, name := range p.GetGroups() {
			if t.groups == nil {
				t.groups = map[string]bool{}
			}
			t.groups[name] = true
		}
		for _, target := range p.GetTargets() {
			t.Held++
			t.bytes = append(t.bytes, proto.Size(target))
			t.Examples = append(t.Examples, target.GetUrl())
		}
		t.Examples = t.Examples[max(0, len(t.Examples)-mostExamples):]
	}
	if lift := event.GetLifted(); lift != nil {
		t := l.trap(domain, lift.GetHost(), lift.GetTemplate())
		n := min(len(event.GetTargets()), t.Held) // more only where a ledger is trimmed
		t.Lifted, t.Held, t.Released = true, t.Held-n, t.Released+len(event.GetTargets())
		t.bytes = t.bytes[n:]
		t.Examples = t.Examples[max(0, len(t.Examples)-t.Held):]
	}
}

func (l *Listing) trap(domain, host, template string) *Trap {
	if l.traps == nil {
		l.traps = map[identityOf]*Trap{}
	}
	of := identityOf{domain, named(host, template)}
	t := l.traps[of]
	if t == nil {
		t = &Trap{Domain: domain, Host: host, Template: of.template}
		l.traps[of] = t
	}
	return t
}

// Traps returns all traps, by domain, those with most URLs first.
func (l *Listing) Traps() []*Trap {
	all := make([]*Trap, 0, len(l.traps))
	for _, t := range l.traps {
		t.Withdrawn = 0
		for name := range t.groups {
			if g := l.group(t.Domain, name); g.withdrawn {
				t.Withdrawn += g.count
			}
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Trap) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(b.Held, a.Held),
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Template, b.Template))
	})
	return all
}

// Lifts is how many lifts are needed to bring back all URLs that are held back. Each
// lift brings as many as an event has room for (see Templates.Lift).
func (t *Trap) Lifts() int {
	lifts, count, size := 0, 0, 0
	for _, bytes := range t.bytes {
		if lifts == 0 || count == mostLifted || size+bytes > mostLiftedBytes {
			lifts, count, size = lifts+1, 0, 0
		}
		count, size = count+1, size+bytes
	}
	return lifts
}
