package main

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/topics"
)

// definitionFlags define a crawl. The definition is in the crawl's topic config. A flag
// that is not given keeps the value there, or means the default in a new crawl.
type definitionFlags struct {
	Scope   *string  `enum:"host,domain,prefix,any" help:"How far links may lead from their page: host (default), domain, prefix or any."`
	Include []string `placeholder:"RE" sep:"none" help:"Regular expression that URLs must match. If there are several, a URL must match one of them."`
	Exclude []string `placeholder:"RE" sep:"none" help:"Regular expression that URLs must not match. If there are several, a URL must match none of them."`
	parseFlags
	Accept             []string `placeholder:"TYPE" help:"Fetch bodies of these media types too, for their metadata and for the archive: image/png, audio/*, */*. By default a body is fetched if it may have text or links; image/* also if --follow-links has image, audio/* and video/* if it has media."`
	Sitemaps           *string  `enum:"on,off,only" placeholder:"WHAT" help:"Read the sitemaps that robots.txt names, or else /sitemap.xml and /sitemap_index.xml: on (default), off, or only: do not follow links."`
	MaxPages           *int64   `placeholder:"N" help:"End after N pages."`
	MaxDepth           *int     `placeholder:"N" help:"Follow at most N links from a seed; -1, the default: no limit."`
	StripParam         []string `placeholder:"RULE" sep:"none" help:"Also remove the parameter NAME (or NAME*) from URLs; NAME@HOST removes it only below one host. NAME=off keeps a parameter, '*=off' keeps all. By default tracking parameters and session ids are removed."`
	SortQuery          *bool    `help:"Sort the parameters of URLs: URLs that differ only in their order are the same."`
	HashBang           *bool    `help:"Request #!state as ?_escaped_fragment_=state; by default all fragments are dropped."`
	SamePage           []string `placeholder:"RULE" help:"Treat URLs that differ by RULE as one page: https, http, no-www, www, slash, no-slash, or an index file such as index.html; RULE@HOST is for one site. Other rules are learned from the sites."`
	KeepVariants       *bool    `help:"Learn no rules about variants: crawl every URL, except for the rules of --same-page."`
	MaxPagesPerDomain  *int64   `placeholder:"N" help:"Take at most N URLs of a registrable domain; 0, the default: no limit."`
	MaxPathSegments    *int     `placeholder:"N" help:"Refuse links whose path has more than N segments (default 20); -1: no limit."`
	MaxPathRepeats     *int     `placeholder:"N" help:"Refuse links whose path repeats the same segments more than N times in a row (default 3); -1: no limit."`
	MaxParams          *int     `placeholder:"N" help:"Refuse links whose query has more than N parameters (default 24); -1: no limit."`
	MaxParamRepeats    *int     `placeholder:"N" help:"Refuse links whose query repeats the same parameter and value more than N times (default 3); -1: no limit."`
	TrapEvidence       *int     `placeholder:"N" help:"Hold back the URLs of a template when N of its pages had the same content (default 12, at most 14); -1: never. See weft traps."`
	MaxURLsPerTemplate *int64   `name:"max-urls-per-template" placeholder:"N" help:"Hold back the URLs of a template beyond the first N (default 10 million), whatever their content; -1: no limit."`

	Delay         *time.Duration `placeholder:"DUR" help:"Minimum time between two requests to a domain (default 1s)."`
	GiveUpAfter   *time.Duration `placeholder:"DUR" help:"How long a host may be down before its URLs are given up (default 168h)."`
	PerDomain     *int           `placeholder:"N" help:"Requests to a domain at the same time (default 1); use more only for your own sites."`
	AddressDelay  *time.Duration `placeholder:"DUR" help:"Minimum time between the starts of two requests to one address, over all of its names (default 50ms, or --delay if that is shorter); 0: no minimum."`
	PerAddress    *int           `placeholder:"N" help:"Requests to one address at the same time (default 8); 0: no limit."`
	AddressExempt []string       `placeholder:"CIDR" help:"Networks for which --address-delay and --per-address do not hold; by default private networks, such as 10.0.0.0/8."`
	PerDay        *int64         `placeholder:"N" help:"Make at most N requests a day (UTC) to a domain; 0, the default: no limit. See weft domain."`
	CrawlPerDay   *int64         `placeholder:"N" help:"Make about N requests a day (UTC) in the whole crawl. They are divided among the domains by the number of their URLs, at least 100 for each; 0, the default: no limit."`
	NoErrorBlock  *bool          `help:"Never block a domain because of errors. By default a domain is blocked for a day after 100 answers or more in a day, if more than half of them were errors (4xx and 5xx without 404, 410, 429 and 503)."`
	UserAgent     *string        `placeholder:"S" help:"Whole User-Agent; the default names weft, its version and the contact."`
	Contact       *string        `placeholder:"S" help:"URL or mail address at which operators of servers reach you; part of the User-Agent."`
	AllowPrivate  *bool          `help:"Permit addresses that are not public, such as 127.0.0.1."`
	AllowNetworks []string       `name:"allow-network" placeholder:"CIDR" help:"Also permit the addresses of a network, for example of an intranet: 10.1.0.0/16. Metadata services of clouds stay refused."`
	Insecure      *bool          `help:"Accept certificates that have expired, have another name or are not signed by a trusted authority."`
	Partitions    *int32         `placeholder:"N" help:"Partitions of a new crawl (default 4, at most 256 without --brokers); the number never changes."`

	Duplicates     *string `enum:"keep,drop-text,off" placeholder:"WHAT" help:"What to do with a page whose text an earlier page had: keep (default) names the earlier page, drop-text also leaves out the text, off does not look for duplicates and so finds no traps by content."`
	DuplicateLinks *string `enum:"follow,ignore" placeholder:"WHAT" help:"What to do with the links of a page whose text an earlier page had: follow (default) or ignore."`

	MaxBody       *byteSize           `placeholder:"SIZE" help:"Size at which bodies are cut (default 10MiB, and 32MiB for PDF and office files); at most 256MiB."`
	MaxBodyOf     map[string]byteSize `placeholder:"TYPE=SIZE,..." mapsep:"," help:"Size at which bodies of a media type are cut, instead of --max-body: image/*=2MiB,application/pdf=64MiB. The most specific type counts."`
	MinRate       *byteSize           `placeholder:"SIZE" help:"Minimum number of bytes a second of a body (default 1KiB). A slower exchange is ended."`
	BodyThreshold *byteSize           `placeholder:"SIZE" help:"Largest body in a record (default 1MiB), if there is a store for larger bodies."`
	Bodies        *location           `placeholder:"URL" help:"Store of bodies above --body-threshold: a folder that all machines share, or a bucket as in --checkpoints. By default DIR/bodies with the embedded broker; on a cluster all bodies are in records. It never changes."`

	Archive         *location      `placeholder:"URL" help:"Keep all exchanges as WARC files in a folder that all machines share, or in a bucket as in --checkpoints. none: end the archive."`
	ArchiveFile     *byteSize      `placeholder:"SIZE" help:"Size of a file of the archive (default 1000000000); at least 1MiB."`
	ArchiveCompress *string        `enum:"gzip,zstd" placeholder:"WHAT" help:"Compression of the archive: gzip (default) or zstd."`
	Keep            *age           `placeholder:"AGE" help:"Erase what was fetched longer ago from the archive, once a day: 90d, 36h, or forever (default). Needs an archive (docs/archive.md)."`
	KeepOf          map[string]age `placeholder:"DOMAIN=AGE,..." mapsep:"," help:"Another age for a registrable domain: example.com=30d,example.org=forever."`

	Replay *archiveLocation `placeholder:"ARCHIVE" help:"Make no request, and take all responses from an archive: a folder, a bucket as in --checkpoints, or the data directory of a crawl, whose archive is in its folder warc. Then --delay is 0 by default. It is for new crawls and never changes."`
}

