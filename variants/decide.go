package variants

import (
	"bytes"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/urls"
)

const (
	// maxMergedBytes is what a site may give up by learnt rules: it comes back in
	// one event, which may have 1 MiB.
	maxMergedBytes = 384 << 10
	// probeEvery: one in so many is asked for nevertheless.
	probeEvery = 64
	// rareProbeEvery: of those that would wait in a group that is withdrawn. A site
	// has no bound of them, and trials were made before.
	rareProbeEvery = 512
)

// Surroundings are what a decision asks of others. Both are pure.
type Surroundings struct {
	// Known tells whether a URL was ever named before.
	Known func(url string) bool
	// InScope tells whether the crawl would take kept where it takes given.
	InScope func(given *weftpb.Target, kept urls.URL, domain string) bool
}

// Decision is what becomes of the URLs of one normalized record.
type Decision struct {
	// Evidence that changes something.
	Evidence []*weftpb.Evidence
	// Restored are URLs that were given up and are in the crawl now.
	Restored []*weftpb.Target
	// Merged are those that are given up.
	Merged []*weftpb.Merged
	// Targets are the others, and those that stand for what is given up: these
	// may be known already, or be there twice, if Merged is not empty. Some wait in
	// a group, since a twin of theirs is in the crawl.
	Targets []*weftpb.Target
	// Groups of targets, and groups whose state changes.
	Groups []*weftpb.Group
	// Recalled are URLs that do not wait in a group any more, if they did.
	Recalled []string
}

// Decide says what becomes of fresh, the targets of n that nobody has named
// before, and what the evidence of n changes. It changes nothing itself.
func (b *Book) Decide(o *Options, domain string, n *weftpb.Normalized, fresh []*weftpb.Target, around Surroundings) Decision {
	if !o.Learn && len(n.Evidence) == 0 && len(b.tracked) == 0 && len(o.same) == 0 {
		return Decision{Targets: fresh}
	}
	d := decision{
		view: view{book: b, domain: domain}, options: o, around: around,
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

// decision is one that is being made.
type decision struct {
	Decision
	view
	options  *Options
	around   Surroundings
	restored map[string]bool
	added    map[string]uint64 // bytes given up in this decision, by site
	tried    map[string]Set    // rules of which a URL is a probe, by site
	named    map[string]bool   // URLs of Targets
}

// weighAll notes the evidence that changes something, and brings back what was
// given up by rules that break.
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

// counts tells whether evidence is to be weighed at all. A page of its own is
// none if it has the text of another; and where rules are not learnt, only what is
// against them is.
func (d *decision) counts(e *weftpb.Evidence, shown []*weftpb.Evidence) bool {
	switch e.Kind {
	case weftpb.Evidence_KIND_OWN, weftpb.Evidence_KIND_PAGE:
		if slices.ContainsFunc(shown, func(other *weftpb.Evidence) bool {
			return other.Kind == weftpb.Evidence_KIND_CONTENT && other.Url == e.Url && other.Distance == same
		}) {
			return false
		}
	case weftpb.Evidence_KIND_MISSING:
		return d.options.Learn || len(d.options.same) > 0
	}
	return d.options.Learn || len(d.book.tracked) > 0 && d.inForce(siteOf(e.GetUrl(), d.domain)) != 0
}

// bringBack restores what broken rules took.
func (d *decision) bringBack(name string, broken Set) {
	prefix := []byte(mergedPrefix + name + "\x00")
	d.book.store.Scan(prefix, after(prefix), func(_, value []byte) bool {
		if m := merged(value); m != nil && setOf(m.Rules)&broken != 0 {
			d.restore(m.Target)
		}
		return true
	})
}

func (d *decision) restore(t *weftpb.Target) {
	if url := t.GetUrl(); !d.restored[url] {
		d.restored[url] = true
		d.Restored = append(d.Restored, t)
	}
}

// recall restores what a seed or a redirect names, and what a URL stands for
// that has no page.
func (d *decision) recall(n *weftpb.Normalized) {
	for _, t := range n.Targets {
		if mergeable(t) {
			continue
		}
		if name := siteOf(t.GetUrl(), d.domain); d.keeps(name) && d.book.given(name, t.Url) != nil {
			d.restore(t)
			continue
		}
		d.recallItself(t)
	}
	for _, e := range n.Evidence {
		if e.Kind != weftpb.Evidence_KIND_MISSING {
			continue
		}
		d.recallTwins(e.Url)
		name := siteOf(e.GetUrl(), d.domain)
		if !d.keeps(name) {
			continue
		}
		prefix := keptOf(name, e.Url)
		var prints [][]byte
		d.book.store.Scan(prefix, after(prefix), func(key, _ []byte) bool {
			prints = append(prints, bytes.Clone(key[len(prefix):]))
			return true
		})
		for _, print := range prints {
			if m := merged(d.book.store.Get(append([]byte(mergedPrefix+name+"\x00"), print...))); m != nil {
				d.restore(asProbe(m.Target))
			}
		}
	}
}

// mergeable tells which URLs may be given up: what somebody asks for, or a
// redirect leads to, is where the way ends.
func mergeable(t *weftpb.Target) bool {
	return t.Via == weftpb.Via_VIA_LINK || t.Via == weftpb.Via_VIA_SITEMAP
}

func asProbe(t *weftpb.Target) *weftpb.Target {
	probe := proto.CloneOf(t)
	probe.Via = weftpb.Via_VIA_PROBE
	return probe
}

// place decides about a URL that nobody has named before.
func (d *decision) place(t *weftpb.Target) {
	kept, learnt, ok := d.standIn(t)
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
			d.admit(t) // which waits aside for the other
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

// standIn returns what stands for a URL, and by which learnt rules it does.
func (d *decision) standIn(t *weftpb.Target) (kept urls.URL, learnt Set, ok bool) {
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

// probes tells whether a URL that learnt rules would give up is asked for all the
// same: one in probeEvery, and the first of each rule. What redirects and canonical
// URLs say a page bears out or not by itself. For equal texts the one that stands
// for it has to be known, and is not asked for as the first.
func (d *decision) probes(name string, s *site, m *weftpb.Merged, learnt Set) bool {
	if learnt&^s.said() != 0 {
		return chosen(m.Target.Url) && d.around.Known(m.Kept)
	}
	return learnt&^(s.tried()|d.tried[name]) != 0 || chosen(m.Target.Url)
}

// chosen is one URL in probeEvery.
func chosen(url string) bool { return oneIn(probeEvery, url) }

// rarely is one URL in rareProbeEvery.
func rarely(url string) bool { return oneIn(rareProbeEvery, url) }

func oneIn(n uint64, url string) bool {
	print := urls.Fingerprint(url)
	return binary.BigEndian.Uint64(print[8:])%n == 0
}
