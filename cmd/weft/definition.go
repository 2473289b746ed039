package main

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
	"github.com/weftcrawl/weft/urls"
	"github.com/weftcrawl/weft/variants"
)

// definitionFlags define a crawl. The definition lives in the crawl's topic
// config, so a flag that is not given means what is in force there, or the
// default in a new crawl.
type definitionFlags struct {
	Scope              *string  `enum:"host,domain,prefix,any" help:"How far links may lead from the page that holds them: host (default), domain, prefix or any."`
	Include            []string `placeholder:"RE" sep:"none" help:"Regular expression that URLs must match; of several, one."`
	Exclude            []string `placeholder:"RE" sep:"none" help:"Regular expression that URLs may not match; of several, any."`
	FollowLinks        []string `placeholder:"KIND" help:"Kinds of links to follow: a, area, frame, iframe, refresh, canonical, alternate, next, prev and noscript, which are any of these within a noscript element, by default; form, image, media, script, stylesheet and icon if named."`
	NofollowRel        []string `placeholder:"REL" help:"Values of rel that keep a link from being followed (default nofollow), such as ugc and sponsored; none: no value does."`
	MaxPages           *int64   `placeholder:"N" help:"End after N pages."`
	MaxDepth           *int     `placeholder:"N" help:"Follow at most N links from a seed; -1, the default: no limit."`
	StripParam         []string `placeholder:"RULE" sep:"none" help:"Also remove the parameter NAME (or NAME*) from URLs, below one host with NAME@HOST; NAME=off keeps it, '*=off' all. Tracking parameters and session ids go by default."`
	SortQuery          *bool    `help:"Take URLs for the same whose parameters differ in their order only."`
	HashBang           *bool    `help:"Ask for #!state as ?_escaped_fragment_=state; without it all fragments are dropped."`
	SamePage           []string `placeholder:"RULE" help:"Take URLs for one page that differ by RULE: https, no-www, www, slash, no-slash, or an index file such as index.html; for one site with RULE@HOST. Others are learnt from sites."`
	KeepVariants       *bool    `help:"Learn no such rules: crawl every URL, but for --same-page."`
	MaxPagesPerDomain  *int64   `placeholder:"N" help:"Take at most N URLs of a registrable domain; 0, the default: no limit."`
	MaxPathSegments    *int     `placeholder:"N" help:"Refuse links whose path has more than N segments (default 20); -1: no limit."`
	MaxPathRepeats     *int     `placeholder:"N" help:"Refuse links whose path repeats the same segments more than N times in a row (default 3); -1: no limit."`
	MaxParams          *int     `placeholder:"N" help:"Refuse links whose query has more than N parameters (default 24); -1: no limit."`
	MaxParamRepeats    *int     `placeholder:"N" help:"Refuse links whose query says the same more than N times (default 3); -1: no limit."`
	TrapEvidence       *int     `placeholder:"N" help:"Hold URLs back once N pages that look like theirs showed the same (default 12, at most 14); -1: never. See weft traps."`
	MaxURLsPerTemplate *int64   `name:"max-urls-per-template" placeholder:"N" help:"Hold back what goes beyond N URLs that look alike (default 10 million), whatever they show; -1: no limit."`

	Delay        *time.Duration `placeholder:"DUR" help:"Least time between two requests to a domain (default 1s)."`
	PerDomain    *int           `placeholder:"N" help:"Requests to a domain at the same time (default 1); more only on your own sites."`
	UserAgent    *string        `placeholder:"S" help:"Whole User-Agent; the default names weft, its version and the contact."`
	Contact      *string        `placeholder:"S" help:"URL or mail address for people who run servers; part of the User-Agent."`
	AllowPrivate *bool          `help:"Permit addresses that are not public, such as 127.0.0.1."`
	AllowNetwork []string       `placeholder:"CIDR" help:"Permit the addresses in a network besides, such as 10.1.0.0/16: an intranet, and not the metadata of the cloud."`
	Insecure     *bool          `help:"Take certificates that have expired, are of another name or signed by nobody who is trusted."`
	Partitions   *int32         `placeholder:"N" help:"Partitions of a new crawl (default 4); they never change."`

	Duplicates     *string `enum:"keep,drop-text,off" placeholder:"WHAT" help:"What becomes of a page whose text another page had before it: keep (default) says which, drop-text leaves the text out besides, off does not look, and so finds no traps by their content."`
	DuplicateLinks *string `enum:"follow,ignore" placeholder:"WHAT" help:"What becomes of the links of such a page: follow (default) or ignore."`

	MaxBody       *byteSize `placeholder:"SIZE" help:"Where bodies are cut (default 10MiB); 256MiB at most."`
	MinRate       *byteSize `placeholder:"SIZE" help:"Least rate of a body, a second (default 1KiB); one that comes more slowly is given up."`
	BodyThreshold *byteSize `placeholder:"SIZE" help:"Largest body that a record holds (default 1MiB), if there is a place for larger ones."`
	Bodies        *location `placeholder:"URL" help:"Where larger bodies are until they are parsed: a folder that all machines share, or a bucket as in --checkpoints. Without it DIR/bodies beside the embedded broker, and in records on a cluster. It never changes."`
}

