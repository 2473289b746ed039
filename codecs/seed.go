package codecs

import (
	"bytes"
	"encoding/json"
)

// Seed is a URL that somebody asks for: one line of text, or a JSON object in
// the topic seeds.
type Seed struct {
	// URL is absolute.
	URL string `json:"url"`
}

// BadSeed is a line that is no seed.
type BadSeed struct {
	// Line is counted from 1.
	Line int
	// Reason is "bad_json" or "no_url".
	Reason string
}

// DecodeSeeds reads a record of the topic seeds: one or more lines, each a URL
// or a JSON object. Blank lines and lines that begin with # are skipped.
// Whether a URL is one is for package urls to say.
func DecodeSeeds(value []byte) (seeds []Seed, bad []BadSeed) {
	for i, line := range bytes.Split(value, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == '{':
			var s Seed
			if json.Unmarshal(line, &s) != nil {
				bad = append(bad, BadSeed{i + 1, "bad_json"})
			} else if s.URL == "" {
				bad = append(bad, BadSeed{i + 1, "no_url"})
			} else {
				seeds = append(seeds, s)
			}
		default:
			seeds = append(seeds, Seed{URL: string(line)})
		}
	}
	return seeds, bad
}
