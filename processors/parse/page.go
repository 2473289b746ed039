package parse

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/language"
	"github.com/weftcrawl/weft/processors/parse/simhash"
	"github.com/weftcrawl/weft/topics"
)

// result is what one exchange makes. A page waits in it for the answer which page it is a
// duplicate of.
type result struct {
	env      *stage.Env
	domain   string
	exchange topics.Exchange
	at       *kgo.Record // of fetched, which has the exchange
	// named is what the exchange names, one record at least. The first one has the evidence.
	named []*weftpb.Discovered

	record   *codecs.Parsed  // nil: the exchange has no page
	judged   duplicates.Page // what the index of duplicates needs of the page
	words    int             // of the text
	relative bool            // the page has a relative link that the crawl may follow
}

// page makes the records of a page that an exchange has.
func (p *parser) page(made *result, b *body, source urls.URL, read *document.Page) {
	f := b.f
	base := p.form.Document(source, read.Base, read.Charset)
	record := parsed(f, read, source, base, made.domain, p.env.Names.Crawl)
	if p.env.Definition.Archive != "" {
		record.Archived = &codecs.ParsedArchived{Partition: made.at.Partition, Offset: made.at.Offset}
	}
	made.record, made.named = &record, discovered(f, read)
	p.addFromTree(made, b, read, base)
	if p.env.Definition.Sitemaps == topics.OnlySitemaps {
		made.named = made.named[:1]
		made.named[0].Links = nil
		record.Unfollowed = codecs.SitemapsOnly
	}
	made.judged = duplicates.Page{ID: record.ID, URL: record.URL, Domain: record.Domain}
	if made.judged.Print, made.words = simhash.Of(record.Text); !made.judged.Print.Empty() {
		print := made.judged.Print
		record.ContentHash = print.Hash.String()
		if print.Sim != 0 {
			record.SimHash, record.MinHash = fmt.Sprintf("%016x", print.Sim), print.Min.String()
		}
	}
	if other, ok := variants.OtherSlash(source); ok {
		made.relative = leadsElsewhere(read, base, p.form.Document(other, read.Base, read.Charset))
	}
	made.named[0].Evidence = made.evidence(f.Request.Target.Via, base, source, !mediatype.IsHTML(read.MediaType))
}

// outputs returns the records that an exchange makes, its page first. The crawl's definition says
// what duplicates lose. A nil result makes no records.
func (made *result) outputs(v duplicates.Verdict) (out []stage.Output) {
	if made == nil {
		return nil
	}
	if record := made.record; record != nil {
		if v.Duplicate() {
			made.duplicates(v)
		}
		out = append(out, stage.Output{
			Topic: made.env.Names.Parsed, Domain: record.Domain, Key: record.URL,
			Value:   made.value(),
			Headers: made.exchange.Headers(topics.SchemaParsed, topics.Parse),
		})
	}
	headers := made.exchange.Headers(topics.SchemaDiscovered, topics.Parse)
	for _, d := range made.named {
		if len(d.Links)+len(d.Evidence) > 0 {
			out = append(out, stage.Output{
				Topic: made.env.Names.Discovered, Domain: made.domain, Key: made.domain, Value: stage.Encode(d), Headers: headers,
			})
		}
	}
	return out
}

// duplicates notes what the page is a duplicate of, and drops what duplicates lose.
func (made *result) duplicates(v duplicates.Verdict) {
	record := made.record
	record.DuplicateOf = &codecs.ParsedOriginal{ID: v.ID, URL: v.URL, Distance: v.Distance}
	if made.env.Definition.Duplicates == topics.DropDuplicateText {
		record.Text, record.TextTruncated, record.Unparsed, record.Headings = "", false, codecs.Duplicate, nil
		made.noMainText("")
		if record.Feed != nil {
			record.Feed.Entries = nil
		}
	}
	if made.env.Definition.DuplicateLinks == topics.IgnoreDuplicateLinks {
		record.Unfollowed = codecs.Duplicate
		made.named = made.named[:1]
		made.named[0].Links = nil
	}
	made.named[0].Evidence = append(made.named[0].Evidence, contentEvidence(record.URL, made.words, made.relative, v)...)
}

const (
	// maxDiscoveredBytes bounds the links of one record of discovered.
	maxDiscoveredBytes = 512 << 10
	// maxParsedLinkBytes bounds the links of one page in parsed. Text and links, each
	// up to six times as long when escaped, fit the largest record of parsed.
	maxParsedLinkBytes = 1 << 20
)

