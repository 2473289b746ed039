package dedupe

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// deduper is the stage dedupe without what runs it.
type deduper struct {
	t     *testing.T
	state ledger.State
}

func newDeduper(t *testing.T, d topics.Definition) *deduper {
	def := Define(stage.Env{Names: topics.Loop("weft"), Definition: d, Meter: stage.NoMeter{}})
	state, err := def.Open(0, sound{new(memstore.Store)})
	if err != nil {
		t.Fatal(err)
	}
	return &deduper{t, state}
}

// sound is a store without errors.
type sound struct{ *memstore.Store }

func (sound) Err() error { return nil }

// take decides on a record of a domain and folds the event; nil: there is none.
func (d *deduper) take(domain string, n *weftpb.Normalized) *weftpb.Deduped {
	d.t.Helper()
	body, err := d.state.Decide(ledger.InputRecord{Key: domain, Value: stage.Encode(n)}, time.Time{}, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	if body == nil {
		return nil
	}
	if err := d.state.Apply(domain, body, 0); err != nil {
		d.t.Fatal(err)
	}
	event := new(weftpb.Deduped)
	if err := proto.Unmarshal(body, event); err != nil {
		d.t.Fatal(err)
	}
	return event
}

func named(source string, urls ...string) *weftpb.Normalized {
	n := &weftpb.Normalized{Source: source}
	for _, u := range urls {
		n.Targets = append(n.Targets, &weftpb.Target{Url: u, Depth: 1, Via: weftpb.Via_VIA_LINK})
	}
	return n
}

// month is a page of a calendar that names the next, and nothing else.
func month(n int, same string) *weftpb.Normalized {
	at := func(n int) string { return fmt.Sprintf("https://a.example/calendar/%d/%02d", 2026+n/12, n%12+1) }
	page := named(at(n), at(n+1))
	if same != "" {
		page.Evidence = []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_CONTENT, Url: page.Source, SameAs: same, Distance: 1}}
	}
	return page
}

// The evidence of pages makes a trap, whose further URLs are in no queue and known
// nevertheless; people bring them back, and those that are named later with them.
func TestTrapIsFoundAndLifted(t *testing.T) {
	const domain, empty = "a.example", "https://a.example/calendar/2025/01"
	d := newDeduper(t, topics.Definition{Scope: "any"})
	for n := range 12 {
		if e := d.take(domain, month(n, empty)); len(e.GetTargets()) != 1 || e.Showing != weftpb.Showing_SHOWING_AGAIN {
			t.Fatalf("month %d: %v", n, e)
		}
	}
	e := d.take(domain, month(12, empty))
	if len(e.GetTargets()) != 0 || len(e.Parked) != 1 || e.Parked[0].Reason != "calendar" {
		t.Fatalf("month 12: %v", e)
	}
	if e := d.take(domain, month(12, empty)); e != nil {
		t.Errorf("what is held back is new once more: %v", e)
	}
	if e := d.take(domain, named("https://a.example/", "https://a.example/about")); len(e.GetTargets()) != 1 {
		t.Errorf("the rest of the site: %v", e)
	}
	lift := &weftpb.Normalized{Lift: &weftpb.Lift{Host: e.Parked[0].Host, Template: e.Parked[0].Template}}
	if e := d.take(domain, lift); len(e.GetTargets()) != 1 || e.Targets[0].Url != "https://a.example/calendar/2027/02" {
		t.Errorf("lifted: %v", e)
	}
	if e := d.take(domain, lift); e != nil {
		t.Errorf("lifted again: %v", e)
	}
	if e := d.take(domain, month(13, empty)); len(e.GetTargets()) != 1 {
		t.Errorf("month 13: %v", e)
	}
}

// Only pages of the domain that differ by nothing are evidence.
func TestShowing(t *testing.T) {
	const domain = "a.example"
	for name, c := range map[string]struct {
		change func(*weftpb.Normalized)
		want   weftpb.Showing
	}{
		"a page like another": {func(*weftpb.Normalized) {}, weftpb.Showing_SHOWING_AGAIN},
		"a page unlike all":   {func(n *weftpb.Normalized) { n.Evidence = nil }, weftpb.Showing_SHOWING_NEW},
		"a page like one in no calendar": {func(n *weftpb.Normalized) {
			n.Source = "https://a.example/de/about"
			n.Evidence[0].Url, n.Evidence[0].SameAs = n.Source, "https://a.example/about"
		}, weftpb.Showing_SHOWING_COPY},
		"the same page":            {func(n *weftpb.Normalized) { n.Evidence[0].Distance = 0 }, weftpb.Showing_SHOWING_AGAIN},
		"a page that differs":      {func(n *weftpb.Normalized) { n.Evidence[0].Distance = 2 }, weftpb.Showing_SHOWING_NEW},
		"evidence of another page": {func(n *weftpb.Normalized) { n.Evidence[0].Url = "https://a.example/" }, weftpb.Showing_SHOWING_NEW},
		"evidence of another kind": {func(n *weftpb.Normalized) { n.Evidence[0].Kind = weftpb.Evidence_KIND_CANONICAL }, weftpb.Showing_SHOWING_NEW},
		"an empty page":            {func(n *weftpb.Normalized) { n.Evidence[0].Kind = weftpb.Evidence_KIND_EMPTY }, weftpb.Showing_SHOWING_AGAIN},
		"a page of pictures": {func(n *weftpb.Normalized) {
			n.Evidence[0].Kind = weftpb.Evidence_KIND_EMPTY
			n.Targets = append(n.Targets, named("", "https://a.example/picture/7").Targets...)
		}, weftpb.Showing_SHOWING_NEW},
		"a page of another domain":     {func(n *weftpb.Normalized) { n.Source = "https://b.example/" }, weftpb.Showing_SHOWING_UNSPECIFIED},
		"a domain that ends like this": {func(n *weftpb.Normalized) { n.Source = "https://aa.example/" }, weftpb.Showing_SHOWING_UNSPECIFIED},
		"a redirect":                   {func(n *weftpb.Normalized) { n.Targets[0].Via = weftpb.Via_VIA_REDIRECT }, weftpb.Showing_SHOWING_UNSPECIFIED},
		"a seed":                       {func(n *weftpb.Normalized) { n.Source, n.Targets[0].Via = "", weftpb.Via_VIA_SEED }, weftpb.Showing_SHOWING_UNSPECIFIED},
	} {
		n := month(0, "https://a.example/")
		c.change(n)
		if e := newDeduper(t, topics.Definition{Scope: "any"}).take(domain, n); e.GetShowing() != c.want {
			t.Errorf("%s shows %v, want %v", name, e.GetShowing(), c.want)
		}
	}
}
