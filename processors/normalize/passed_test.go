package normalize

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// A link to another domain is passed on until a record with it is acknowledged, and then no more.
// What is not a link is passed on always, and so is what a page says of its own domain.
func TestLinksToOtherDomainsArePassedOnOnce(t *testing.T) {
	n := forming(t)
	var err error
	if n.policy, err = scope.New(scope.Options{Mode: scope.Any, MaxDepth: scope.NoDepthLimit}); err != nil {
		t.Fatal(err)
	}
	counted := &counts{}
	n.env.Meter = counted
	const link, other = "https://b.example/x", "https://b.example/y"
	page := func(source string, via weftpb.Via, links ...string) *kgo.Record {
		d := &weftpb.Discovered{Source: source, Via: via}
		for _, l := range links {
			d.Links = append(d.Links, &weftpb.Link{Url: l})
		}
		return &kgo.Record{Topic: n.env.Names.Discovered, Value: stage.Encode(d)}
	}
	seed := &kgo.Record{Topic: n.env.Names.Seeds, Value: []byte(link)}
	lost := errors.New("lost")
	for _, c := range []struct {
		name   string
		record *kgo.Record
		acked  error
		want   []string
	}{
		{"the first page", page("https://a.example/1", weftpb.Via_VIA_LINK, link, "/2"), lost, []string{link, "https://a.example/2"}},
		{"after a record was lost", page("https://a.example/2", weftpb.Via_VIA_LINK, link, "/3"), nil, []string{link, "https://a.example/3"}},
		{"after one was acknowledged", page("https://a.example/3", weftpb.Via_VIA_LINK, link, "/3"), nil, []string{"https://a.example/3"}},
		{"a page of a third domain", page("https://c.example/", weftpb.Via_VIA_LINK, link, other), nil, []string{other}},
		{"a page without another link", page("https://c.example/2", weftpb.Via_VIA_LINK, link, other), nil, nil},
		{"a page of its own domain", page("https://b.example/", weftpb.Via_VIA_LINK, link), nil, []string{link}},
		{"a redirect", page("https://a.example/4", weftpb.Via_VIA_REDIRECT, link), nil, []string{link}},
		{"a seed", seed, nil, []string{link}},
	} {
		out, reason := n.transform(c.record)
		if reason != "" {
			t.Errorf("%s: %s", c.name, reason)
		}
		var got []string
		for _, o := range out {
			var record weftpb.Normalized
			if err := proto.Unmarshal(o.Value, &record); err != nil {
				t.Fatal(err)
			}
			for _, target := range record.Targets {
				got = append(got, target.Url)
			}
			if o.Acknowledged != nil {
				o.Acknowledged(nil, c.acked)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s passes %q on, want %q", c.name, got, c.want)
		}
	}
	if counted.accepted != 13 {
		t.Errorf("%d URLs are counted as accepted", counted.accepted)
	}
}

// An entry of a sitemap is no link: who names it matters.
func TestEntriesArePassedOnAlways(t *testing.T) {
	b := &batches{domain: "a.example"}
	batch := &batch{domain: "b.example", record: weftpb.Normalized{Targets: []*weftpb.Target{
		{Url: "https://b.example/1", Via: weftpb.Via_VIA_LINK, Entry: &weftpb.Entry{}},
		{Url: "https://b.example/2", Via: weftpb.Via_VIA_LINK, Sitemap: &weftpb.Sitemap{}},
		{Url: "https://b.example/3", Via: weftpb.Via_VIA_SITEMAP},
		{Url: "https://b.example/4", Via: weftpb.Via_VIA_SEED},
	}}}
	if got := b.leading(batch); got != nil {
		t.Errorf("%d are remembered", len(got))
	}
	batch.record.Targets = append(batch.record.Targets, &weftpb.Target{Url: "https://b.example/5", Via: weftpb.Via_VIA_LINK})
	if got := b.leading(batch); len(got) != 1 {
		t.Errorf("%d links are remembered", len(got))
	}
}

// Links that take the place of others are remembered, and the others are passed on again.
func TestPassedLinksAreBounded(t *testing.T) {
	var p passed
	b := &batches{domain: "a.example"}
	url := func(i int) string { return fmt.Sprintf("https://b.example/%d", i) }
	for i := range 3 * passedLinks {
		to := &batch{domain: "b.example", record: weftpb.Normalized{Targets: []*weftpb.Target{{Url: url(i), Via: weftpb.Via_VIA_LINK}}}}
		p.add(b.leading(to))
		if !p.has(url(i)) {
			t.Fatalf("%s is forgotten at once", url(i))
		}
	}
	var known int
	for i := range 3 * passedLinks {
		if p.has(url(i)) {
			known++
		}
	}
	if known < passedLinks/2 || known > passedLinks {
		t.Errorf("%d links are remembered, of at most %d", known, passedLinks)
	}
}

// counts counts what is accepted.
type counts struct {
	stage.NoMeter
	accepted int
}

func (c *counts) Normalized(reason string, n int) {
	if reason == "accepted" {
		c.accepted += n
	}
}
