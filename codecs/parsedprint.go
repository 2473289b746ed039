package codecs

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ParsedPrint is what a record of parsed says of which page it is and of the
// page's text. Its fields are those of Parsed.
type ParsedPrint struct {
	ID, URL, Domain               string
	ContentHash, SimHash, MinHash string
	DuplicateOf                   *ParsedOriginal
}

// DecodeParsedPrint reads a record up to its member "robots", which AppendJSON
// writes behind these and in front of all that may be long. What follows is not
// looked at: reading all of a record of 30 KiB takes some fifteen times as long.
func DecodeParsedPrint(value []byte) (ParsedPrint, error) {
	var p ParsedPrint
	d := json.NewDecoder(bytes.NewReader(value))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return ParsedPrint{}, errors.Join(errors.New("read a record of parsed: it is no JSON object"), err)
	}
	var other json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return ParsedPrint{}, err
		}
		member := any(&other)
		switch name {
		case "id":
			member = &p.ID
		case "url":
			member = &p.URL
		case "domain":
			member = &p.Domain
		case "content_hash":
			member = &p.ContentHash
		case "simhash":
			member = &p.SimHash
		case "minhash":
			member = &p.MinHash
		case "duplicate_of":
			member = &p.DuplicateOf
		case "robots":
			return p, nil
		}
		if err := d.Decode(member); err != nil {
			return ParsedPrint{}, err
		}
	}
	_, err := d.Token() // the end, if that is what comes
	return p, err
}