// newDefinition is a crawl nobody gave a flag for. Its partitions are open.
func newDefinition(crawl string) topics.Definition {
	return topics.Definition{
		Version:    topics.DefinitionVersion,
		Crawl:      crawl,
		SuffixList: urls.BundledSuffixes().Version(),
		Scope:      string(scope.Host),
		MaxDepth:   scope.NoDepthLimit,

		StripParams: urls.DefaultStrip(),

		DelayMS:   time.Second.Milliseconds(),
		PerDomain: 1,
	}
}

// over returns d changed by the flags that were given.
func (f definitionFlags) over(d topics.Definition) topics.Definition {
	set(&d.Scope, f.Scope)
	set(&d.MaxPages, f.MaxPages)
	set(&d.MaxDepth, f.MaxDepth)
	set(&d.SortQuery, f.SortQuery)
	set(&d.HashBang, f.HashBang)
	set(&d.KeepVariants, f.KeepVariants)
	set(&d.MaxPagesPerDomain, f.MaxPagesPerDomain)
	set(&d.MaxPathSegments, f.MaxPathSegments)
	set(&d.MaxPathRepeats, f.MaxPathRepeats)
	set(&d.MaxParams, f.MaxParams)
	set(&d.MaxParamRepeats, f.MaxParamRepeats)
	set(&d.TrapEvidence, f.TrapEvidence)
	set(&d.MaxURLsPerTemplate, f.MaxURLsPerTemplate)
	set(&d.PerDomain, f.PerDomain)
	set(&d.UserAgent, f.UserAgent)
	set(&d.Contact, f.Contact)
	set(&d.AllowPrivate, f.AllowPrivate)
	set(&d.Insecure, f.Insecure)
	set(&d.MinRate, (*int64)(f.MinRate))
	set(&d.Partitions, f.Partitions)
	set(&d.Duplicates, f.Duplicates)
	set(&d.DuplicateLinks, f.DuplicateLinks)
	set(&d.MaxBody, (*int64)(f.MaxBody))
	set(&d.BodyThreshold, (*int64)(f.BodyThreshold))
	set(&d.Bodies, (*string)(f.Bodies))
	if f.Delay != nil {
		d.DelayMS = f.Delay.Milliseconds()
	}
	if f.FollowLinks != nil {
		d.FollowLinks = f.FollowLinks
	}
	if f.NofollowRel != nil {
		d.NoFollowRel = f.NofollowRel
	}
	if f.Include != nil {
		d.Include = f.Include
	}
	if f.Exclude != nil {
		d.Exclude = f.Exclude
	}
	if f.AllowNetwork != nil {
		d.AllowNetworks = f.AllowNetwork
	}
	if f.SamePage != nil {
		d.SamePage = f.SamePage
	}
	if f.StripParam != nil {
		// After the listed ones, of which they are exceptions.
		d.StripParams = append(urls.DefaultStrip(), f.StripParam...)
	}
	return d
}

