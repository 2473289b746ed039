package topics

import (
	"encoding/json"
	"errors"
	"fmt"
)

// DefinitionVersion is the version of the record of config that this program
// writes, and the newest that it reads.
const DefinitionVersion = 1

// Definition is the record of config: what a crawl is, as against how one
// process of it runs. JSON, because people read and write it.
type Definition struct {
	// Version of the record's format.
	Version int `json:"version"`

	// Crawl, Partitions and SuffixList are pinned: they decide which partition
	// a domain lives in, and can never change.
	Crawl      string `json:"crawl"`
	Partitions int32  `json:"partitions"`
	// SuffixList identifies the public suffix list that registrable domains
	// are computed with.
	SuffixList string `json:"suffix_list"`
	// FormerPartitions is the most partitions that the crawl had before it was
	// moved to these; 0: it never was. What was decided in each of them lies
	// in Partitions now.
	FormerPartitions int32 `json:"former_partitions,omitempty"`

	// Scope is host, domain, prefix or any; Include and Exclude are regular
	// expressions on canonical URLs.
	Scope   string   `json:"scope"`
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// MaxDepth is the most links between a seed and a page; -1: no limit.
	MaxDepth int `json:"max_depth"`
	// Limits of what a URL may look like: segments of its path, how often a
	// sequence of them stands in a row, parameters, how often one stands with the
	// same value. 0: the default of package scope; -1: none.
	MaxPathSegments int `json:"max_path_segments,omitempty"`
	MaxPathRepeats  int `json:"max_path_repeats,omitempty"`
	MaxParams       int `json:"max_params,omitempty"`
	MaxParamRepeats int `json:"max_param_repeats,omitempty"`
	// TrapEvidence is how many pages have to show the same before URLs that look
	// like theirs are held back; 0: the default of package traps; -1: none are.
	TrapEvidence int `json:"trap_evidence,omitempty"`
	// MaxURLsPerTemplate bounds URLs that look alike, whatever they show; 0: the
	// default of package traps; -1: no limit.
	MaxURLsPerTemplate int64 `json:"max_urls_per_template,omitempty"`
	// MaxPagesPerDomain bounds the URLs of a registrable domain; 0: no limit.
	MaxPagesPerDomain int64 `json:"max_pages_per_domain,omitempty"`
	// FollowLinks are the kinds of links to follow (parse.Kind); none: those that
	// name pages. NoFollowRel are the relations that keep a link from being
	// followed; none: nofollow.
	FollowLinks []string `json:"follow_links,omitempty"`
	NoFollowRel []string `json:"nofollow_rel,omitempty"`
	// MaxPages ends the crawl after so many pages; 0: no limit.
	MaxPages int64 `json:"max_pages,omitempty"`

	// StripParams are the rules by which parameters are removed from URLs
	// (urls.Rule); none removes none, as in crawls older than the field. SortQuery
	// sorts queries, HashBang keeps fragments that start with "!" as a parameter.
	// A change counts for what is found from then on: URLs in the crawl stay.
	StripParams []string `json:"strip_params,omitempty"`
	SortQuery   bool     `json:"sort_query,omitempty"`
	HashBang    bool     `json:"hash_bang,omitempty"`
	// SamePage are rules by which URLs of a site name the same page, as package
	// variants reads them. KeepVariants: no more are learnt from sites.
	SamePage     []string `json:"same_page,omitempty"`
	KeepVariants bool     `json:"keep_variants,omitempty"`

	// DelayMS is the time between two requests to a domain, milliseconds.
	DelayMS int64 `json:"delay_ms"`
	// PerDomain is how many visits of a domain may be out at once.
	PerDomain int `json:"per_domain"`

	// Duplicates is what becomes of pages whose text another page had before them:
	// KeepDuplicates, DropDuplicateText or IgnoreDuplicates; empty: the first.
	Duplicates string `json:"duplicates,omitempty"`
	// DuplicateLinks is what becomes of their links: FollowDuplicateLinks or
	// IgnoreDuplicateLinks; empty: the first.
	DuplicateLinks string `json:"duplicate_links,omitempty"`

	// MaxBody is where bodies are cut, in bytes; 0: what fetch does by default.
	MaxBody int64 `json:"max_body,omitempty"`
	// Bodies is where those of more than BodyThreshold bytes are kept, so that
	// their records need not hold them: a location of package store, or InData.
	// Empty: nowhere. Once it is set it is pinned, for records refer to it.
	Bodies string `json:"bodies,omitempty"`
	// BodyThreshold in bytes; 0: DefaultBodyThreshold.
	BodyThreshold int64 `json:"body_threshold,omitempty"`

	UserAgent string `json:"user_agent"`
	Contact   string `json:"contact,omitempty"`
	// AllowPrivate permits addresses that are not public.
	AllowPrivate bool `json:"allow_private,omitempty"`
	// Insecure takes servers' certificates as they are.
	Insecure bool `json:"insecure,omitempty"`
	// MinRate is the least rate of a body, bytes a second; 0: what fetch does
	// by default.
	MinRate int64 `json:"min_rate,omitempty"`
	// AllowNetworks permits the addresses in these networks besides, such as
	// "10.1.0.0/16".
	AllowNetworks []string `json:"allow_networks,omitempty"`
}

