package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	gojson "github.com/goccy/go-json"
)

// ParsedMetadata is a record of parsed without its contents.
type ParsedMetadata struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	FetchedAt time.Time `json:"fetched_at"`
	// JSON is the record without headings, texts and what else stands between "headings" and
	// "links": a JSON object on one line.
	JSON []byte `json:"-"`
}

// DecodeParsedMetadata reads the metadata of a record that AppendJSON wrote. It looks for the
// places of members and decodes only the beginning: to decode a whole record takes ten times as
// long.
func DecodeParsedMetadata(value []byte) (ParsedMetadata, error) {
	// Within a string the quotes would be escaped. Only "fields" and "structured_data",
	// between the two, may have members of any name.
	head, rest, ok := bytes.Cut(value, []byte(`,"headings":[`))
	links := lastIndex(rest, []byte(`,"links":[`))
	if !ok || links < 0 {
		return ParsedMetadata{}, errors.New("read a record of parsed: it has no headings or links")
	}
	p := ParsedMetadata{JSON: slices.Concat(head, rest[links:])}
	begin, _, _ := bytes.Cut(head, []byte(`,"depth":`)) // which is behind the fields of p
	if err := gojson.Unmarshal(append(slices.Clip(begin), '}'), &p); err != nil {
		return ParsedMetadata{}, fmt.Errorf("read a record of parsed: %w", err)
	}
	if p.ID == "" || p.URL == "" || bytes.IndexByte(p.JSON, '\n') >= 0 || bytes.IndexByte(p.JSON, '\r') >= 0 || !gojson.Valid(p.JSON) {
		return ParsedMetadata{}, errors.New("read a record of parsed: it is not a page")
	}
	return p, nil
}

// lastIndex is bytes.LastIndex, faster for a sep near the end: bytes.Index uses instructions for
// vectors.
func lastIndex(text, sep []byte) int {
	for window := 1 << 10; ; window *= 2 {
		begin, last := max(0, len(text)-window), -1
		for next := bytes.Index(text[begin:], sep); next >= 0; next = bytes.Index(text[last+1:], sep) {
			last = max(begin, last+1) + next
		}
		if last >= 0 || begin == 0 {
			return last
		}
	}
}

// ParsedFingerprints has the fields of Parsed that name the page and are the fingerprints of
// its text.
type ParsedFingerprints struct {
	ID          string          `json:"id"`
	URL         string          `json:"url"`
	Domain      string          `json:"domain"`
	ContentHash string          `json:"content_hash"`
	SimHash     string          `json:"simhash"`
	MinHash     string          `json:"minhash"`
	DuplicateOf *ParsedOriginal `json:"duplicate_of"`
}

// DecodeParsedFingerprints reads a record up to its member "robots", which AppendJSON writes
// behind these members and in front of all that may be long. It does not look at the
// rest: to read a whole record of 30 KiB takes about fifteen times as long.
func DecodeParsedFingerprints(value []byte) (ParsedFingerprints, error) {
	// Within a string the quotes would be escaped.
	if head, _, ok := bytes.Cut(value, []byte(`,"robots":`)); ok {
		value = append(slices.Clip(head), '}')
	}
	var p ParsedFingerprints
	if err := gojson.Unmarshal(value, &p); err != nil {
		return ParsedFingerprints{}, fmt.Errorf("read a record of parsed: %w", err)
	}
	return p, nil
}