func set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}

// check names the first flag that no crawl can have.
func (f definitionFlags) check() error {
	for flag, patterns := range map[string][]string{"--include": f.Include, "--exclude": f.Exclude} {
		for _, pattern := range patterns {
			if _, err := regexp.Compile(pattern); err != nil {
				return usagef("%s: %w", flag, err)
			}
		}
	}
	for _, rule := range f.StripParam {
		if _, err := urls.ParseRule(rule); err != nil {
			return usagef("--strip-param: %w", err)
		}
	}
	if _, err := variants.NewOptions(true, f.SamePage); err != nil {
		return usagef("--same-page: %w", err)
	}
	for flag, limit := range map[string]*int{
		"--max-path-segments": f.MaxPathSegments, "--max-path-repeats": f.MaxPathRepeats,
		"--max-params": f.MaxParams, "--max-param-repeats": f.MaxParamRepeats,
	} {
		if limit != nil && *limit < scope.NoLimit {
			return usagef("%s %d is below -1", flag, *limit)
		}
	}
	for _, network := range f.AllowNetwork {
		if _, err := fetch.ParseNetwork(network); err != nil {
			return usagef("--allow-network: %w", err)
		}
	}
	for flag, text := range map[string]*string{"--user-agent": f.UserAgent, "--contact": f.Contact} {
		if text != nil && strings.ContainsFunc(*text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return usagef("%s %q holds a control character", flag, *text)
		}
	}
	for _, kind := range f.FollowLinks {
		if !slices.Contains(parse.Kinds(), parse.Kind(kind)) {
			return usagef("--follow-links: %q is no kind of link", kind)
		}
	}
	switch {
	case f.MaxPages != nil && *f.MaxPages < 0:
		return usagef("--max-pages %d is negative", *f.MaxPages)
	case f.MaxDepth != nil && *f.MaxDepth < scope.NoDepthLimit:
		return usagef("--max-depth %d is below -1", *f.MaxDepth)
	case f.MaxPagesPerDomain != nil && *f.MaxPagesPerDomain < 0:
		return usagef("--max-pages-per-domain %d is negative", *f.MaxPagesPerDomain)
	case f.TrapEvidence != nil && (*f.TrapEvidence < -1 || *f.TrapEvidence > traps.MaxEvidence):
		return usagef("--trap-evidence %d is not between -1 and %d", *f.TrapEvidence, traps.MaxEvidence)
	case f.MaxURLsPerTemplate != nil && *f.MaxURLsPerTemplate < -1:
		return usagef("--max-urls-per-template %d is below -1", *f.MaxURLsPerTemplate)
	case f.Delay != nil && (*f.Delay < 0 || *f.Delay > politeness.MaxDelay):
		return usagef("--delay %v is not between 0 and %v", *f.Delay, politeness.MaxDelay)
	case f.PerDomain != nil && *f.PerDomain < 1:
		return usagef("--per-domain %d is not positive", *f.PerDomain)
	case f.Partitions != nil && *f.Partitions < 1:
		return usagef("--partitions %d is not positive", *f.Partitions)
	case f.MaxBody != nil && int64(*f.MaxBody) > processors.MaxBody:
		return usagef("--max-body %d is above 256MiB", *f.MaxBody)
	case f.BodyThreshold != nil && int64(*f.BodyThreshold) > topics.LargestInRecord:
		return usagef("--body-threshold %d is above 15MiB, the largest body that fits in a record", *f.BodyThreshold)
	case f.Bodies != nil && *f.Bodies == "":
		return usagef("--bodies is empty")
	}
	return nil
}
