package topics

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// DefinitionVersion is the version of the record of config that this program
// writes, and the newest that it reads.
const DefinitionVersion = 1

// Definition is the record of config: what is the same for all processes of a crawl.
// It is JSON, because people read and write it.
type Definition struct {
	// Version of the record's format.
	Version int `json:"version"`

	// Crawl, Partitions and SuffixList are pinned: they decide in which partition a
	// domain is, and can never change.
	Crawl      string `json:"crawl"`
	Partitions int32  `json:"partitions"`
	// SuffixList identifies the public suffix list that registrable domains
	// are computed with.
	SuffixList string `json:"suffix_list"`
	// FormerPartitions is the largest number of partitions that the crawl had before
	// it was moved to these; 0: it was never moved. Their ledgers are in Partitions
	// now.
	FormerPartitions int32 `json:"former_partitions,omitempty"`

	// Scope is host, domain, prefix or any; Include and Exclude are regular
	// expressions on canonical URLs.
	Scope   string   `json:"scope"`
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// MaxDepth is the most links between a seed and a page; -1: no limit.
	MaxDepth int `json:"max_depth"`
	// Limits of a URL: how many segments its path has, how often a sequence of them
	// is repeated, how many parameters it has, how often one of them is repeated with
	// the same value. 0: the default of package scope; -1: no limit.
	MaxPathSegments int `json:"max_path_segments,omitempty"`
	MaxPathRepeats  int `json:"max_path_repeats,omitempty"`
	MaxParams       int `json:"max_params,omitempty"`
	MaxParamRepeats int `json:"max_param_repeats,omitempty"`
	// TrapEvidence is how many pages must show the same content before URLs like theirs are held
	// back; 0: the default of package traps; -1: no URLs are.
	TrapEvidence int `json:"trap_evidence,omitempty"`
	// MaxURLsPerTemplate bounds the URLs that look alike; 0: the default of package
	// traps; -1: no limit.
	MaxURLsPerTemplate int64 `json:"max_urls_per_template,omitempty"`
	// MaxPagesPerDomain bounds the URLs of a registrable domain; 0: no limit.
	MaxPagesPerDomain int64 `json:"max_pages_per_domain,omitempty"`
	// FollowLinks are the kinds of links to follow (document.Kind); empty: those that
	// name pages. NoFollowRel are the relations for which a link is not followed;
	// empty: nofollow.
	FollowLinks []string `json:"follow_links,omitempty"`
	NoFollowRel []string `json:"nofollow_rel,omitempty"`
	// Respect are the uses whose refusal by a site leaves its pages without contents, such as
	// "train-ai=n" (document.ParsePreference).
	Respect []string `json:"respect,omitempty"`
	// MainText and Markdown are whether pages have the article without navigation, as text and
	// as Markdown.
	MainText bool `json:"main_text,omitempty"`
	Markdown bool `json:"markdown,omitempty"`
	// StructuredData says whether pages have their structured data: UseStructuredData or
	// NoStructuredData; empty: the first.
	StructuredData string `json:"structured_data,omitempty"`
	// Rules are files of rules by which fields are taken out of pages (package fields).
	Rules []RuleFile `json:"rules,omitempty"`
	// Sitemaps says whether the crawl reads sitemaps: UseSitemaps, NoSitemaps or OnlySitemaps;
	// empty: the first.
	Sitemaps string `json:"sitemaps,omitempty"`
	// Accept are media types whose bodies are fetched besides those with text or links, such as
	// "image/png", "audio/*" or "*/*".
	Accept []string `json:"accept,omitempty"`
	// ImagePlace: records of images say where they were taken.
	ImagePlace bool `json:"image_place,omitempty"`
	// MaxPages ends the crawl after so many pages; 0: no limit.
	MaxPages int64 `json:"max_pages,omitempty"`

	// StripParams are the rules by which parameters are removed from URLs
	// (urls.Rule); empty: no parameter is removed, as in crawls older than the field.
	// SortQuery sorts queries. HashBang keeps fragments that begin with "!" as a
	// parameter. A change is valid for URLs that are found later: URLs in the crawl
	// stay as they are.
	StripParams []string `json:"strip_params,omitempty"`
	SortQuery   bool     `json:"sort_query,omitempty"`
	HashBang    bool     `json:"hash_bang,omitempty"`
	// SamePage are rules by which URLs of a site name the same page, as package
	// variants reads them. KeepVariants: no more rules are learnt from sites.
	SamePage     []string `json:"same_page,omitempty"`
	KeepVariants bool     `json:"keep_variants,omitempty"`

	// DelayMS is the time between two requests to a domain, milliseconds.
	DelayMS int64 `json:"delay_ms"`
	// PerDomain is how many visits of a domain may be out at once.
	PerDomain int `json:"per_domain"`
	// GiveUpAfterMS is how long a host may be down before its URLs are given up,
	// milliseconds; 0: 7 days.
	GiveUpAfterMS int64 `json:"give_up_after_ms,omitempty"`

	// AddressDelayMS is the time between the starts of two requests to an address,
	// milliseconds. PerAddress is the number of requests to an address that may be open. 0:
	// the defaults of package addresses; -1: no limit. AddressExempt are networks without
	// these limits, such as "10.1.0.0/16"; empty: private networks.
	AddressDelayMS int64    `json:"address_delay_ms,omitempty"`
	PerAddress     int      `json:"per_address,omitempty"`
	AddressExempt  []string `json:"address_exempt,omitempty"`
	// PerDay is the largest number of requests to a domain in a day (UTC). CrawlPerDay is
	// the budget of the crawl, which is divided among the domains by the number of their
	// URLs, at least 100 for each. 0: no limit.
	PerDay      int64 `json:"per_day,omitempty"`
	CrawlPerDay int64 `json:"crawl_per_day,omitempty"`
	// NoErrorBlock: a domain is not blocked for a day when most of its answers are errors.
	NoErrorBlock bool `json:"no_error_block,omitempty"`

	// Duplicates is what happens to pages whose text another page had before:
	// KeepDuplicates, DropDuplicateText or IgnoreDuplicates; empty: the first.
	Duplicates string `json:"duplicates,omitempty"`
	// DuplicateLinks is what happens to their links: FollowDuplicateLinks or
	// IgnoreDuplicateLinks; empty: the first.
	DuplicateLinks string `json:"duplicate_links,omitempty"`

	// MaxBody is the size in bytes at which bodies are cut; 0: the default of fetch.
	MaxBody int64 `json:"max_body,omitempty"`
	// MaxBodyOf is the same for bodies of some media types, which are written as in Accept. The
	// entry that says most about a type holds.
	MaxBodyOf map[string]int64 `json:"max_body_of,omitempty"`
	// Bodies is where bodies of more than BodyThreshold bytes are stored, instead of
	// in their records: a location of package blob, or InData. Empty: all bodies are
	// in records. Once it is set it is pinned, because records refer to it.
	Bodies string `json:"bodies,omitempty"`
	// BodyThreshold in bytes; 0: DefaultBodyThreshold.
	BodyThreshold int64 `json:"body_threshold,omitempty"`

	// Archive is where the stage archive writes: a location of package blob, or InData.
	// Empty: the crawl has no archive. ArchiveFile is the size in bytes at which a file is
	// cut; 0: the default of package archive. ArchiveCompress is gzip or zstd; empty: gzip.
	Archive         string `json:"archive,omitempty"`
	ArchiveFile     int64  `json:"archive_file,omitempty"`
	ArchiveCompress string `json:"archive_compress,omitempty"`
	// KeepMS is how long the archive keeps what was fetched, in milliseconds; 0: for ever. KeepOfMS
	// has the time of registrable domains that differ from it.
	KeepMS   int64            `json:"keep_ms,omitempty"`
	KeepOfMS map[string]int64 `json:"keep_of_ms,omitempty"`

	// Replay is the archive from which the crawl has its responses: a location of package blob.
	// Empty: from the web. It is pinned, because a crawl is not both.
	Replay string `json:"replay,omitempty"`

	UserAgent string `json:"user_agent"`
	Contact   string `json:"contact,omitempty"`
	// AgentSinceMS is when UserAgent changed last, Unix time in milliseconds; 0: it never changed. Rules of
	// robots.txt that were fetched before are those for another agent.
	AgentSinceMS int64 `json:"agent_since_ms,omitempty"`
	// AllowPrivate permits addresses that are not public.
	AllowPrivate bool `json:"allow_private,omitempty"`
	// Insecure accepts servers' certificates without verifying them.
	Insecure bool `json:"insecure,omitempty"`
	// MinRate is the least rate of a body, in bytes a second; 0: the default of
	// fetch.
	MinRate int64 `json:"min_rate,omitempty"`
	// AllowNetworks permits the addresses in these networks besides, such as
	// "10.1.0.0/16".
	AllowNetworks []string `json:"allow_networks,omitempty"`
}