// parseFlags are those flags of a definition that say what is read in a page. weft reparse has them, too.
type parseFlags struct {
	FollowLinks    []string  `placeholder:"KIND" help:"Kinds of links to follow. By default: a, area, frame, iframe, refresh, canonical, alternate, next, prev, noscript (any of these within a noscript or noframes element) and feed (an entry of a feed). Others: form, text (a URL that stands in a text, JSON or CSV), image, media, script, stylesheet and icon."`
	NoFollowRel    []string  `name:"nofollow-rel" placeholder:"REL" help:"Do not follow links with these values of rel (default nofollow), such as ugc and sponsored; none: follow all."`
	Respect        []string  `placeholder:"USE=n" help:"Leave out the contents of pages if the site refuses this use: ai-train=n, search=n, tdm=n, or another label of AIPREF."`
	ImagePlace     *bool     `help:"Let records of images say where they were taken, if the image has that."`
	MainText       *bool     `help:"Add the main text of HTML pages to their records, without navigation, comments and advertisements. Reading a page then takes about seven times as long (docs/consume.md)."`
	Markdown       *bool     `help:"Add the main text of HTML pages to their records as Markdown (CommonMark, with tables), with code blocks and absolute links."`
	StructuredData *string   `enum:"on,off" placeholder:"WHAT" help:"Add what HTML pages say about themselves as JSON-LD, microdata, RDFa, Open Graph, Twitter Cards and Dublin Core to their records, with dates, authors, breadcrumbs and prices: on (default) or off (docs/structured-data.md)."`
	Rules          ruleFiles `placeholder:"PATH" help:"Take fields out of pages by the rules in a YAML file, or in the YAML files of a folder (docs/extract.md); none: remove all rules."`
}