// discovered has what a page names, without the links that it asks not to follow.
func discovered(f *weftpb.Fetched, page *document.Page) (records []*weftpb.Discovered) {
	followed := 0
	for _, link := range page.Links {
		if page.Follow(link) {
			followed++
		}
	}
	slab := make([]weftpb.Link, followed) // one allocation for all: a page has dozens of links
	var last *weftpb.Discovered
	bytes := 0
	begin := func() {
		last, bytes = newDiscovered(f), 0
		last.Via, last.Base = weftpb.Via_VIA_LINK, page.Base
		if page.Charset != "utf-8" {
			last.Charset = page.Charset
		}
		records = append(records, last)
	}
	begin()
	for _, link := range page.Links {
		if !page.Follow(link) {
			continue
		}
		size := len(link.URL) + len(link.Text) + len(link.Caption) + len(link.Rel) + 16
		if bytes+size > maxDiscoveredBytes {
			begin()
		}
		next := &slab[0]
		next.Url, next.Text, next.Rel = link.URL, link.Text, link.Rel
		last.Links, slab = append(last.Links, next), slab[1:]
		bytes += size
	}
	return records
}

// redirected has what a redirect names: its target, which is judged like any URL.
func redirected(f *weftpb.Fetched) *weftpb.Discovered {
	d := newDiscovered(f)
	d.Via = weftpb.Via_VIA_REDIRECT
	d.Links = []*weftpb.Link{{Url: f.Location}}
	return d
}

// newDiscovered returns a record of what an exchange names, without links.
func newDiscovered(f *weftpb.Fetched) *weftpb.Discovered {
	t := f.Request.Target
	return &weftpb.Discovered{Source: t.Url, Depth: t.Depth, ScopeRoot: t.ScopeRoot, SourceVia: t.Via, SourceRedirects: t.Redirects}
}

// parsed is the page as its users get it. Links are resolved. A link that is not a
// URL for the crawl stays as it was written.
func parsed(f *weftpb.Fetched, page *document.Page, source urls.URL, base *urls.Base, domain, crawl string) codecs.Parsed {
	resolve := func(ref string) string {
		if u, refusal := base.Resolve(ref); refusal == urls.Accepted {
			return u.String()
		}
		return ref
	}
	out := codecs.Parsed{
		ID: f.Id, URL: source.String(), Domain: domain, Crawl: crawl,
		Status: int(f.Outcome.Status), FetchedAt: time.UnixMilli(codecs.ExchangedMs(f)).UTC(), Depth: f.Request.Target.Depth,
		ContentType: page.MediaType, Charset: page.Charset, BodyBytes: f.Outcome.BodyBytes, Truncated: f.Outcome.Truncated,
		Unparsed: page.Unparsed, Fallback: page.Fallback,
		Language: page.Language, Title: page.Title, Description: page.Description,
		Keywords: page.Keywords, Author: page.Author, Date: page.Date, Modified: page.Modified, Pages: page.Pages, CanonicalConflict: page.CanonicalConflict,
		JSONLD: page.JSONLD, JSONLDOmitted: page.JSONLDOmitted,
		Robots: codecs.ParsedRobots(page.Robots),
		Text:   page.Text, TextTruncated: page.TextTruncated, LinksOmitted: page.Skipped.Many,
		Headings: make([]codecs.ParsedHeading, len(page.Headings)), Links: make([]codecs.ParsedLink, len(page.Links)),
	}
	if page.Canonical != "" {
		out.Canonical = resolve(page.Canonical)
	}
	for _, p := range page.OpenGraph {
		out.OpenGraph = append(out.OpenGraph, codecs.ParsedProperty(p))
	}
	for _, d := range page.Directives {
		out.Directives = append(out.Directives, codecs.ParsedDirective(d))
	}
	for _, p := range page.Usage {
		if out.Usage == nil {
			out.Usage = make(map[string]string, len(page.Usage))
		}
		out.Usage[p.Label] = "y"
		if p.Refused {
			out.Usage[p.Label] = "n"
		}
	}
	guess := language.Detect(page.Text)
	out.Detected, out.Script, out.Confidence = guess.Language, guess.Script, hundredths(guess.Confidence)
	out.Direction = cmp.Or(page.Direction, language.Direction(guess.Script))
	for i, h := range page.Headings {
		out.Headings[i] = codecs.ParsedHeading(h)
	}
	bytes := 0
	for i, l := range page.Links {
		link := codecs.ParsedLink{URL: resolve(l.URL), Text: l.Text, Caption: l.Caption, Rel: l.Rel, Kind: string(l.Kind), Element: string(l.Element), Language: l.Language}
		if bytes += len(link.URL) + len(link.Text) + len(link.Rel) + len(link.Kind) + len(link.Element) + len(link.Language); bytes > maxParsedLinkBytes {
			out.LinksOmitted += len(page.Links) - i
			out.Links = out.Links[:i]
			break
		}
		out.Links[i] = link
	}
	return out
}

// hundredths rounds a share to two digits, down: a share is 1 only if it is 1.
func hundredths(share float64) float64 { return math.Floor(share*100) / 100 }
