// Package feed reads feeds as pages: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, and JSON Feed.
//
// It is pure and never fails: if a feed is cut or broken, the part that can be read counts, as in
// package sitemap. The usual packages for feeds make a tree by recursion. A server can send a
// feed of a million open elements, and the tree would take a lot of memory. This package keeps
// only the entries, within Options.
package feed

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/markup"
)

// Kind is the format of a feed.
type Kind string

// Formats. None is a text that is not a feed.
const (
	None Kind = ""
	RSS  Kind = "rss"
	Atom Kind = "atom"
	JSON Kind = "json"
)

// Feed is what a feed says. All strings are valid UTF-8; texts have no markup, and are on
// one line. URLs and dates are as written.
type Feed struct {
	Kind Kind
	// Link is the page of the feed, and Self is the URL of the feed itself. Hubs are the servers
	// that tell of changes (WebSub).
	Link, Self string
	Hubs       []string
	// Next is the next part of a feed in parts (RFC 5005).
	Next string

	Title, Description, Language, Author, Date string
	Entries                                    []Entry
	// Omitted is the number of entries beyond Options.MaxEntries.
	Omitted int
}

// Entry is one entry of a feed.
type Entry struct {
	ID, Link, Title, Author, Summary string
	// Date is when it was published, or else when it changed.
	Date string
	// Enclosure is a file that belongs to it, a podcast's for instance.
	Enclosure string
}

// Options bound a feed.
type Options struct {
	MaxEntries int
	// MaxFieldBytes bounds each text.
	MaxFieldBytes int
	// Charset is the charset of the Content-Type as written, or empty.
	Charset string
}

// DefaultOptions are the bounds of the loop.
func DefaultOptions() Options { return Options{MaxEntries: 1000, MaxFieldBytes: 1024} }

// MaxHubs bounds Feed.Hubs.
const MaxHubs = 8

// Looks tells whether a text may be a feed by how it begins: its first element, or, for JSON, the
// version of JSON Feed within the first 4 KiB.
func Looks(body []byte) bool {
	if head := unmarked(body[:min(len(body), 4<<10)]); len(head) > 0 && head[0] == '{' {
		return jsonVersion.Match(head)
	}
	s := markup.NewScanner(markup.Decoded(io.LimitReader(bytes.NewReader(body), 8<<10), ""))
	for {
		switch t := s.Next(); t.Kind {
		case markup.End:
			return false
		case markup.Start:
			return roots[t.Name] != None
		}
	}
}

// jsonVersion is in the version of JSON Feed. Programs in PHP write slashes with backslashes.
var jsonVersion = regexp.MustCompile(`jsonfeed\.org\\?/version`)

// unmarked returns a text without white space around it, and without a byte order mark, which servers
// put in front of JSON although they must not (RFC 8259 section 8.1).
func unmarked(text []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\ufeff")))
}

var roots = map[string]Kind{"rss": RSS, "rdf": RSS, "feed": Atom}

// Read reads a feed. Its kind is None if the text is not a feed.
func Read(body []byte, o Options) *Feed {
	if head := unmarked(body); len(head) > 0 && head[0] == '{' {
		return readJSON(head, o)
	}
	r := &reader{opts: o, feed: &Feed{}}
	r.read(markup.NewScanner(markup.Decoded(bytes.NewReader(body), o.Charset)))
	return r.feed
}

// reader fills in a feed.
type reader struct {
	opts Options
	feed *Feed
	// entry is the open entry, nil if no entry is open. updated is when it changed.
	entry   *Entry
	updated string
	bases   markup.Bases
	// guid: the text of the GUID is a URL.
	guid bool
	// literal: the text is not HTML, so a reference such as &amp; in it stands for itself.
	literal bool
	// inside is the open element in the entry or the channel whose contents do not belong to
	// it: an author, a source, an image. It is empty if no such element is open.
	inside string
	// field is the element whose text is collected; depth counts elements in it.
	field  string
	prefix string
	text   []byte
	depth  int
}

