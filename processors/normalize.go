package processors

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Normalize runs the stage normalize until ctx ends: it reads seeds and
// discovered and writes normalized, the canonical URLs in scope that one page
// or one seed record names, one record for each registrable domain.
//
// urls decides what a URL is, scope whether it belongs to the crawl. What
// neither takes is counted by its reason.
func Normalize(ctx context.Context, env Env) error {
	normalize, err := NewNormalize(env)
	if err != nil {
		return err
	}
	return env.stateless(ctx, topics.Normalize, limit{goroutines: 2, records: 1000, bytes: 8 << 20},
		func(out *outbox) handle { return out.transforming(normalize) })
}

// NewNormalize returns what the stage normalize makes of a record of seeds or
// discovered. Of env it takes the names, the definition and the meter.
func NewNormalize(env Env) (Transform, error) {
	policy, err := scope.New(ScopeOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	form, err := urls.NewForm(URLOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	n := normalizer{env: env, policy: policy, form: form, suffixes: urls.BundledSuffixes()}
	return func(r *kgo.Record) ([]Output, string) {
		batches, reason := n.record(r)
		if reason != "" {
			return nil, reason
		}
		return n.outputs(batches), ""
	}, nil
}

type normalizer struct {
	env      Env
	policy   *scope.Policy
	form     *urls.Form
	suffixes *urls.Suffixes
}

// record answers one record with batches, or with the reason why it is no
// record of its topic.
func (n normalizer) record(r *kgo.Record) (*batches, string) {
	if r.Topic == n.env.Names.Seeds {
		return n.seeds(r.Value)
	}
	var d weftpb.Discovered
	if err := proto.Unmarshal(r.Value, &d); err != nil {
		return nil, "undecodable"
	}
	return n.discovered(&d)
}

func (n normalizer) discovered(d *weftpb.Discovered) (*batches, string) {
	source, refusal := urls.Parse(d.Source)
	if refusal != urls.Accepted {
		return nil, "source_" + string(refusal)
	}
	from := scope.Referrer{
		URL: source, Domain: n.suffixes.Domain(source.Hostname()), Depth: d.Depth,
		Seed: d.SourceVia == weftpb.Via_VIA_SEED, Root: d.ScopeRoot, Via: d.Via, Redirects: d.SourceRedirects,
	}
	base := n.form.Document(source, d.Base, d.Charset)
	out := &batches{source: d.Source}
	n.show(out, from.Domain, d.Evidence)
	for _, link := range d.Links {
		u, refusal := resolve(base, source, d.Via, link.Url)
		if refusal != urls.Accepted {
			n.env.Meter.Normalized(string(refusal), 1)
			continue
		}
		domain := from.Domain
		if u.Hostname() != source.Hostname() {
			domain = n.suffixes.Domain(u.Hostname())
		}
		standing, outside := n.policy.Judge(from, u, domain)
		if outside != scope.Accepted {
			n.env.Meter.Normalized(string(outside), 1)
			continue
		}
		out.add(domain, u, standing)
	}
	if len(d.Evidence) > 0 {
		out.tellAll(from.Domain)
	}
	return out, ""
}

// seeds reads a record of the topic seeds. A line that is no seed is counted
// and the others stand; a record without a single one is rejected.
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
		out.add(n.suffixes.Domain(u.Hostname()), u, standing)
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

// outputs are the records of the batches.
func (n normalizer) outputs(b *batches) []Output {
	if len(b.list) == 0 {
		return nil
	}
	n.env.Meter.Normalized("accepted", b.targets)
	out := make([]Output, len(b.list))
	for i, batch := range b.list {
		out[i] = Output{Topic: n.env.Names.Normalized, Domain: batch.domain, Key: batch.domain, Value: encode(&batch.record)}
	}
	return out
}

// batches are the normalized records that one input makes. A record holds at
// most maxTargets targets and maxTargetBytes of them, so that a ledger event
// stays small.
type batches struct {
	source  string
	list    []*batch
	targets int
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

func (b *batches) add(domain string, u urls.URL, s scope.Standing) {
	target := &weftpb.Target{Url: u.String(), Depth: s.Depth, Via: s.Via, ScopeRoot: s.Root, Redirects: s.Redirects}
	size := len(target.Url) + len(target.ScopeRoot) + 16
	b.targets++
	to := b.open(domain, size)
	to.bytes += size
	to.record.Targets = append(to.record.Targets, target)
}

// open returns the batch of domain that has room for size bytes more. Most
// pages name few domains: a look from the end is quicker than a map.
func (b *batches) open(domain string, size int) *batch {
	for i := len(b.list) - 1; i >= 0; i-- {
		last := b.list[i]
		if last.domain != domain {
			continue
		}
		if len(last.record.Targets) < maxTargets && last.bytes+size <= maxTargetBytes {
			return last
		}
		break
	}
	fresh := &batch{domain: domain, record: weftpb.Normalized{Source: b.source}}
	b.list = append(b.list, fresh)
	return fresh
}