// errNewer means that only a newer program can read a definition.
var errNewer = errors.New("newer")

// DefinitionIn returns the definition that a record of config holds, which may be
// one with a control or of an import; false for a record that is none of crawl's.
func DefinitionIn(value []byte, crawl string) (Definition, bool) {
	d, err := decodeDefinition(value)
	return d, err == nil && d.Crawl == crawl
}

// Policies for duplicates.
const (
	// KeepDuplicates: their records say what they are duplicates of.
	KeepDuplicates = "keep"
	// DropDuplicateText: and have no text.
	DropDuplicateText = "drop-text"
	// IgnoreDuplicates: nobody looks for any.
	IgnoreDuplicates = "off"

	FollowDuplicateLinks = "follow"
	IgnoreDuplicateLinks = "ignore"
)

// InData is the place of bodies in a crawl's data directory, beside the embedded
// broker. Only the process that runs both knows where that is.
const InData = "data"

// DefaultBodyThreshold is the size in bytes up to which records hold bodies,
// unless a crawl says otherwise: Kafka's own default for the largest record.
const DefaultBodyThreshold int64 = 1 << 20

// LargestInRecord is the size in bytes of the largest body that the topic fetched
// can hold, with room for headers.
const LargestInRecord int64 = 15 * mib

// LargeBody is the size in bytes above which a body is kept in Bodies.
func (d Definition) LargeBody() int64 {
	if d.BodyThreshold == 0 {
		return DefaultBodyThreshold
	}
	return d.BodyThreshold
}

// Validate says what is wrong with the frame of the definition, if anything.
// What scope, delays and agent mean is for those who use them to check.
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

// ErrPinned means that two definitions of a crawl disagree on what is pinned:
// a domain would have two owners.
var ErrPinned = errors.New("cannot change once a crawl has begun")

// Agrees returns an error wrapping ErrPinned when other, a later definition,
// disagrees with d on what is pinned.
func (d Definition) Agrees(other Definition) error {
	type pin struct{ name, pinned, given, instead string }
	pins := []pin{
		{"name", d.Crawl, other.Crawl, ""},
		{
			"number of partitions", fmt.Sprint(d.Partitions), fmt.Sprint(other.Partitions),
			"; weft repartition makes another crawl of it with as many as wanted",
		},
		{"public suffix list", d.SuffixList, other.SuffixList, ""},
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

// encode returns the record's value.
func (d Definition) encode() ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	value, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode definition of crawl %q: %w", d.Crawl, err)
	}
	return value, nil
}

// decodeDefinition is the inverse of encode. Fields it does not know are left
// out, so that an older program runs a newer crawl of the same version.
func decodeDefinition(value []byte) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(value, &d); err != nil {
		return Definition{}, fmt.Errorf("decode definition of a crawl: %w", err)
	}
	return d, d.Validate()
}