func (r *reader) read(s *markup.Scanner) {
	for {
		t := s.Next()
		switch t.Kind {
		case markup.End:
			r.close()
			return
		case markup.Start:
			if r.feed.Kind == None {
				if r.feed.Kind = roots[t.Name]; r.feed.Kind == None {
					return
				}
				r.feed.Language = r.bounded(t.Attr("lang"))
				r.bases.OpenFeed(t)
				continue
			}
			r.start(t)
		case markup.Close:
			r.end(t.Name)
		case markup.Text:
			if r.field != "" {
				r.add(s.Value())
			}
		}
	}
}

func (r *reader) start(t markup.Token) {
	switch {
	case t.Name == "item" && r.feed.Kind == RSS, t.Name == "entry" && r.feed.Kind == Atom && r.inside != "source":
		r.close()
		r.bases.OpenEntry(t)
		r.begin(t.Attr("about"))
		return
	case r.field != "":
		if !t.Empty {
			r.depth++ // markup in a text
		}
		return
	case r.inside != "":
		if r.inside == "author" && (t.Name == "name" || t.Name == "email") {
			r.literal = true
			r.collect("", "author")
		}
		return
	case t.Name == "link":
		r.link(t)
		return
	case t.Name == "enclosure" && r.entry != nil && r.entry.Enclosure == "":
		r.entry.Enclosure = r.url(t.Attr("url"))
		return
	case containers[t.Name] && !t.Empty && (t.Name != "author" || r.feed.Kind == Atom):
		r.inside = t.Name
		return
	case t.Empty, t.Name == "channel":
		return
	}
	r.guid = t.Name == "guid" && !strings.EqualFold(t.Attr("isPermaLink"), "false")
	r.literal = r.feed.Kind == Atom && !strings.Contains(strings.ToLower(t.Attr("type")), "html")
	r.collect(t.Prefix, t.Name)
}

// containers have elements in them that do not belong to the entry or the feed.
var containers = map[string]bool{"image": true, "source": true, "author": true, "textinput": true, "contributor": true, "group": true}

func (r *reader) collect(prefix, field string) {
	r.prefix, r.field, r.depth, r.text = prefix, field, 0, r.text[:0]
}

func (r *reader) begin(about string) {
	if len(r.feed.Entries) >= r.opts.MaxEntries {
		r.feed.Omitted++
		r.entry = &Entry{} // read and forgotten
		return
	}
	r.feed.Entries = append(r.feed.Entries, Entry{ID: r.bounded(about)})
	r.entry = &r.feed.Entries[len(r.feed.Entries)-1]
}

// link takes an element link of Atom, which RSS has, too, or begins an element link of RSS.
func (r *reader) link(t markup.Token) {
	href, rel := r.url(r.bases.Resolve(t, t.Attr("href"))), strings.ToLower(t.Attr("rel"))
	switch {
	case href == "":
		if !t.Empty {
			r.collect(t.Prefix, "link")
		}
	case rel == "enclosure" && r.entry != nil:
		if r.entry.Enclosure == "" {
			r.entry.Enclosure = href
		}
	case rel == "" || rel == "alternate":
		r.setLink(href)
	case r.entry != nil:
	case rel == "self":
		r.feed.Self = href
	case rel == "hub" && len(r.feed.Hubs) < MaxHubs:
		r.feed.Hubs = append(r.feed.Hubs, href)
	case rel == "next":
		r.feed.Next = href
	}
}

// textLink sets a link of RSS, whose URL is the text of its element.
func (r *reader) textLink(raw string) {
	r.setLink(r.url(r.bases.Resolve(markup.Token{}, strings.TrimSpace(raw))))
}

func (r *reader) setLink(href string) {
	switch {
	case r.entry == nil && r.feed.Link == "":
		r.feed.Link = href
	case r.entry != nil && r.entry.Link == "":
		r.entry.Link = href
	}
}

