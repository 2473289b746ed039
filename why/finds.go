package why

import (
	"context"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/urls"
)

// Find is how a URL became known: one step of the way from a seed.
type Find struct {
	URL string `json:"url"`
	// Via is seed, link, redirect or sitemap.
	Via string `json:"via"`
	// Source is the page that named it first; empty for seeds.
	Source string `json:"source,omitempty"`
	Depth  uint32 `json:"depth"`
	// At is when dedupe wrote it.
	At  time.Time `json:"at"`
	Ref Ref       `json:"ref"`
}

// vias names the ways in which a URL becomes known.
var vias = map[weftpb.Via]string{
	weftpb.Via_VIA_SEED: "seed", weftpb.Via_VIA_LINK: "link", weftpb.Via_VIA_REDIRECT: "redirect", weftpb.Via_VIA_SITEMAP: "sitemap", weftpb.Via_VIA_PROBE: "probe",
}

// finds are all URLs of one domain that were ever found, by fingerprint: a
// whole domain is kept, because a chain of sources leads backwards through the
// log, hop by hop, and most of its hops stay in one domain.
type finds struct {
	// begins is where the ledger begins; 0: it is whole.
	begins int64
	byURL  map[[16]byte]find
	held   map[[16]byte]*Trap // what traps hold back
	// stoodFor are URLs that others stand for.
	stoodFor map[[16]byte]*StandIn
	// twins are the URLs that URLs wait aside for.
	twins map[[16]byte]string
	// groups are the traps with which groups were withdrawn last.
	groups map[string]*Trap
	events []findEvent
	roots  []string // of find.root
}

// find is a target of an event.
type find struct {
	event, root uint32
	depth       uint32
	via         weftpb.Via
}

type findEvent struct {
	source string
	atMS   int64
	offset int64
}

// findsIn reads who found what in a domain. also, which may be nil, is shown
// every URL.
func (a *Asker) findsIn(ctx context.Context, domain string, also func(*weftpb.Target)) (*finds, error) {
	partition := a.partition(domain)
	f := &finds{byURL: map[[16]byte]find{}, held: map[[16]byte]*Trap{}, stoodFor: map[[16]byte]*StandIn{}, twins: map[[16]byte]string{}, groups: map[string]*Trap{}, roots: []string{""}}
	var err error
	if f.begins, err = a.start(ctx, a.names.Deduped, partition); err != nil {
		return nil, err
	}
	part := replay.Part{Partitions: []int32{partition}, Domain: domain, Trimmed: true, Damaged: a.opts.Damaged}
	err = a.logs.DedupedPart(ctx, a.names.Deduped, part, func(e replay.Event[*weftpb.Deduped]) error {
		f.events = append(f.events, findEvent{source: e.Body.Source, atMS: e.Record.Timestamp.UnixMilli(), offset: e.Record.Offset})
		f.addMerged(e.Body.Merged, also)
		f.addParked(e.Body.Parked, also)
		if e.Body.Lifted != nil {
			f.release(e.Body.Targets)
			return nil
		}
		for _, t := range e.Body.Targets {
			f.add(t)
			if also != nil {
				also(t)
			}
		}
		return nil
	})
	return f, err
}

func (f *finds) add(t *weftpb.Target) {
	delete(f.stoodFor, urls.Fingerprint(t.Url))
	if t.Twin != "" {
		f.twins[urls.Fingerprint(t.Url)] = t.Twin
	}
	if last := f.roots[len(f.roots)-1]; t.ScopeRoot != last {
		f.roots = append(f.roots, t.ScopeRoot)
	}
	f.byURL[urls.Fingerprint(t.Url)] = find{
		event: uint32(len(f.events) - 1), root: uint32(len(f.roots) - 1), depth: t.Depth, via: t.Via,
	}
}

// get returns how a URL became known and its scope root.
func (f *finds) get(url string, partition int32) (found Find, root string, ok bool) {
	at, ok := f.byURL[urls.Fingerprint(url)]
	if !ok {
		return Find{}, "", false
	}
	e := f.events[at.event]
	return Find{
		URL: url, Via: vias[at.via], Source: e.source, Depth: at.depth, At: moment(e.atMS),
		Ref: Ref{Topic: "deduped", Partition: partition, Offset: e.offset},
	}, f.roots[at.root], true
}

const (
	// maxHops bounds a chain of sources, and maxDomains how many domains are
	// read to follow it.
	maxHops    = 1000
	maxDomains = 8
)

// chain is the way of a URL back to its seed.
type chain struct {
	hops []Find
	// root is the scope root of the URL itself, referrer the page that named
	// it, as scope sees it; nil when it is a seed or the page is not known.
	root     string
	referrer *scope.Referrer
	// cut says why the chain does not end at a seed; empty when it does.
	cut string
}

// follow follows the sources of a URL backwards. known holds what was read
// already, by domain, and is added to.
func (a *Asker) follow(ctx context.Context, url urls.URL, known map[string]*finds) (chain, error) {
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
			if f, err = a.findsIn(ctx, domain, nil); err != nil {
				return c, err
			}
			known[domain] = f
		}
		hop, root, found := f.get(at.String(), a.partition(domain))
		switch {
		case !found && f.begins > 0:
			c.cut = fmt.Sprintf("what deduped held of %s before offset %d was trimmed", domain, f.begins)
			return c, nil
		case !found:
			c.cut = at.String() + " is not in deduped"
			return c, nil
		}
		c.note(hop, root, at, domain)
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

// note keeps what scope needs to know of the first two hops.
func (c *chain) note(hop Find, root string, at urls.URL, domain string) {
	switch len(c.hops) {
	case 0:
		c.root = root
	case 1:
		via := weftpb.Via_VIA_LINK
		for v, name := range vias {
			if name == c.hops[0].Via {
				via = v
			}
		}
		c.referrer = &scope.Referrer{
			URL: at, Domain: domain, Depth: hop.Depth, Seed: hop.Via == "seed", Root: root, Via: via,
		}
	}
}
