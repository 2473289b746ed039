package processors

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/similar"
	"github.com/weftcrawl/weft/topics"
)

// draft is what parse makes of a page, but for what it is a duplicate of.
type draft struct {
	pages    pages
	exchange topics.Exchange
	record   codecs.Parsed
	named    *weftpb.Discovered
	print    similar.Print
	words    int // of the text
	relative bool
}

// fingerprint notes what the text is compared by.
func (d *draft) fingerprint() {
	d.print, d.words = similar.Of(d.record.Text)
	if d.print.Empty() {
		return
	}
	d.record.ContentHash = d.print.Hash.String()
	if d.print.Sim != 0 {
		d.record.SimHash, d.record.MinHash = fmt.Sprintf("%016x", d.print.Sim), d.print.Min.String()
	}
}

// page is what the index of duplicates wants to know.
func (d *draft) page() duplicates.Page {
	return duplicates.Page{ID: d.record.ID, URL: d.record.URL, Domain: d.record.Domain, Print: d.print}
}

// outputs are the page, first, and what it names, under the crawl's policy for
// duplicates.
func (d *draft) outputs(v duplicates.Verdict) []Output {
	record, named, names := d.record, d.named, d.pages.env.Names
	if v.Duplicate() {
		record.DuplicateOf = &codecs.ParsedOriginal{ID: v.ID, URL: v.URL, Distance: v.Distance}
		if d.pages.env.Definition.Duplicates == topics.DropDuplicateText {
			record.Text, record.TextTruncated, record.Unparsed = "", false, codecs.Duplicate
			record.Headings = nil
		}
		if d.pages.env.Definition.DuplicateLinks == topics.IgnoreDuplicateLinks {
			record.Unfollowed = codecs.Duplicate
			named.Links = nil
		}
		named.Evidence = append(named.Evidence, contentEvidence(record.URL, d.words, d.relative, v)...)
	}
	out := []Output{{
		Topic: names.Parsed, Domain: record.Domain, Key: record.URL,
		Value:   record.AppendJSON(make([]byte, 0, len(record.Text)+len(record.Text)/8+4096)),
		Headers: d.exchange.Headers(topics.SchemaParsed, topics.Parse),
	}}
	return append(out, d.pages.discovery(record.Domain, d.exchange, split(named))...)
}

// checkDuplicates says which policy nobody knows.
func checkDuplicates(d topics.Definition) error {
	switch d.Duplicates {
	case "", topics.KeepDuplicates, topics.DropDuplicateText, topics.IgnoreDuplicates:
	default:
		return fmt.Errorf("nobody knows what becomes of duplicates by %q", d.Duplicates)
	}
	switch d.DuplicateLinks {
	case "", topics.FollowDuplicateLinks, topics.IgnoreDuplicateLinks:
		return nil
	}
	return fmt.Errorf("nobody knows what becomes of the links of duplicates by %q", d.DuplicateLinks)
}
