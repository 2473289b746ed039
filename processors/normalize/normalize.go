// Package normalize is the first stage of the loop.
//
//	reads    seeds, discovered
//	writes   normalized: the canonical URLs in scope that one page or one record of
//	         seeds names, a record for each registrable domain
//	decides  package urls, what a URL is; package scope, which URLs belong to the crawl
//
// A URL that either of them refuses is counted by the reason. A link to another domain that was
// passed on before is only counted (passed).
package normalize

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/topics"
)

// Run runs the stage until ctx ends.
func Run(ctx context.Context, env stage.Env) error {
	normalize, err := New(env)
	if err != nil {
		return err
	}
	return env.RunWorker(ctx, stage.Worker{
		Stage: topics.Normalize, Limit: stage.Limit{Goroutines: 2, Records: 1000, Bytes: 8 << 20}, Handler: normalize.Handle,
	})
}

// New returns what the stage makes of a record of seeds or discovered. It uses the
// names, the definition and the meter of env.
func New(env stage.Env) (stage.Transform, error) {
	policy, err := scope.New(settings.ScopeOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	form, err := urls.NewForm(settings.URLOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	return normalizer{env: env, policy: policy, form: form, suffixes: urls.BundledSuffixes(), passed: new(passed)}.transform, nil
}

type normalizer struct {
	env      stage.Env
	policy   *scope.Policy
	form     *urls.Form
	suffixes *urls.Suffixes
	passed   *passed
}

func (n normalizer) transform(r *kgo.Record) ([]stage.Output, string) {
	var b *batches
	var reason string
	if r.Topic == n.env.Names.Seeds {
		b, reason = n.seeds(r.Value)
	} else {
		b, reason = n.discovered(r.Value)
	}
	if reason != "" || len(b.list)+b.targets == 0 {
		return nil, reason
	}
	n.env.Meter.Normalized("accepted", b.targets)
	out := make([]stage.Output, len(b.list))
	for i, batch := range b.list {
		out[i] = stage.Output{Topic: n.env.Names.Normalized, Domain: batch.domain, Key: batch.domain, Value: stage.Encode(&batch.record)}
		if links := b.leading(batch); len(links) > 0 {
			out[i].Acknowledged = func(_ *kgo.Record, err error) {
				if err == nil {
					n.passed.add(links)
				}
			}
		}
	}
	return out, ""
}

// discovered decides about a record of discovered, or says why it is not such a
// record.
func (n normalizer) discovered(value []byte) (*batches, string) {
	var d weftpb.Discovered
	if err := proto.Unmarshal(value, &d); err != nil {
		return nil, "undecodable"
	}
	source, refusal := urls.Parse(d.Source)
	if refusal != urls.Accepted {
		return nil, "source_" + string(refusal)
	}
	from := scope.Referrer{
		URL: source, Domain: n.suffixes.Domain(source.Hostname()), Depth: d.Depth,
		Seed: d.SourceVia == weftpb.Via_VIA_SEED, Root: d.ScopeRoot, Via: d.Via, Redirects: d.SourceRedirects,
	}
	base := n.form.Document(source, d.Base, d.Charset)
	by := from
	if d.Sitemap != nil {
		by = n.owner(from, d.Sitemap)
	}
	out := &batches{source: d.Source, domain: from.Domain}
	if len(d.Evidence) > 0 {
		n.evidence(out, from.Domain, d.Evidence)
	}
	for _, link := range d.Links {
		u, refusal := base.Resolve(link.Url)
		if d.Via == weftpb.Via_VIA_REDIRECT && u == source {
			// If a redirect leads to the same URL, except for what the form removes, its target
			// is followed as it is, once: a server that redirects /a to /a?PHPSESSID=… shows
			// its page nowhere else. A redirect from there has /a as its target, which is
			// known.
			u, refusal = urls.NewBase(source).Resolve(link.Url)
		}
		if refusal != urls.Accepted {
			n.env.Meter.Normalized(string(refusal), 1)
			continue
		}
		domain := from.Domain
		if u.Hostname() != source.Hostname() {
			domain = n.suffixes.Domain(u.Hostname())
		}
		if link.Sitemap != nil {
			if !d.Aside {
				n.sitemap(out, from, domain, u, link.Sitemap)
			}
			if d.Robots && !link.Sitemap.Guessed {
				out.vouch(from.Domain, source.Host(), u.String())
			}
			continue
		}
		var standing scope.Standing
		var outside scope.Refusal
		var entry *weftpb.Entry
		if link.Entry == nil {
			standing, outside = n.policy.Judge(by, u, domain)
		} else {
			standing, outside, entry = n.entry(link.Entry, by, source, u, domain, d.Sitemap)
		}
		if outside != scope.Accepted {
			n.env.Meter.Normalized(string(outside), 1)
			continue
		}
		if entry == nil && out.leads(domain, standing.Via) && n.passed.has(u.String()) {
			out.targets++
			continue
		}
		out.add(domain, u, standing).Entry = entry
	}
	if out.split && len(d.Evidence) > 0 {
		out.repeatContent(from.Domain)
	}
	return out, ""
}

// seeds decides about a record of seeds. A line that is not a seed is counted; the other lines
// count. A record without an accepted seed is rejected.
func (n normalizer) seeds(value []byte) (*batches, string) {
	seeds, bad := codecs.DecodeSeeds(value)
	for _, b := range bad {
		n.env.Meter.Normalized("seed_"+b.Reason, 1)
	}
	out := &batches{}
	var last string
	for _, seed := range seeds {
		u, refusal := n.form.Parse(seed.URL)
		if refusal != urls.Accepted {
			last = string(refusal)
			n.env.Meter.Normalized(last, 1)
			continue
		}
		standing, outside := n.policy.Seed(u)
		if outside != scope.Accepted {
			last = string(outside)
			n.env.Meter.Normalized(last, 1)
			continue
		}
		standing.Depth = seed.Depth
		target := out.add(n.suffixes.Domain(u.Hostname()), u, standing)
		if seed.Sitemap && n.env.Definition.Sitemaps != topics.NoSitemaps {
			target.Sitemap = &weftpb.Sitemap{Level: 1}
		}
	}
	switch {
	case len(out.list) > 0:
		return out, ""
	case last != "":
		return nil, "seed_" + last
	case len(bad) > 0:
		return nil, "seed_" + bad[0].Reason
	}
	return out, ""
}

// maxEvidence bounds the evidence of one exchange that is passed on.
const maxEvidence = 16

// evidence passes on what the exchange of a source shows about the source's own
// domain, together with the targets of that domain. Evidence about URLs of other
// domains is dropped. SameAs gets the form of targets, so that dedupe knows it.
func (n normalizer) evidence(out *batches, domain string, shown []*weftpb.Evidence) {
	for _, e := range shown[:min(len(shown), maxEvidence)] {
		url, refusal := urls.Parse(e.Url)
		if !n.inDomain(domain, url, refusal) {
			continue
		}
		sameAs := ""
		if e.SameAs != "" {
			other, refusal := n.form.Parse(e.SameAs)
			if !n.inDomain(domain, other, refusal) {
				continue
			}
			sameAs = other.String()
		}
		own := &weftpb.Evidence{Kind: e.Kind, Url: url.String(), SameAs: sameAs, Distance: e.Distance, Relative: e.Relative}
		to := out.open(domain, len(own.Url)+len(own.SameAs)+16)
		to.record.Evidence = append(to.record.Evidence, own)
	}
}

func (n normalizer) inDomain(domain string, u urls.URL, refusal urls.Refusal) bool {
	return refusal == urls.Accepted && n.suffixes.Domain(u.Hostname()) == domain
}

// batches are the records of normalized that one input makes. A record has at most
// maxTargets targets and maxTargetBytes of them, so that a ledger event stays small.
type batches struct {
	source  string
	domain  string // of the source; empty: seeds have none
	list    []*batch
	targets int
	split   bool // a domain has more than one record
}

type batch struct {
	domain string
	bytes  int
	record weftpb.Normalized
}

const (
	maxTargets     = 200
	maxTargetBytes = 64 << 10
)

func (b *batches) add(domain string, u urls.URL, s scope.Standing) *weftpb.Target {
	target := &weftpb.Target{Url: u.String(), Depth: s.Depth, Via: s.Via, ScopeRoot: s.Root, Redirects: s.Redirects}
	b.targets++
	to := b.open(domain, len(target.Url)+len(target.ScopeRoot)+16)
	to.record.Targets = append(to.record.Targets, target)
	return target
}

// open returns a batch of domain with room for size more bytes, which it counts. Most pages
// name few domains: a search from the end is quicker than a map.
func (b *batches) open(domain string, size int) *batch {
	for _, last := range slices.Backward(b.list) {
		if last.domain != domain {
			continue
		}
		if len(last.record.Targets) < maxTargets && last.bytes+size <= maxTargetBytes {
			last.bytes += size
			return last
		}
		b.split = true
		break
	}
	fresh := &batch{domain: domain, bytes: size, record: weftpb.Normalized{Source: b.source}}
	b.list = append(b.list, fresh)
	return fresh
}

// repeatContent copies what the content of the source shows into every batch of the
// source's domain: a page that names many URLs has several, and dedupe decides about
// each of them alone.
func (b *batches) repeatContent(domain string) {
	var content *weftpb.Evidence
	for _, to := range b.list {
		if to.domain != domain {
			continue
		}
		if i := slices.IndexFunc(to.record.Evidence, func(e *weftpb.Evidence) bool { return traps.ShowsNothingNew(e, b.source) }); i >= 0 {
			content = to.record.Evidence[i]
		} else if content != nil {
			to.record.Evidence = append(to.record.Evidence, content)
		}
	}
}
