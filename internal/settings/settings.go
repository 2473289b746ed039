// Package settings makes the options of every stage out of a crawl's definition.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/fields"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// CheckDefinition reports what in a crawl's definition a stage could not work with.
func CheckDefinition(d topics.Definition) error {
	_, err := VariantOptions(d)
	return cmp.Or(
		ScopeOptions(d).Validate(), URLOptions(d).Validate(), TrapOptions(d).Validate(), ParseOptions(d).Validate(), err,
		FrontierOptions(d).Validate(), checkBodies(d), checkAccept(d), checkArchive(d), checkDuplicates(d), checkSitemaps(d), CheckRules(d), checkAddresses(d), ClientOptions(httpclient.DefaultOptions(), d).Validate(),
	)
}

// MaxBody is the largest body, in bytes, that a crawl may ask for. fetch has a body in
// memory once, parse twice.
const MaxBody int64 = 256 << 20

// checkBodies reports sizes of bodies that have no place in records or in a store.
func checkBodies(d topics.Definition) error {
	most := max(ClientOptions(httpclient.DefaultOptions(), d).MaxBodyBytes, largestOf(d))
	switch {
	case d.MaxBody < 0 || d.MaxBody > MaxBody:
		return fmt.Errorf("the largest body of %d bytes is not between 1 and %d", d.MaxBody, MaxBody)
	case d.BodyThreshold < 0 || d.BodyThreshold > topics.LargestInRecord:
		return fmt.Errorf("bodies up to %d bytes in records are not between 1 and %d", d.BodyThreshold, topics.LargestInRecord)
	case d.Bodies == "" && most > topics.LargestInRecord:
		return fmt.Errorf("bodies up to %d bytes do not fit in records (%d at most): name a store with --bodies, or lower --max-body", most, topics.LargestInRecord)
	}
	return nil
}

// checkAccept reports what is not a media type.
func checkAccept(d topics.Definition) error {
	for _, pattern := range d.Accept {
		if !mediatype.IsPattern(pattern) {
			return fmt.Errorf("accepted media type %q: want type/subtype, type/* or */*", pattern)
		}
	}
	for pattern, size := range d.MaxBodyOf {
		if !mediatype.IsPattern(pattern) || size < 1 || size > MaxBody {
			return fmt.Errorf("bodies of %q up to %d bytes: want type/subtype, type/* or */*, and 1 to %d", pattern, size, MaxBody)
		}
	}
	return nil
}

// largestOf is the size in bytes of the largest body that MaxBodyOf permits.
func largestOf(d topics.Definition) (most int64) {
	for _, size := range d.MaxBodyOf {
		most = max(most, size)
	}
	return most
}

// checkArchive reports what the files of an archive cannot be.
func checkArchive(d topics.Definition) error {
	switch {
	case d.ArchiveFile < 0:
		return fmt.Errorf("the size of files of the archive, %d bytes, is negative", d.ArchiveFile)
	case d.ArchiveCompress != "" && d.ArchiveCompress != "gzip" && d.ArchiveCompress != "zstd":
		return fmt.Errorf("the compression of the archive is %q: want gzip or zstd", d.ArchiveCompress)
	case d.Archive == "" && (d.KeepMS != 0 || len(d.KeepOfMS) > 0):
		return errors.New("the crawl has no archive that could keep something for a time")
	}
	for _, ms := range append(slices.Collect(maps.Values(d.KeepOfMS)), d.KeepMS) {
		if ms < 0 {
			return fmt.Errorf("the time for which the archive keeps what was fetched, %d ms, is negative", ms)
		}
	}
	return nil
}

// FrontierOptions is the politeness that a crawl's definition asks for. The owner of a
// partition adds Partition.
func FrontierOptions(d topics.Definition) frontier.Options {
	opts := frontier.DefaultOptions()
	opts.Delay, opts.PerDomain = time.Duration(d.DelayMS)*time.Millisecond, d.PerDomain
	if d.GiveUpAfterMS != 0 {
		opts.GiveUpAfter = time.Duration(d.GiveUpAfterMS) * time.Millisecond
	}
	opts.AgentSinceMS = d.AgentSinceMS
	opts.PerDay, opts.CrawlPerDay, opts.ErrorBlock = d.PerDay, d.CrawlPerDay, !d.NoErrorBlock && d.Replay == ""
	opts.Allowed, opts.Unheld, opts.Usage = robots.Judge(), robots.Unheld, robots.Usage
	if d.Sitemaps == topics.NoSitemaps {
		opts.SitemapRefresh = 0
	}
	return opts
}