// newDefinition is the definition of a crawl without flags. Its number of partitions
// is not set.
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

// over returns d changed by the flags that were given. They have the names of its fields.
func (f definitionFlags) over(d topics.Definition) topics.Definition {
	if f.Delay != nil {
		d.DelayMS = f.Delay.Milliseconds()
	}
	if f.GiveUpAfter != nil {
		d.GiveUpAfterMS = f.GiveUpAfter.Milliseconds()
	}
	if f.AddressDelay != nil {
		if d.AddressDelayMS = f.AddressDelay.Milliseconds(); d.AddressDelayMS == 0 {
			d.AddressDelayMS = -1
		}
	}
	if f.PerAddress != nil {
		if d.PerAddress = *f.PerAddress; d.PerAddress == 0 {
			d.PerAddress = -1
		}
	}
	if f.StripParam != nil {
		// After the default rules, so that they can be exceptions from these.
		d.StripParams = append(urls.DefaultStrip(), f.StripParam...)
	}
	if f.Archive != nil {
		if d.Archive = string(*f.Archive); d.Archive == noArchive {
			d.Archive, d.KeepMS, d.KeepOfMS = "", 0, nil
		}
	}
	if f.Keep != nil {
		d.KeepMS = time.Duration(*f.Keep).Milliseconds()
	}
	if f.KeepOf != nil {
		ages, _ := agesOf(f.KeepOf) // check has seen its error
		d.KeepOfMS = make(map[string]int64, len(ages))
		for domain, age := range ages {
			d.KeepOfMS[domain] = age.Milliseconds()
		}
	}
	if f.Replay != nil && d.Replay == "" && f.Delay == nil {
		d.DelayMS = 0 // no server is asked, so no delay is needed
	}
	if f.MaxBodyOf != nil {
		d.MaxBodyOf = make(map[string]int64, len(f.MaxBodyOf))
		for media, size := range f.MaxBodyOf {
			d.MaxBodyOf[media] = int64(size)
		}
	}
	setGiven(reflect.ValueOf(f), &d)
	return f.parseFlags.over(d)
}

// over returns d changed by the flags that were given.
func (f parseFlags) over(d topics.Definition) topics.Definition {
	setGiven(reflect.ValueOf(f), &d)
	return d
}

// setGiven sets the fields of d that have the names of flags that were given.
func setGiven(flags reflect.Value, d *topics.Definition) {
	fields := reflect.ValueOf(d).Elem()
	for i := range flags.NumField() {
		name, given := flags.Type().Field(i).Name, flags.Field(i)
		if flags.Type().Field(i).Anonymous || given.IsNil() ||
			slices.Contains([]string{"Delay", "GiveUpAfter", "StripParam", "AddressDelay", "PerAddress", "Archive", "Keep", "KeepOf", "MaxBodyOf"}, name) {
			continue
		}
		if given.Kind() == reflect.Pointer {
			given = given.Elem()
		}
		field := fields.FieldByName(name)
		field.Set(given.Convert(field.Type()))
	}
}

// noArchive ends an archive.
const noArchive = "none"

