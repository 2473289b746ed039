package codecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// Seed is a URL that a user gives.
type Seed struct {
	// URL as the user wrote it, not empty.
	URL string `json:"url"`
	// Depth is the depth of the seed. With a number above 0, a crawl with a limit
	// follows links from this seed less far.
	Depth uint32 `json:"depth,omitempty"`
	// Sitemap: the URL is a sitemap, whose entries are pages of the crawl. It makes no page
	// itself.
	Sitemap bool `json:"sitemap,omitempty"`
}

// BadSeed is a line of the topic seeds that is not a seed.
type BadSeed struct {
	// Line counts from 1 within the record.
	Line int
	// Reason is one of the constants below; they label metrics.
	Reason string
}

const (
	// SeedNotText is a line that is not UTF-8.
	SeedNotText = "not_text"
	// SeedNotJSON is a line that begins like a JSON object and is not one, or an object whose
	// members do not have the types of Seed.
	SeedNotJSON = "not_json"
	// SeedNoURL is a JSON object without a url.
	SeedNoURL = "no_url"
	// SeedBadDepth is a JSON object whose depth is a number, but not a whole one from
	// 0 to 4,294,967,295.
	SeedBadDepth = "bad_depth"
)

var byteOrderMark = []byte("\ufeff")

// DecodeSeeds reads the value of a record of the topic seeds. It may have lines of all
// these kinds:
//
//	https://example.com/            a URL
//	{"url": "https://example.com/"} a JSON object, on one line or on several
//	# words                         a comment; blank lines are ignored, too
//
// Members of an object that it does not know are ignored. After a bad line it reads
// on. It does not check whether a URL can be used.
func DecodeSeeds(value []byte) (seeds []Seed, bad []BadSeed) {
	rest := bytes.TrimPrefix(value, byteOrderMark)
	for line := 1; len(rest) > 0; {
		var text []byte
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		lines := 1
		text = bytes.TrimSpace(text)
		switch {
		case len(text) == 0 || text[0] == '#':
		case text[0] == '{':
			s, size, reason := decodeSeedObject(rest)
			if reason != "" {
				bad = append(bad, BadSeed{line, reason})
			} else {
				seeds = append(seeds, s)
			}
			if size == 0 {
				break
			}
			// The object may have several lines, and another may begin on its last one.
			lines, after = bytes.Count(rest[:size], []byte("\n")), rest[size:]
		case !utf8.Valid(text):
			bad = append(bad, BadSeed{line, SeedNotText})
		default:
			seeds = append(seeds, Seed{URL: string(text)})
		}
		rest = after
		line += lines
	}
	return seeds, bad
}

// decodeSeedObject reads the JSON object at the start of raw. size is its length in
// bytes; 0 if its end was not found.
func decodeSeedObject(raw []byte) (s Seed, size int, reason string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	err := dec.Decode(&s)
	if wrong := (&json.UnmarshalTypeError{}); errors.As(err, &wrong) && wrong.Field == "depth" && strings.HasPrefix(wrong.Value, "number") {
		return Seed{}, int(dec.InputOffset()), SeedBadDepth
	}
	if err != nil {
		return Seed{}, 0, SeedNotJSON
	}
	s.URL = strings.TrimSpace(s.URL)
	if s.URL == "" {
		return Seed{}, int(dec.InputOffset()), SeedNoURL
	}
	return s, int(dec.InputOffset()), ""
}

// EncodeSeed returns the value of a record that DecodeSeeds reads as s: the plain URL
// if that is enough.
func EncodeSeed(s Seed) []byte {
	plain := s.Depth == 0 && !s.Sitemap && s.URL != "" && s.URL[0] != '#' && s.URL[0] != '{' &&
		!strings.Contains(s.URL, "\n") && strings.TrimSpace(s.URL) == s.URL && !strings.HasPrefix(s.URL, string(byteOrderMark))
	if plain {
		return []byte(s.URL)
	}
	value, err := json.Marshal(s)
	if err != nil {
		panic("codecs: encode seed: " + err.Error()) // a struct of a string and a number
	}
	return value
}