// DomainSetting is what people ask for a domain in the form of the ledger; nil: nothing.
func DomainSetting(s topics.Setting) *weftpb.DomainSetting {
	if s == (topics.Setting{Domain: s.Domain}) {
		return nil
	}
	return &weftpb.DomainSetting{
		DelayMs: s.DelayMS, PerDay: s.PerDay, Priority: Priority(s), Blocked: s.Blocked, Reason: s.Reason, SetMs: s.SetAt.UnixMilli(),
	}
}

// Priority is the priority that people ask for a domain.
func Priority(s topics.Setting) weftpb.DomainSetting_Priority {
	switch s.Priority {
	case topics.HighPriority:
		return weftpb.DomainSetting_PRIORITY_HIGH
	case topics.LowPriority:
		return weftpb.DomainSetting_PRIORITY_LOW
	}
	return weftpb.DomainSetting_PRIORITY_UNSPECIFIED
}

// URLOptions is the form of URLs that a crawl's definition asks for.
func URLOptions(d topics.Definition) urls.Options {
	return urls.Options{Strip: d.StripParams, SortQuery: d.SortQuery, HashBang: d.HashBang}
}

// ScopeOptions is the scope that a crawl's definition asks for.
func ScopeOptions(d topics.Definition) scope.Options {
	return scope.Options{Mode: scope.Mode(d.Scope), Include: d.Include, Exclude: d.Exclude, MaxDepth: d.MaxDepth, Limits: shapeLimits(d)}
}

// TrapOptions are the traps that a crawl's definition looks for.
func TrapOptions(d topics.Definition) traps.Options {
	o := traps.DefaultOptions()
	o.PagesPerDomain = d.MaxPagesPerDomain
	o.Evidence = int(limitOf(int64(d.TrapEvidence), int64(o.Evidence)))
	o.URLsPerTemplate = limitOf(d.MaxURLsPerTemplate, o.URLsPerTemplate)
	return o
}

// limitOf makes an option of a limit of a definition. In a definition 0 is the default
// and a negative number means no limit; in options 0 means no limit.
func limitOf(defined, byDefault int64) int64 {
	if defined == 0 {
		return byDefault
	}
	return max(defined, 0)
}

// shapeLimits are the limits of scope that a crawl's definition asks for.
func shapeLimits(d topics.Definition) scope.Limits {
	return scope.Limits{
		Segments: d.MaxPathSegments, SegmentRepeats: d.MaxPathRepeats, Params: d.MaxParams, ParamRepeats: d.MaxParamRepeats,
	}
}

// VariantOptions are the rules by which URLs of a site name the same page.
func VariantOptions(d topics.Definition) (*variants.Options, error) {
	return variants.NewOptions(!d.KeepVariants, d.SamePage)
}

// ParseOptions are the options of the stage parse for a crawl.
func ParseOptions(d topics.Definition) document.Options {
	opts := document.DefaultOptions()
	opts.Agent = Product(d)
	opts.HashBang = d.HashBang
	if len(d.FollowLinks) > 0 {
		opts.Follow = make([]document.Kind, len(d.FollowLinks))
		for i, kind := range d.FollowLinks {
			opts.Follow[i] = document.Kind(kind)
		}
	}
	for _, use := range d.Respect {
		p, _ := document.ParsePreference(use)
		if !p.Refused {
			p.Label = "" // which is not valid
		}
		opts.Respect = append(opts.Respect, p.Label)
	}
	if len(d.NoFollowRel) > 0 {
		opts.NoFollow = d.NoFollowRel
	}
	return opts
}

// FieldRules are the rules of a crawl by which fields are taken out of pages.
func FieldRules(d topics.Definition) (*fields.Rules, error) {
	sources := make([]fields.Source, len(d.Rules))
	for i, r := range d.Rules {
		sources[i] = fields.Source(r)
	}
	return fields.Load(sources)
}

// CheckRules reports what is wrong with the rules of a crawl, by file and line.
func CheckRules(d topics.Definition) error {
	_, err := FieldRules(d)
	return err
}

// ArticleOptions is what a crawl's definition asks for of the main text of pages.
func ArticleOptions(d topics.Definition) article.Options {
	opts := article.DefaultOptions()
	opts.Text, opts.Markdown = d.MainText, d.Markdown
	return opts
}

