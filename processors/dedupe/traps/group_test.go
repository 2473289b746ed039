package traps

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// waiting folds the events of a stage to what a frontier makes of them that fetches
// nothing: which URLs wait in which state, "" for those in no group.
func (s *stage) waiting() (in map[string]string, states map[string]weftpb.Group_State) {
	in, states = map[string]string{}, map[string]weftpb.Group_State{}
	for _, e := range s.events {
		for _, g := range e.Groups {
			states[g.Name] = g.State
		}
		for _, t := range e.Targets {
			in[t.Url] = t.Group
		}
	}
	return in, states
}

// count counts the URLs that wait in groups of a state.
func (s *stage) count(state weftpb.Group_State) (n int) {
	in, states := s.waiting()
	for _, group := range in {
		if group != "" && states[group] == state {
			n++
		}
	}
	return n
}

const (
	groupFree      = weftpb.Group_STATE_FREE
	groupWithdrawn = weftpb.Group_STATE_WITHDRAWN
)

// facets names 30 more choices of a shop's facets.
func (s *stage) facets(n int, again bool) {
	paths := make([]string, 30)
	for i := range paths {
		paths[i] = fmt.Sprintf("/shop?size=%d&color=%d", n, i)
	}
	s.names(fmt.Sprintf("/shop?size=%d", n), again, paths...)
}

// What pages named that show nothing new is withdrawn when it is clear that they are
// a trap's, what others named is not, and all comes back when it is a trap no more.
func TestWithdrawnWithATrap(t *testing.T) {
	s := open(DefaultOptions())
	s.facets(1000, false)
	for n := range 12 {
		s.facets(n, true)
	}
	if n := s.count(groupFree); n != 12*30 || s.count(groupWithdrawn) != 0 {
		t.Fatalf("%d URLs are free, %d withdrawn, before there is a trap", n, s.count(groupWithdrawn))
	}
	s.facets(12, true)
	if n := s.count(groupWithdrawn); n != 12*30 || s.count(groupFree) != 0 {
		t.Fatalf("%d URLs are withdrawn, %d free", n, s.count(groupFree))
	}
	if in, _ := s.waiting(); in[root+"/shop?size=1000&color=3"] != "" || len(in) != 13*30 {
		t.Errorf("%d URLs are admitted; what an honest page named is in group %q", len(in), in[root+"/shop?size=1000&color=3"])
	}
	last := s.events[len(s.events)-1]
	if len(last.Parked) != 1 || len(last.Parked[0].Groups) == 0 {
		t.Errorf("parked %v", last.Parked)
	}
	for n := 100; s.count(groupWithdrawn) > 0; n++ {
		if s.facets(n, false); n > 200 {
			t.Fatal("a hundred pages that show something new open no trap")
		}
	}
	if n := s.count(groupFree); n != 12*30 {
		t.Errorf("%d URLs come back", n)
	}
}

// People lift a trap: what was parked is among the targets, what was withdrawn is
// free, and nothing more joins a group.
func TestLiftBringsTheWithdrawnBack(t *testing.T) {
	s := open(DefaultOptions())
	for n := range 13 {
		s.facets(n, true)
	}
	parked := s.events[len(s.events)-1].Parked[0]
	if came := s.lift(parked.Host, parked.Template); len(came) != 30 || s.count(groupFree) != 12*30 || s.count(groupWithdrawn) != 0 {
		t.Errorf("%d came back, %d are free, %d withdrawn", len(came), s.count(groupFree), s.count(groupWithdrawn))
	}
	s.facets(50, true)
	if in, _ := s.waiting(); in[root+"/shop?size=50&color=1"] != "" {
		t.Error("a URL of a trap that was lifted joins a group")
	}
}

// The trap of one choice of parameters says nothing about another; the template of all queries of a
// path does.
func TestWithdrawnByAllQueries(t *testing.T) {
	s := open(DefaultOptions())
	s.names("/shop?a=1&b=1", true, "/shop?c=1&d=1", "/shop?e=1&f=1&g=1")
	s.names("/shop?c=1&d=1", true, "/else?c=1&d=1")
	for n := 0; s.count(groupWithdrawn) == 0; n++ {
		if s.facets(n, true); n > 50 {
			t.Fatal("no trap")
		}
	}
	in, states := s.waiting()
	for path, want := range map[string]weftpb.Group_State{
		"/shop?c=1&d=1": groupWithdrawn, "/shop?e=1&f=1&g=1": groupWithdrawn, "/else?c=1&d=1": groupFree,
	} {
		if state := states[in[root+path]]; state != want {
			t.Errorf("%s is %v, want %v", path, state, want)
		}
	}
}
