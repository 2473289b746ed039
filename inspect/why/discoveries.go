package why

import (
	"context"
	"fmt"
	"time"
	"unique"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// Discovery is how a URL became known: one step of the way from a seed.
type Discovery struct {
	URL string `json:"url"`
	// Via is seed, link, redirect or sitemap.
	Via string `json:"via"`
	// Source is the page, the sitemap or the robots.txt that named it first; empty for seeds.
	Source string `json:"source,omitempty"`
	Depth  uint32 `json:"depth"`
	// Sitemap: it names a sitemap.
	Sitemap bool `json:"sitemap,omitempty"`
	// OutOfScope: HTML in place of the sitemap is not a page of the crawl.
	OutOfScope bool `json:"out_of_scope,omitempty"`
	// At is when dedupe wrote it.
	At  time.Time `json:"at"`
	Ref Ref       `json:"ref"`

	via weftpb.Via
}

// Kept is the variant of a URL that is crawled instead of it.
type Kept struct {
	URL string `json:"url"`
	// Rules that the site has shown; without them it was a rule of the crawl's definition.
	Rules []string `json:"rules,omitempty"`
}

// Trap is the trap that holds a URL back, as "weft traps" shows it.
type Trap struct {
	Host     string `json:"host"`
	Template string `json:"template"`
	Reason   string `json:"reason"`
}

// vias names the ways in which a URL becomes known.
var vias = map[weftpb.Via]string{
	weftpb.Via_VIA_SEED: "seed", weftpb.Via_VIA_LINK: "link", weftpb.Via_VIA_REDIRECT: "redirect",
	weftpb.Via_VIA_SITEMAP: "sitemap", weftpb.Via_VIA_PROBE: "probe",
}

// discoveries are all URLs of one domain that were ever discovered, by fingerprint. The
// whole domain is kept because a chain of sources leads backwards through the log, hop by
// hop, and most of its hops stay in one domain.
type discoveries struct {
	// begins is where the ledger begins; 0: it is whole.
	begins int64
	byURL  map[[16]byte]discovery
	// held are the URLs in traps, merged those that are merged into others, and twins
	// the URLs for which others wait aside.
	held   map[[16]byte]*Trap
	merged map[[16]byte]*Kept
	twins  map[[16]byte]string
	// groups are the traps that withdrew groups last.
	groups map[string]*Trap
}

// discovery is a target of an event, in little memory.
type discovery struct {
	event *discoveryEvent
	root  unique.Handle[string]
	depth uint32
	via   weftpb.Via

	sitemap, outOfScope bool
}

type discoveryEvent struct {
	source string
	atMS   int64
	offset int64
}

// discoveriesIn reads the discoveries of a domain. also is called with each URL.
func (a *Asker) discoveriesIn(ctx context.Context, domain string, also func(*weftpb.Target)) (*discoveries, error) {
	f := &discoveries{
		byURL: map[[16]byte]discovery{}, held: map[[16]byte]*Trap{}, merged: map[[16]byte]*Kept{}, twins: map[[16]byte]string{},
		groups: map[string]*Trap{},
	}
	var err error
	if f.begins, err = a.start(ctx, a.names.Deduped, a.partition(domain)); err != nil {
		return nil, err
	}
	err = a.deduped(ctx, domain, func(ev *weftpb.Deduped, r *kgo.Record) {
		event := &discoveryEvent{source: ev.Source, atMS: r.Timestamp.UnixMilli(), offset: r.Offset}
		f.apply(ev, func(t *weftpb.Target) {
			f.add(t, event)
			also(t)
		})
	})
	return f, err
}

// deduped calls visit with the events of deduped about a domain.
func (a *Asker) deduped(ctx context.Context, domain string, visit func(*weftpb.Deduped, *kgo.Record)) error {
	part := topiclog.Part{Partitions: []int32{a.partition(domain)}, Domain: domain, Trimmed: true, Damaged: a.opts.Damaged}
	return a.logs.Deduped(ctx, a.names.Deduped, part, func(e topiclog.Event[*weftpb.Deduped]) error {
		visit(e.Body, e.Record)
		return nil
	})
}

func (f *discoveries) apply(ev *weftpb.Deduped, add func(*weftpb.Target)) {
	for _, m := range ev.Merged {
		add(m.Target)
		f.merged[urls.Fingerprint(m.Target.GetUrl())] = &Kept{URL: m.Kept, Rules: m.Rules}
	}
	for _, p := range ev.Parked {
		trap := &Trap{Host: p.Host, Template: traps.Template(p.Template), Reason: p.Reason}
		for _, group := range p.Groups {
			f.groups[group] = trap
		}
		for _, t := range p.Targets {
			add(t)
			f.held[urls.Fingerprint(t.Url)] = trap
		}
	}
	for _, t := range ev.Targets {
		print := urls.Fingerprint(t.Url)
		_, known := f.byURL[print]
		if ev.Lifted != nil {
			delete(f.held, print) // it leaves a trap, and was discovered before
		}
		if ev.Lifted == nil || !known {
			add(t)
		}
	}
}

func (f *discoveries) add(t *weftpb.Target, event *discoveryEvent) {
	print := urls.Fingerprint(t.Url)
	delete(f.merged, print)
	if t.Twin != "" {
		f.twins[print] = t.Twin
	}
	f.byURL[print] = discovery{event: event, root: unique.Make(t.ScopeRoot), depth: t.Depth, via: t.Via, sitemap: t.Sitemap != nil, outOfScope: t.Sitemap.GetOutOfScope()}
}

// get returns how a URL became known and its scope root.
func (f *discoveries) get(url string, partition int32) (found Discovery, root string, ok bool) {
	at, ok := f.byURL[urls.Fingerprint(url)]
	if !ok {
		return Discovery{}, "", false
	}
	return Discovery{
		URL: url, Via: vias[at.via], Source: at.event.source, Depth: at.depth, Sitemap: at.sitemap, OutOfScope: at.outOfScope, At: moment(at.event.atMS),
		Ref: Ref{Topic: "deduped", Partition: partition, Offset: at.event.offset}, via: at.via,
	}, at.root.Value(), true
}

const (
	// maxHops bounds a chain of sources, and maxDomains the domains that are read to
	// follow it.
	maxHops    = 1000
	maxDomains = 8
)

// chain is the way from a URL back to its seed.
type chain struct {
	hops []Discovery
	// referrer is the page that named the URL; nil if it is a seed or the page is not
	// known.
	referrer *scope.Referrer
	// cut says why the chain does not end at a seed; empty if it does.
	cut string
}

// follow follows the sources of a URL backwards. known are the discoveries that were
// read, by domain; follow adds to it.
func (a *Asker) follow(ctx context.Context, url urls.URL, known map[string]*discoveries) (chain, error) {
	var c chain
	for at := url; ; {
		domain := a.suffixes.Domain(at.Hostname())
		f, ok := known[domain]
		if !ok {
			if len(known) == maxDomains {
				c.cut = "it leads through more domains than are read"
				return c, nil
			}
			var err error
			if f, err = a.discoveriesIn(ctx, domain, func(*weftpb.Target) {}); err != nil {
				return c, err
			}
			known[domain] = f
		}
		hop, root, found := f.get(at.String(), a.partition(domain))
		switch {
		case !found && len(c.hops) > 0 && c.hops[len(c.hops)-1].Sitemap && at.Path() == "/robots.txt":
			return c, nil // which is asked for because its origin is in the crawl
		case !found && f.begins > 0:
			c.cut = fmt.Sprintf("what deduped held of %s before offset %d was trimmed", domain, f.begins)
			return c, nil
		case !found:
			c.cut = at.String() + " is not in deduped"
			return c, nil
		}
		if len(c.hops) == 1 {
			c.referrer = &scope.Referrer{
				URL: at, Domain: domain, Depth: hop.Depth, Seed: hop.via == weftpb.Via_VIA_SEED, Root: root, Via: c.hops[0].via,
			}
		}
		if c.hops = append(c.hops, hop); hop.Source == "" {
			return c, nil
		}
		source, refusal := urls.Parse(hop.Source)
		if refusal != urls.Accepted || len(c.hops) == maxHops {
			c.cut = "it is longer than is followed"
			return c, nil
		}
		at = source
	}
}