func (f parseFlags) check() error {
	for _, kind := range f.FollowLinks {
		if !slices.Contains(document.Kinds(), document.Kind(kind)) {
			return usagef("--follow-links: %q is not a kind of link", kind)
		}
	}
	if err := settings.CheckRules(topics.Definition{Rules: f.Rules}); err != nil {
		return usagef("--rules: %w", err)
	}
	for _, use := range f.Respect {
		if p, ok := document.ParsePreference(use); !ok || !p.Refused {
			return usagef("--respect: %q is not a use and =n, such as ai-train=n", use)
		}
	}
	return nil
}

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
	for _, network := range f.AllowNetworks {
		if _, err := httpclient.ParseNetwork(network); err != nil {
			return usagef("--allow-network: %w", err)
		}
	}
	if _, err := agesOf(f.KeepOf); err != nil {
		return err
	}
	for _, network := range f.AddressExempt {
		if _, err := httpclient.ParseNetwork(network); err != nil {
			return usagef("--address-exempt: %w", err)
		}
	}
	for flag, text := range map[string]*string{"--user-agent": f.UserAgent, "--contact": f.Contact} {
		if text != nil && strings.ContainsFunc(*text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return usagef("%s %q holds a control character", flag, *text)
		}
	}
	for _, pattern := range slices.Concat(f.Accept, slices.Sorted(maps.Keys(f.MaxBodyOf))) {
		if !mediatype.IsPattern(pattern) {
			return usagef("%q is not a media type: want type/subtype, type/* or */*", pattern)
		}
	}
	for media, size := range f.MaxBodyOf {
		if int64(size) > settings.MaxBody {
			return usagef("--max-body-of %s=%d is above 256MiB", media, size)
		}
	}
	if err := f.parseFlags.check(); err != nil {
		return err
	}
	switch {
	case f.TrapEvidence != nil && (*f.TrapEvidence < -1 || *f.TrapEvidence > traps.MaxEvidence):
		return usagef("--trap-evidence %d is not between -1 and %d", *f.TrapEvidence, traps.MaxEvidence)
	case f.Delay != nil && (*f.Delay < 0 || *f.Delay > politeness.MaxDelay):
		return usagef("--delay %v is not between 0 and %v", *f.Delay, politeness.MaxDelay)
	case f.AddressDelay != nil && (*f.AddressDelay < 0 || *f.AddressDelay > time.Hour):
		return usagef("--address-delay %v is not between 0 and 1h", *f.AddressDelay)
	case f.GiveUpAfter != nil && (*f.GiveUpAfter < time.Minute || *f.GiveUpAfter > 365*24*time.Hour):
		return usagef("--give-up-after %v is not between 1m and 8760h", *f.GiveUpAfter)
	case f.MaxBody != nil && int64(*f.MaxBody) > settings.MaxBody:
		return usagef("--max-body %d is above 256MiB", *f.MaxBody)
	case f.BodyThreshold != nil && int64(*f.BodyThreshold) > topics.LargestInRecord:
		return usagef("--body-threshold %d is above 15MiB, the largest body that fits in a record", *f.BodyThreshold)
	case f.Bodies != nil && *f.Bodies == "":
		return usagef("--bodies is empty")
	case f.Archive != nil && *f.Archive == "":
		return usagef("--archive is empty")
	case f.Replay != nil && *f.Replay == "":
		return usagef("--replay is empty")
	case f.ArchiveFile != nil && *f.ArchiveFile < 1<<20:
		return usagef("--archive-file %d is below 1MiB", *f.ArchiveFile)
	}
	return cmp.Or(
		atLeast(0, "--max-pages", f.MaxPages, "is negative"),
		atLeast(scope.NoDepthLimit, "--max-depth", f.MaxDepth, "is below -1"),
		atLeast(0, "--max-pages-per-domain", f.MaxPagesPerDomain, "is negative"),
		atLeast(scope.NoLimit, "--max-path-segments", f.MaxPathSegments, "is below -1"),
		atLeast(scope.NoLimit, "--max-path-repeats", f.MaxPathRepeats, "is below -1"),
		atLeast(scope.NoLimit, "--max-params", f.MaxParams, "is below -1"),
		atLeast(scope.NoLimit, "--max-param-repeats", f.MaxParamRepeats, "is below -1"),
		atLeast(-1, "--max-urls-per-template", f.MaxURLsPerTemplate, "is below -1"),
		atLeast(1, "--per-domain", f.PerDomain, "is not positive"),
		atLeast(0, "--per-day", f.PerDay, "is negative"),
		atLeast(0, "--crawl-per-day", f.CrawlPerDay, "is negative"),
		atLeast(0, "--per-address", f.PerAddress, "is negative"),
		atLeast(1, "--partitions", f.Partitions, "is not positive"),
	)
}

func atLeast[N int | int32 | int64](least N, flag string, given *N, otherwise string) error {
	if given != nil && *given < least {
		return usagef("%s %d %s", flag, *given, otherwise)
	}
	return nil
}
