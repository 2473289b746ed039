// Package dedupe is the stage dedupe: it lets each URL of the crawl through once.
//
//	reads    normalized   URLs of one domain, and evidence of the page that names them
//	writes   deduped      its ledger: which of these URLs are new, and what
//	                      becomes of them
//	decides  Decide, with four pure packages:
//	         seen.Set.Unseen        which URLs were never seen
//	         variants.Sites.Decide  which of those are merged into a variant
//	         traps.Templates.Decide which of the rest are parked, as URLs of a trap
//	         foreign.Entries.Decide which entries of sitemaps wait for a vouch of their host
//
// A record that changes nothing makes no event. Records of normalized are also how
// people lift a trap (LiftTrap): the event that answers brings its URLs back.
package dedupe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/dedupe/foreign"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/topics"
)

// Run runs the stage until ctx ends.
func Run(ctx context.Context, env stage.Env) error {
	return stage.Stateful(ctx, env, topics.Dedupe, Define(env))
}

// Define returns the stage without what runs it. Of env it takes the names, the
// definition and the meter.
func Define(env stage.Env) ledger.Processor {
	return ledger.Processor{
		Ledger: env.Names.Deduped,
		Inputs: []ledger.Input{{Topic: env.Names.Normalized}},
		Open: func(partition int32, store ledger.Store) (ledger.State, error) {
			return open(env, partition, store)
		},
	}
}

type state struct {
	ledger.Untimed
	env       stage.Env
	partition int32

	seen     *seen.Set
	variants *variants.Sites
	traps    *traps.Templates
	foreign  *foreign.Entries

	variantOptions *variants.Options
	trapOptions    traps.Options
	scope          *scope.Policy
}

func open(env stage.Env, partition int32, store ledger.Store) (*state, error) {
	variantOptions, err := settings.VariantOptions(env.Definition)
	if err != nil {
		return nil, err
	}
	policy, err := scope.New(settings.ScopeOptions(env.Definition))
	if err != nil {
		return nil, err
	}
	return &state{
		env: env, partition: partition,
		seen: seen.Open(seen.DefaultOptions(), store), traps: traps.Open(store), variants: variants.Open(store),
		foreign:        foreign.Open(store),
		variantOptions: variantOptions, trapOptions: settings.TrapOptions(env.Definition), scope: policy,
	}, nil
}

func (s *state) Decide(in ledger.InputRecord, _ time.Time, _ int64) ([]byte, error) {
	var n weftpb.Normalized
	if proto.Unmarshal(in.Value, &n) != nil {
		return nil, stage.Undecodable()
	}
	if err := stage.InPlace(in.Key, s.partition, s.env.Definition.Partitions); err != nil {
		return nil, err
	}
	if !ofDomain(in.Key, n.Targets) {
		return nil, stage.Undecodable()
	}
	if n.Lift != nil {
		if event := s.traps.Lift(in.Key, n.Lift); event != nil {
			return stage.Encode(event), nil
		}
		return nil, nil
	}
	unseen := s.seen.Unseen(n.Targets)
	differed, ok := canonize(in.Key, unseen)
	if !ok {
		return nil, stage.Undecodable()
	}
	if differed { // and may be seen
		unseen = s.seen.Unseen(n.Targets)
	}
	vouched, groups, recalled := s.foreign.Decide(&n, unseen)
	pages, aside := apart(unseen)
	d := s.variants.Decide(s.variantOptions, in.Key, &n, pages, variants.Surroundings{Known: s.seen.Has, InScope: s.inScope})
	if len(d.Merged) > 0 { // the variant that is kept may be seen
		d.Targets = s.seen.Unseen(d.Targets)
	}
	d.Groups, d.Recalled = append(d.Groups, groups...), append(d.Recalled, recalled...)
	fresh := len(d.Targets) + len(d.Restored) + len(aside)
	s.env.Meter.Deduped(fresh, len(n.Targets)-len(unseen), len(d.Merged))
	if fresh+len(d.Merged)+len(d.Evidence)+len(d.Groups)+len(d.Recalled)+len(vouched) == 0 {
		return nil, nil
	}
	event := &weftpb.Deduped{
		Targets: d.Targets, Source: n.Source, Evidence: d.Evidence, Merged: d.Merged, Groups: d.Groups, Recalled: d.Recalled,
		Vouched: vouched,
	}
	if len(event.Targets) > 0 {
		s.traps.Decide(s.trapOptions, in.Key, &n, event)
	}
	event.Targets = append(append(event.Targets, d.Restored...), aside...)
	return stage.Encode(event), nil
}

// ofDomain tells whether every target is a URL of domain, as in each record that
// normalize wrote. A record of another type may decode as a Normalized whose
// targets have no URL, and the frontier cannot hold those.
func ofDomain(domain string, targets []*weftpb.Target) bool {
	for _, t := range targets {
		if !isOf(domain, t.GetUrl()) {
			return false
		}
	}
	return true
}

// isOf tells whether a canonical URL is of a registrable domain. It looks at the
// host alone: dedupe sees millions of URLs.
func isOf(domain, url string) bool {
	rest, found := strings.CutPrefix(url, "http://")
	if !found {
		rest, found = strings.CutPrefix(url, "https://")
	}
	host, _, path := strings.Cut(rest, "/")
	if host = urls.WithoutPort(host); len(host) > 1 {
		host = strings.TrimSuffix(host, ".") // see urls.Suffixes.Domain
	}
	return found && path && urls.IsBelow(host, domain)
}

// canonize writes the URLs of targets as normalize does, and tells whether one differed.
// ok is false if one is not a URL of domain. Only another program, which changed a
// record, or another version writes others. This costs more than isOf, so only new URLs
// are asked about: what dedupe has seen was canonical.
func canonize(domain string, unseen []*weftpb.Target) (differed, ok bool) {
	for _, t := range unseen {
		u, refusal := urls.Parse(t.GetUrl())
		if refusal != urls.Accepted || !isOf(domain, u.String()) {
			return false, false
		}
		if u.String() != t.Url {
			t.Url, differed = u.String(), true
		}
	}
	return differed, true
}

// apart separates the targets that say nothing about their site: sitemaps, which are not pages, and
// entries that wait for a vouch of their host.
func apart(targets []*weftpb.Target) (pages, aside []*weftpb.Target) {
	is := func(t *weftpb.Target) bool { return t.Sitemap != nil || t.Entry.GetForeign() != "" }
	if !slices.ContainsFunc(targets, is) {
		return targets, nil
	}
	for _, t := range targets {
		if is(t) {
			aside = append(aside, t)
		} else {
			pages = append(pages, t)
		}
	}
	return pages, aside
}

// inScope judges kept as it would be judged if given redirected to it: a crawl
// that stays in a host, below a prefix, or within patterns, stays there.
func (s *state) inScope(given *weftpb.Target, kept urls.URL, domain string) bool {
	from, refusal := urls.Parse(given.Url)
	if refusal != urls.Accepted {
		return false
	}
	referrer := scope.Referrer{URL: from, Domain: domain, Depth: given.Depth, Root: given.ScopeRoot, Via: weftpb.Via_VIA_REDIRECT}
	_, outside := s.scope.Judge(referrer, kept, domain)
	return outside == scope.Accepted
}

func (s *state) Apply(domain string, body []byte, _ int64) error {
	var d weftpb.Deduped
	if err := proto.Unmarshal(body, &d); err != nil {
		return fmt.Errorf("decode deduped: %w", err)
	}
	s.seen.Apply(&d)
	s.traps.Apply(domain, &d)
	s.variants.Apply(domain, &d)
	s.foreign.Apply(&d)
	return nil
}
