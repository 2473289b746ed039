package variants

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

const (
	// maxMergedBytes bounds the URLs of a site that learnt rules merge. They come back
	// in one event, which may have 1 MiB.
	maxMergedBytes = 384 << 10
	// probeEvery: one in so many URLs is fetched as a probe, chosen by the class of its page.
	probeEvery = 64
	// rareProbeEvery is the same for URLs that would join a withdrawn group. A site
	// may have any number of them, and trials were made before.
	rareProbeEvery = 512
)

// Surroundings are pure functions that a decision needs.
type Surroundings struct {
	// Known tells whether a URL was ever named before.
	Known func(url string) bool
	// InScope tells whether the crawl would take kept in place of given.
	InScope func(given *weftpb.Target, kept urls.URL, domain string) bool
}

// Decision is what becomes of the URLs of one normalized record.
type Decision struct {
	// Evidence is the evidence that changes something.
	Evidence []*weftpb.Evidence
	// Restored are URLs that were merged and are in the crawl now.
	Restored []*weftpb.Target
	// Merged are the URLs that are merged now.
	Merged []*weftpb.Merged
	// Targets are the other URLs, and the variants that others are merged into. If
	// Merged is not empty, these variants may be known already or be there twice.
	// Targets with a group wait in it, because a twin of theirs is in the crawl.
	Targets []*weftpb.Target
	// Groups of targets, and groups whose state changes.
	Groups []*weftpb.Group
	// Recalled are URLs that leave their group, if they are in one.
	Recalled []string
}

// Decide says what becomes of fresh, the targets of n that were never seen, and what
// the evidence of n changes. It changes nothing itself.
func (b *Sites) Decide(o *Options, domain string, n *weftpb.Normalized, fresh []*weftpb.Target, around Surroundings) Decision {
	if !o.Learn && len(n.Evidence) == 0 && len(b.tracked) == 0 && len(o.same) == 0 {
		return Decision{Targets: fresh}
	}
	d := decision{
		view: newView(b, domain), options: o, around: around,
		restored: map[string]bool{}, added: map[string]uint64{}, tried: map[string]Set{}, named: map[string]bool{},
	}
	d.weighAll(n.Evidence)
	d.tellChanges()
	d.recall(n)
	for _, t := range fresh {
		d.place(t)
	}
	return d.Decision
}

// decision is a Decision in the making.
type decision struct {
	Decision
	view
	options  *Options
	around   Surroundings
	restored map[string]bool
	added    map[string]uint64 // bytes merged in this decision, by site
	tried    map[string]Set    // rules that a probe of this decision tries, by site
	named    map[string]bool   // URLs of Targets
}

// weighAll notes the evidence that changes something, and brings back the URLs that
// were merged by rules that break.
func (d *decision) weighAll(shown []*weftpb.Evidence) {
	for _, e := range shown {
		if !d.counts(e, shown) {
			continue
		}
		name := siteOf(e.GetUrl(), d.domain)
		before := d.broken(name)
		if !d.weigh(e) {
			continue
		}
		d.Evidence = append(d.Evidence, e)
		if broken := d.broken(name) &^ before; broken != 0 {
			d.bringBack(name, broken)
		}
	}
}

// counts tells whether evidence is weighed at all. A page with the text of another one
// is not a page of its own. If rules are not learnt, only evidence about URLs that are
// merged, or about rules in force, counts.
func (d *decision) counts(e *weftpb.Evidence, shown []*weftpb.Evidence) bool {
	switch e.Kind {
	case weftpb.Evidence_KIND_OWN, weftpb.Evidence_KIND_PAGE, weftpb.Evidence_KIND_FILE:
		if slices.ContainsFunc(shown, func(other *weftpb.Evidence) bool {
			return other.Kind == weftpb.Evidence_KIND_CONTENT && other.Url == e.Url && other.Distance == same
		}) {
			return false
		}
	case weftpb.Evidence_KIND_MISSING:
		return d.options.Learn || len(d.options.same) > 0
	}
	return d.options.Learn || len(d.known.tracked) > 0 && d.inForce(siteOf(e.GetUrl(), d.domain)) != 0
}

// bringBack restores the URLs that broken rules merged.
func (d *decision) bringBack(name string, broken Set) {
	for _, value := range kv.Below(d.known.store, key(mergedPrefix, name)) {
		if m := decodeMerged(value); m != nil && setOf(m.Rules)&broken != 0 {
			d.restore(m.Target)
		}
	}
}

func (d *decision) restore(t *weftpb.Target) {
	if url := t.GetUrl(); !d.restored[url] {
		d.restored[url] = true
		d.Restored = append(d.Restored, t)
	}
}

