package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/feed"
)

// feedHandler reads feeds: RSS, Atom and JSON Feed, and XML and JSON that begins like a feed. Some servers
// have types of their own for feeds, such as text/rss+xml, which are types of XML by their end (WHATWG MIME
// Sniffing, section 4.6), or send bytes. A feed is a page. Its entries are its text and also its links.
var feedHandler = handler{
	name: "feed",
	takes: func(b *body) bool {
		switch b.media {
		case "application/xml", "text/xml", "application/feed+json", "application/json":
			return feed.Looks(b.Body)
		case "application/octet-stream", "binary/octet-stream":
			start := bytes.TrimSpace(b.Body[:min(len(b.Body), 1<<10)])
			return bytes.HasPrefix(start, []byte("<")) && feed.Looks(b.Body)
		}
		return strings.HasSuffix(b.media, "+xml") && feed.Looks(b.Body)
	},
	page: (*parser).feed,
}

// maxFeedBytes bounds the entries of a feed in its record, and its text. Together with the links
// they fit into the largest record of parsed, even if everything is escaped.
const maxFeedBytes = 512 << 10

func (p *parser) feed(b *body) *document.Page {
	opts := feed.DefaultOptions()
	opts.Charset = mediatype.Of(b.ContentType).Charset
	read := feed.Read(b.Body, opts)
	page := p.bare(b) // its header fields count as for any page
	page.Title, page.Description, page.Author, page.Date = read.Title, read.Description, read.Author, read.Date
	if read.Language != "" {
		page.Language = read.Language
	}
	b.feed = &codecs.ParsedFeed{Kind: string(read.Kind), Link: read.Link, Self: read.Self, Hubs: hubs(b, read), EntriesOmitted: read.Omitted}
	if selves := document.HeaderTargets(b.Input, "self"); len(selves) > 0 {
		b.feed.Self = selves[0]
	}
	l := pageLinks{page: page, follow: &p.follow, seen: map[string]bool{b.URL: true}}
	l.add(read.Link, "", "alternate", document.KindAlternate)
	l.add(read.Next, "", "next", document.KindNext)
	var text strings.Builder
	size := 0
	for _, e := range read.Entries {
		l.add(e.Link, e.Title, "feed", document.KindFeed)
		l.add(e.Enclosure, e.Title, "media", document.KindMedia)
		if size += len(e.Link) + len(e.ID) + len(e.Title) + len(e.Author) + len(e.Date) + len(e.Summary) + 64; size > maxFeedBytes {
			b.feed.EntriesOmitted++
			continue
		}
		b.feed.Entries = append(b.feed.Entries, codecs.ParsedEntry{
			URL: e.Link, ID: e.ID, Title: e.Title, Author: e.Author, Date: e.Date, Summary: e.Summary,
		})
		for _, line := range []string{e.Title, e.Summary} {
			if line != "" {
				text.WriteString(line)
				text.WriteByte('\n')
			}
		}
	}
	page.Text = strings.TrimSuffix(text.String(), "\n")
	if p.documents.Leave(page); page.Unparsed != "" {
		b.feed = &codecs.ParsedFeed{Kind: b.feed.Kind, EntriesOmitted: b.feed.EntriesOmitted + len(b.feed.Entries)}
	}
	return page
}

// hubs are the hubs of the response's header and then those of the feed, each once: the order in
// which a subscriber looks (WebSub section 4).
func hubs(b *body, read *feed.Feed) []string {
	var all []string
	for _, hub := range append(document.HeaderTargets(b.Input, "hub"), read.Hubs...) {
		if len(all) < feed.MaxHubs && !slices.Contains(all, hub) {
			all = append(all, hub)
		}
	}
	return all
}

// pageLinks collects the links of a page that is not a document, each once.
type pageLinks struct {
	page   *document.Page
	follow *document.Options
	seen   map[string]bool
}

func (l *pageLinks) add(ref, text, rel string, kind document.Kind) {
	if ref == "" || l.seen[ref] {
		return
	}
	l.seen[ref] = true
	l.page.Links = append(l.page.Links, document.Link{
		URL: ref, Text: strings.ToValidUTF8(text[:min(len(text), l.follow.MaxAnchorBytes)], ""), Rel: rel, Kind: kind, Follow: l.follow.Follows(kind, "", ""),
	})
}

// resolved makes the URLs in a feed absolute, like the URLs of links.
func resolved(f *codecs.ParsedFeed, base *urls.Base) *codecs.ParsedFeed {
	resolve := func(ref *string) {
		if u, refusal := base.Resolve(*ref); *ref != "" && refusal == urls.Accepted {
			*ref = u.String()
		}
	}
	resolve(&f.Link)
	resolve(&f.Self)
	for i := range f.Hubs {
		resolve(&f.Hubs[i])
	}
	for i := range f.Entries {
		resolve(&f.Entries[i].URL)
	}
	return f
}