// add collects text, with or without markup. Of a long text it keeps only the beginning.
func (r *reader) add(value string) {
	if most := 8 * r.opts.MaxFieldBytes; len(r.text) < most {
		r.text = append(append(r.text, value[:min(len(value), most-len(r.text))]...), ' ')
	}
}

func (r *reader) end(name string) {
	switch {
	case r.field != "" && r.depth > 0 && name != r.field:
		r.depth--
	case r.field != "":
		r.take()
		if name == r.inside {
			r.inside = ""
		}
		if name == "item" || name == "entry" {
			r.close()
		}
	case name == r.inside:
		r.inside = ""
	case name == "item" && r.feed.Kind == RSS, name == "entry" && r.feed.Kind == Atom && r.inside != "source":
		r.close()
	}
}

// close ends the entry that is open.
func (r *reader) close() {
	r.take()
	if e := r.entry; e != nil {
		if e.Date == "" {
			e.Date = r.updated
		}
		if e.Link == "" && urls.IsAbsolute(e.ID) && r.feed.Kind == RSS {
			e.Link = e.ID
		}
	}
	r.entry, r.updated, r.inside = nil, "", ""
}

// take takes the text that was collected.
func (r *reader) take() {
	field := r.field
	if r.field = ""; field == "" || len(r.text) == 0 {
		return
	}
	raw := strings.ToValidUTF8(string(r.text), "")
	if r.entry == nil {
		r.ofFeed(field, raw)
		return
	}
	e := r.entry
	switch field {
	case "title":
		if r.prefix != "media" {
			first(&e.Title, r.plain(raw))
		}
	case "link":
		r.textLink(raw)
	case "guid", "id":
		first(&e.ID, r.bounded(strings.TrimSpace(raw)))
		if field == "guid" && r.guid && urls.IsAbsolute(strings.TrimSpace(raw)) {
			first(&e.Link, r.url(raw))
		}
	case "pubdate", "published", "issued", "date", "created":
		first(&e.Date, r.plain(raw))
	case "updated", "modified":
		first(&r.updated, r.plain(raw))
	case "author", "creator":
		first(&e.Author, r.plain(raw))
	case "description", "summary":
		if r.prefix == "media" { // of a picture, say (Media RSS)
			first(&e.Summary, r.plain(raw))
		} else {
			e.Summary = r.plain(raw)
		}
	case "content", "encoded":
		if r.prefix != "media" {
			first(&e.Summary, r.plain(raw))
		}
	}
}

func (r *reader) ofFeed(field, raw string) {
	f := r.feed
	switch field {
	case "title":
		first(&f.Title, r.plain(raw))
	case "link":
		r.textLink(raw)
	case "description", "subtitle", "tagline":
		first(&f.Description, r.plain(raw))
	case "language":
		first(&f.Language, r.plain(raw))
	case "updated", "modified", "lastbuilddate", "pubdate", "date":
		first(&f.Date, r.plain(raw))
	case "author", "creator", "managingeditor":
		first(&f.Author, r.plain(raw))
	}
}

func first(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// url returns a reference as written, without the space around it. It is empty if the reference is
// too long for a URL.
func (r *reader) url(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURLBytes {
		return ""
	}
	return raw
}

const maxURLBytes = 6 << 10

// plain returns a text on one line, without the HTML that it may contain. Of RSS every text may be
// HTML, because programs write it so; of Atom its type says it.
func (r *reader) plain(raw string) string {
	if strings.ContainsRune(raw, '<') || !r.literal && strings.ContainsRune(raw, '&') {
		raw = extract.WithoutTags(raw)
	}
	return r.bounded(strings.Join(strings.Fields(raw), " "))
}

func (r *reader) bounded(text string) string { return extract.Bound(text, r.opts.MaxFieldBytes) }