// RuleFile is a file of rules: its name, without folders, and its text.
type RuleFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// errNewer means that only a newer program can read a definition.
var errNewer = errors.New("newer")

// DefinitionIn returns the definition in a record of config. The record may be a
// control or belong to an import. It returns false if the record does not belong to
// crawl.
func DefinitionIn(value []byte, crawl string) (Definition, bool) {
	d, err := decodeDefinition(value)
	return d, err == nil && d.Crawl == crawl
}

// Policies for sitemaps.
const (
	// UseSitemaps: sitemaps name pages, as links do.
	UseSitemaps = "on"
	// NoSitemaps: sitemaps are not requested and not read.
	NoSitemaps = "off"
	// OnlySitemaps: pages are found in sitemaps, and links are not followed.
	OnlySitemaps = "only"
)

// Policies for structured data.
const (
	// UseStructuredData: records of pages have it.
	UseStructuredData = "on"
	// NoStructuredData: it is not read. Open Graph and JSON-LD are there as written.
	NoStructuredData = "off"
)

// Policies for duplicates.
const (
	// KeepDuplicates: their records name the page that they duplicate.
	KeepDuplicates = "keep"
	// DropDuplicateText: their records say that, and have no text.
	DropDuplicateText = "drop-text"
	// IgnoreDuplicates: duplicates are not looked for.
	IgnoreDuplicates = "off"

	FollowDuplicateLinks = "follow"
	IgnoreDuplicateLinks = "ignore"
)