// recall restores URLs that a seed or a redirect names, and those that are merged into
// a URL that has no page.
func (d *decision) recall(n *weftpb.Normalized) {
	for _, t := range n.Targets {
		if mergeable(t) {
			continue
		}
		if name := siteOf(t.GetUrl(), d.domain); d.hasMerged(name) && d.known.mergedURL(name, t.Url) != nil {
			d.restore(t)
			continue
		}
		if d.around.Known(t.Url) && len(d.knownTwins(t.Url)) > 0 { // it may be in a group
			d.Recalled = append(d.Recalled, t.Url)
		}
	}
	for _, e := range n.Evidence {
		if e.Kind != weftpb.Evidence_KIND_MISSING {
			continue
		}
		d.Recalled = append(d.Recalled, d.knownTwins(e.Url)...)
		name := siteOf(e.GetUrl(), d.domain)
		if !d.hasMerged(name) {
			continue
		}
		prefix := key(keptPrefix, name, e.Url)
		for kept := range kv.Below(d.known.store, prefix) {
			print := kept[len(prefix):]
			if m := decodeMerged(d.known.store.Get(append(key(mergedPrefix, name), print...))); m != nil {
				d.restore(asProbe(m.Target))
			}
		}
	}
}

// mergeable tells which URLs may be merged: those of links and sitemaps. Seeds, probes
// and the targets of redirects are fetched themselves.
func mergeable(t *weftpb.Target) bool {
	return t.Via == weftpb.Via_VIA_LINK || t.Via == weftpb.Via_VIA_SITEMAP
}

func asProbe(t *weftpb.Target) *weftpb.Target {
	probe := proto.CloneOf(t)
	probe.Via = weftpb.Via_VIA_PROBE
	return probe
}

// place decides about a URL that was never seen.
func (d *decision) place(t *weftpb.Target) {
	kept, learnt, ok := d.variantOf(t)
	if !ok {
		d.admit(t)
		return
	}
	m := &weftpb.Merged{Target: t, Kept: kept.String(), Rules: learnt.Names()}
	name := siteOf(t.Url, d.domain)
	if d.missing(name, m.Kept) {
		d.admit(asProbe(t))
		return
	}
	instead := proto.CloneOf(t)
	instead.Url = m.Kept
	if learnt != 0 {
		s, size := d.look(name), bytesOf(m)
		if s.bytes+d.added[name]+size > maxMergedBytes {
			if !d.named[m.Kept] && !d.around.Known(m.Kept) {
				d.admit(instead)
			}
			d.admit(t) // which waits in a group, for the other one
			return
		}
		if d.probes(name, s, m, learnt) {
			d.tried[name] |= learnt
			d.admit(asProbe(t))
			return
		}
		d.added[name] += size
	}
	d.Merged = append(d.Merged, m)
	d.admit(instead)
}

// variantOf returns the variant that a URL is merged into, and the learnt rules that
// merge it.
func (d *decision) variantOf(t *weftpb.Target) (kept urls.URL, learnt Set, ok bool) {
	if !mergeable(t) {
		return kept, 0, false
	}
	configured := d.options.of(t.Url, d.domain)
	if d.options.Learn {
		learnt = d.inForce(siteOf(t.Url, d.domain)) &^ (configured | configured.opposites())
	}
	if configured|learnt == 0 {
		return kept, 0, false
	}
	u, refusal := urls.Parse(t.Url)
	if refusal != urls.Accepted {
		return kept, 0, false
	}
	kept, used := d.apply(configured, learnt, u)
	if used == 0 || !d.around.InScope(t, kept, d.domain) {
		return kept, 0, false
	}
	return kept, used & learnt, true
}

// probes tells whether a URL that learnt rules would merge is fetched nevertheless: one in
// probeEvery, and the first one of each rule. A page alone can show whether redirects and
// canonical URLs are right. For equal texts the variant must be known, and the first URL is not
// a probe.
func (d *decision) probes(name string, s *site, m *weftpb.Merged, learnt Set) bool {
	chosen := d.oneIn(probeEvery, m.Target.Url)
	if learnt&^s.said() != 0 {
		return chosen && d.around.Known(m.Kept)
	}
	return chosen || learnt&^(s.tried()|d.tried[name]) != 0
}

// oneIn tells whether a URL is one of n by the class of its page.
func (d *decision) oneIn(n uint64, url string) bool {
	u, refusal := urls.Parse(url)
	return refusal == urls.Accepted && pageAt(u, d.domain).oneIn(n)
}