// ClientOptions returns o with what the crawl's definition says: its agent, its limits
// of bodies, and the addresses that it may connect to.
func ClientOptions(o httpclient.Options, d topics.Definition) httpclient.Options {
	o.UserAgent, o.Contact = d.UserAgent, d.Contact
	o.AllowPrivate, o.AllowNetworks = d.AllowPrivate, d.AllowNetworks
	if d.MaxBody > 0 {
		o.MaxBodyBytes, o.FileBytes = d.MaxBody, d.MaxBody
		o.LargeBodyBytes = max(o.LargeBodyBytes, d.MaxBody)
	}
	o.MaxBodyOf = d.MaxBodyOf
	o.LargeBodyBytes = max(o.LargeBodyBytes, largestOf(d))
	o.WantBody = wantBody(d)
	o.SitemapBytes = max(o.MaxBodyBytes, min(o.SitemapBytes, largestBody(d)))
	o.FileBytes = min(o.FileBytes, largestBody(d))
	o.Insecure = d.Insecure
	if o.KeepCoded = d.Archive != ""; o.KeepCoded { // the largest body is in memory in both forms
		o.LargeBodyBytes = max(o.LargeBodyBytes, 2*o.MaxBodyBytes, 2*largestOf(d))
	}
	if d.MinRate != 0 {
		o.MinBodyRate = d.MinRate
	}
	return o
}

// wantBody is httpclient.Documents, and what the definition asks for besides.
func wantBody(d topics.Definition) func(media string) bool {
	accept := slices.Clone(d.Accept)
	if slices.Contains(d.FollowLinks, string(document.KindImage)) {
		accept = append(accept, "image/*")
	}
	if slices.Contains(d.FollowLinks, string(document.KindMedia)) {
		accept = append(accept, "audio/*", "video/*")
	}
	return func(media string) bool {
		return httpclient.Documents(media) || slices.ContainsFunc(accept, func(pattern string) bool { return mediatype.Match(pattern, media) })
	}
}

// largestBody is the size in bytes of the largest body that the crawl has a place for.
func largestBody(d topics.Definition) int64 {
	if d.Bodies == "" {
		return topics.LargestInRecord
	}
	return MaxBody
}

// AddressOptions returns o with what the crawl's definition says of addresses. If the crawl's delay
// is shorter than the default delay of addresses, it is also the delay of addresses, unless the
// crawl names another.
func AddressOptions(o addresses.Options, d topics.Definition) addresses.Options {
	switch {
	case d.AddressDelayMS != 0:
		o.Delay = time.Duration(max(d.AddressDelayMS, 0)) * time.Millisecond
	default:
		o.Delay = min(o.Delay, time.Duration(d.DelayMS)*time.Millisecond)
	}
	o.AtOnce = int(limitOf(int64(d.PerAddress), int64(o.AtOnce)))
	if len(d.AddressExempt) > 0 {
		o.Exempt = nil
	}
	for _, network := range d.AddressExempt {
		if prefix, err := httpclient.ParseNetwork(network); err == nil { // CheckDefinition has seen it
			o.Exempt = append(o.Exempt, prefix)
		}
	}
	return o
}

// checkAddresses reports an exempt network that is not a network, and an invalid budget.
func checkAddresses(d topics.Definition) error {
	for _, network := range d.AddressExempt {
		if _, err := httpclient.ParseNetwork(network); err != nil {
			return err
		}
	}
	return AddressOptions(addresses.DefaultOptions(), d).Validate()
}

// Product is our product token (RFC 9309 section 2.2.1), by which robots.txt
// files and robots meta elements address us.
func Product(d topics.Definition) string {
	if d.UserAgent == "" {
		return httpclient.DefaultOptions().Product
	}
	return robots.ProductToken(d.UserAgent)
}

func checkSitemaps(d topics.Definition) error {
	if !slices.Contains([]string{"", topics.UseSitemaps, topics.NoSitemaps, topics.OnlySitemaps}, d.Sitemaps) {
		return fmt.Errorf("%q is not a policy for sitemaps", d.Sitemaps)
	}
	return nil
}

func checkDuplicates(d topics.Definition) error {
	if !slices.Contains([]string{"", topics.KeepDuplicates, topics.DropDuplicateText, topics.IgnoreDuplicates}, d.Duplicates) {
		return fmt.Errorf("%q is not a policy for duplicates", d.Duplicates)
	}
	if !slices.Contains([]string{"", topics.FollowDuplicateLinks, topics.IgnoreDuplicateLinks}, d.DuplicateLinks) {
		return fmt.Errorf("%q is not a policy for the links of duplicates", d.DuplicateLinks)
	}
	return nil
}