// InData says that the bodies, or the archive, are in the data directory of the process with the
// embedded broker. Only that process knows the path.
const InData = "data"

// DefaultBodyThreshold is the size in bytes up to which bodies are in records, if the
// crawl does not say another: Kafka's own default for the largest record.
const DefaultBodyThreshold int64 = 1 << 20

// LargestInRecord is the size in bytes of the largest body that a record of fetched
// can have beside its headers.
const LargestInRecord int64 = 15 * mib

// LargeBody is the size in bytes above which a body is stored in Bodies.
func (d Definition) LargeBody() int64 {
	if d.BodyThreshold == 0 {
		return DefaultBodyThreshold
	}
	return d.BodyThreshold
}

// Validate says what is wrong with the version, the name and the pinned fields, if
// anything. The packages that use the other fields check them.
func (d Definition) Validate() error {
	switch {
	case d.Version < 1:
		return fmt.Errorf("definition of crawl %q has no version", d.Crawl)
	case d.Version > DefinitionVersion:
		return fmt.Errorf("definition of crawl %q has version %d, %w than %d, which this program knows", d.Crawl, d.Version, errNewer, DefinitionVersion)
	case d.Partitions < 1:
		return fmt.Errorf("definition of crawl %q has %d partitions", d.Crawl, d.Partitions)
	case d.SuffixList == "":
		return fmt.Errorf("definition of crawl %q names no public suffix list", d.Crawl)
	}
	return CheckCrawl(d.Crawl)
}

// ErrPinned means that two definitions of a crawl differ in what is pinned: a domain
// would have two owners.
var ErrPinned = errors.New("cannot change once a crawl has begun")

// Agrees returns an error that wraps ErrPinned when other, a later definition,
// differs from d in what is pinned.
func (d Definition) Agrees(other Definition) error {
	type pin struct{ name, pinned, given, instead string }
	pins := []pin{
		{"name", d.Crawl, other.Crawl, ""},
		{
			"number of partitions", fmt.Sprint(d.Partitions), fmt.Sprint(other.Partitions),
			"; weft repartition makes another crawl of it with as many as wanted",
		},
		{"public suffix list", d.SuffixList, other.SuffixList, ""},
		{"source of responses", d.source(), other.source(), "; another data directory, or another name, is another crawl"},
	}
	if d.Bodies != "" {
		pins = append(pins, pin{"place of large bodies", d.Bodies, other.Bodies, ""})
	}
	for _, p := range pins {
		if p.pinned != p.given {
			return fmt.Errorf("the %s of crawl %s is %s, not %s: it %w%s", p.name, d.Crawl, p.pinned, p.given, ErrPinned, p.instead)
		}
	}
	return nil
}

// After returns d as the definition that follows have: it says when the User-Agent changed.
func (d Definition) After(have Definition, now time.Time) Definition {
	if d.AgentSinceMS = have.AgentSinceMS; d.UserAgent != have.UserAgent {
		d.AgentSinceMS = now.UnixMilli()
	}
	return d
}

// source says where the crawl has its responses from.
func (d Definition) source() string { return cmp.Or(d.Replay, "the web") }

// record is what a record of config has beside the definition: at most one of them.
type record struct {
	Control *Control `json:"control,omitempty"`
	Setting *Setting `json:"setting,omitempty"`
}

// encode returns the value of a record of config.
func (d Definition) encode(r record) ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	value, err := json.Marshal(struct {
		Definition
		record
	}{d, r})
	if err != nil {
		return nil, fmt.Errorf("encode definition of crawl %q: %w", d.Crawl, err)
	}
	return value, nil
}

// decodeDefinition is the inverse of encode. It ignores fields that it does not know,
// so that an older program runs a newer crawl of the same version.
func decodeDefinition(value []byte) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(value, &d); err != nil {
		return Definition{}, fmt.Errorf("decode definition of a crawl: %w", err)
	}
	return d, d.Validate()
}
