package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/dates"
	"github.com/weftcrawl/weft/processors/parse/markup"
)

// Kind is what a file turned out to be.
type Kind string

// Kinds of sitemaps. None is a file that is not a sitemap.
const (
	None  Kind = ""
	URLs  Kind = "urlset"
	Index Kind = "index"
	RSS   Kind = "rss"
	Atom  Kind = "atom"
	Text  Kind = "text"
)

// Outcome is how the reading ended. The values are stable: they label metrics.
type Outcome string

const (
	// Whole says that the file was read to its end.
	Whole Outcome = "whole"
	// Empty says that it is a sitemap without entries.
	Empty Outcome = "empty"
	// Cut says that the file ends too early, or that its gzip is damaged. The entries before
	// that count.
	Cut Outcome = "cut"
	// TooLarge says that it is larger than Options.MaxBytes, unpacked.
	TooLarge Outcome = "too_large"
	// TooMany says that it has more than Options.MaxEntries entries.
	TooMany Outcome = "too_many"
	// NoSitemap says that it is something else.
	NoSitemap Outcome = "no_sitemap"
)

// Options bound what is read.
type Options struct {
	// MaxBytes is how much of the file counts, without its packing.
	MaxBytes int64
	// MaxEntries is how many entries count.
	MaxEntries int
	// Lists: the file may also be a list of URLs or a feed. A list of URLs looks like any other
	// text, so the caller must expect it.
	Lists bool
	// Charset is the charset of the Content-Type as written, or empty.
	Charset string
}

// DefaultOptions are the bounds of the protocol (sitemaps.org, "Sitemap file format"),
// which hold for a file that is expected to be a sitemap.
func DefaultOptions() Options { return Options{MaxBytes: 50 << 20, MaxEntries: 50_000, Lists: true} }

// Entry is what a sitemap says about a URL, or an index about a sitemap. All strings are valid
// UTF-8 and as written, except for white space and entities.
type Entry struct {
	Loc string
	// Sitemap: the URL is a sitemap and not a page.
	Sitemap bool
	// LastMod is zero if the entry has no date that can be read.
	LastMod time.Time
	// Priority is from 0 to 1. It is negative if the entry has no priority.
	Priority float64
	// ChangeFrequency is one of the seven words, or empty.
	ChangeFrequency string
	// Alternates are the same page in other languages.
	Alternates []Alternate
	// Images are pictures, Videos films and the pages that play them.
	Images, Videos []string
}

// Alternate is a page in another language.
type Alternate struct{ Loc, Language string }

// maxReferences is how many alternates, images and videos of an entry count. The protocol
// of images has a bound of 1,000.
const maxReferences = 1000

// Result says what was read.
type Result struct {
	Kind    Kind
	Outcome Outcome
	// Entries is the number of entries that visit was called with.
	Entries int
}

// Read reads a sitemap. It calls visit with each entry that has a URL. The entry is valid
// until the next call.
func Read(body []byte, o Options, visit func(*Entry)) Result {
	limit := &limited{r: unpacked(body, o.MaxBytes), left: o.MaxBytes}
	text := bufio.NewReaderSize(markup.Decoded(limit, o.Charset), 4096)
	r := &reader{opts: o, visit: visit}
	if o.Lists {
		skipToRoot(text)
	}
	if isMarkup(text) {
		r.markup(markup.NewScanner(text))
	} else if o.Lists {
		r.list(text)
	}
	r.result.Outcome = r.outcome(limit)
	return r.result
}

func (r *reader) outcome(limit *limited) Outcome {
	switch {
	case r.result.Kind == None:
		return NoSitemap
	case r.full:
		return TooMany
	case limit.over:
		return TooLarge
	case limit.err != nil || r.cut:
		return Cut
	case r.result.Entries == 0:
		return Empty
	}
	return Whole
}

// Looks tells whether a body may be a sitemap of sitemaps.org by how it begins, packed or not:
// whether it is XML whose first element is the root of a sitemap or an index.
func Looks(body []byte) bool {
	const head = 8 << 10
	s := markup.NewScanner(markup.Decoded(io.LimitReader(unpacked(body, head), head), ""))
	for {
		switch t := s.Next(); t.Kind {
		case markup.End:
			return false
		case markup.Start:
			return t.Name == "urlset" || t.Name == "sitemapindex"
		}
	}
}

// reader puts entries together.
type reader struct {
	opts   Options
	visit  func(*Entry)
	result Result
	full   bool
	// root is the name of the first element, cut: its end is missing.
	root string
	cut  bool

	// open: an entry is open. inside is the element of an extension that is open.
	open   bool
	inside string
	entry  Entry
	bases  markup.Bases
	// guid is the GUID of an item of RSS, which may be its URL.
	guid string
	// field is the element whose text comes next.
	field     string
	permalink bool
	published time.Time
}

// roots are the elements that a sitemap begins with.
var roots = map[string]Kind{
	"urlset": URLs, "sitemapindex": Index, "rss": RSS, "rdf": RSS, "feed": Atom,
	// Without the element around them.
	"url": URLs, "sitemap": Index, "channel": RSS, "item": RSS, "entry": Atom,
}

// isEntry tells whether an element is an entry in a kind of sitemap. Some files have both
// entries of pages and of sitemaps.
func (k Kind) isEntry(element string) bool {
	switch k {
	case URLs, Index:
		return element == "url" || element == "sitemap"
	case RSS:
		return element == "item"
	case Atom:
		return element == "entry"
	}
	return false
}

// extensions are elements in an entry whose contents are not the entry's own.
var extensions = map[string]bool{"image": true, "video": true, "news": true, "source": true, "author": true, "pagemap": true, "media": true, "group": true}

func (r *reader) markup(s *markup.Scanner) {
	for !r.full {
		t := s.Next()
		switch t.Kind {
		case markup.End:
			r.finish()
			r.cut = r.root != ""
			return
		case markup.Start:
			if r.result.Kind == None && !r.begin(t.Name) {
				return
			}
			r.start(t)
		case markup.Close:
			r.end(t.Name)
		case markup.Text:
			if r.open && r.field != "" {
				r.text(s.Value())
			}
		}
	}
}

// begin takes the first element of a file. It is false if this is not a sitemap.
func (r *reader) begin(name string) bool {
	kind := roots[name]
	if kind == None || !r.opts.Lists && kind != URLs && kind != Index {
		return false
	}
	r.result.Kind, r.root = kind, name
	return true
}

func (r *reader) start(t markup.Token) {
	name := t.Name
	switch {
	case r.result.Kind.isEntry(name):
		r.finish()
		r.bases.OpenEntry(t)
		r.open, r.inside, r.field = true, "", ""
		r.entry = Entry{Sitemap: name == "sitemap", Priority: -1, Alternates: r.entry.Alternates[:0], Images: r.entry.Images[:0], Videos: r.entry.Videos[:0]}
		if about := t.Attr("about"); about != "" && r.result.Kind == RSS {
			r.entry.Loc = about
		}
	case !r.open:
		if roots[name] != None {
			r.bases.OpenFeed(t)
		}
	case r.inside == "" && extensions[name]:
		if !t.Empty {
			r.inside = name
		}
		r.field = ""
	case name == "link" && r.inside == "":
		r.link(t)
	default:
		r.field, r.permalink = name, !strings.EqualFold(t.Attr("isPermaLink"), "false")
	}
	if t.Empty {
		r.field = ""
	}
}

// link takes an element link: a page in another language, the URL of an entry of Atom, or the URL
// of an item of RSS, which is its text.
func (r *reader) link(t markup.Token) {
	href, rel := r.bases.Resolve(t, t.Attr("href")), strings.ToLower(t.Attr("rel"))
	r.field = ""
	switch {
	case href == "":
		r.field = "link"
	case r.result.Kind == URLs:
		if (rel == "alternate" || rel == "") && r.references() < maxReferences {
			r.entry.Alternates = append(r.entry.Alternates, Alternate{href, t.Attr("hreflang")})
		}
	case (rel == "alternate" || rel == "") && r.entry.Loc == "":
		r.entry.Loc = href
	}
}

func (r *reader) references() int {
	return len(r.entry.Alternates) + len(r.entry.Images) + len(r.entry.Videos)
}

func (r *reader) end(name string) {
	r.field = ""
	switch {
	case name == r.root:
		r.finish()
		r.root = ""
	case name == r.inside:
		r.inside = ""
	case r.result.Kind.isEntry(name):
		r.finish()
	}
}

// text takes the text of an element of the open entry.
func (r *reader) text(value string) {
	if value == "" {
		return
	}
	e := &r.entry
	switch r.inside {
	case "image":
		if r.field == "loc" && r.references() < maxReferences {
			e.Images = append(e.Images, value)
		}
		return
	case "video":
		if (r.field == "content_loc" || r.field == "player_loc") && r.references() < maxReferences {
			e.Videos = append(e.Videos, value)
		}
		return
	case "news":
		if r.field == "publication_date" {
			r.published = dates.Parse(value)
		}
		return
	case "":
	default:
		return
	}
	switch r.field {
	case "loc", "link":
		if e.Loc == "" {
			e.Loc = r.bases.Resolve(markup.Token{}, unspaced(value))
		}
	case "guid":
		if r.permalink && urls.IsAbsolute(value) {
			r.guid = value
		}
	case "lastmod", "updated", "modified":
		e.LastMod = dates.Parse(value)
	case "pubdate", "date", "published", "issued", "created":
		r.published = dates.Parse(value)
	case "priority":
		e.Priority = priority(value)
	case "changefreq":
		e.ChangeFrequency = changeFrequency(value)
	}
}

// finish ends the entry that is open.
func (r *reader) finish() {
	if !r.open {
		return
	}
	r.open = false
	if r.entry.Loc == "" {
		r.entry.Loc = r.guid
	}
	if r.entry.LastMod.IsZero() {
		r.entry.LastMod = r.published
	}
	r.guid, r.published, r.inside, r.field = "", time.Time{}, "", ""
	if r.entry.Loc == "" {
		return
	}
	r.add(&r.entry)
}

func (r *reader) add(e *Entry) {
	if r.result.Entries >= r.opts.MaxEntries {
		r.full = true
		return
	}
	r.result.Entries++
	r.visit(e)
}

// list reads a list of URLs, one on each line. A text is a list if its first line that is not
// empty is a URL. Other lines that are not URLs are skipped.
func (r *reader) list(text *bufio.Reader) {
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 4096), markup.MaxTextBytes)
	lines.Split(line)
	for !r.full && lines.Scan() {
		line := markup.Valid(strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")))
		switch {
		case line == "" || line[0] == '#':
		case urls.IsAbsolute(line):
			r.result.Kind = Text
			r.add(&Entry{Loc: line, Priority: -1})
		case r.result.Kind == None:
			return
		}
	}
	r.cut = r.cut || lines.Err() != nil
}

// line splits a text at line feeds and at carriage returns: some lists have these alone.
func line(data []byte, end bool) (advance int, token []byte, err error) {
	if at := bytes.IndexAny(data, "\r\n"); at >= 0 {
		return at + 1, data[:at], nil
	}
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// unspaced removes the line breaks and tabs in a URL that was written on several lines. Spaces
// are escaped later.
func unspaced(value string) string {
	if !strings.ContainsAny(value, "\r\n\t") {
		return value
	}
	parts := strings.FieldsFunc(value, func(c rune) bool { return c == '\r' || c == '\n' || c == '\t' })
	for i, part := range parts {
		parts[i] = strings.Trim(part, " ")
	}
	return strings.Join(parts, "")
}

// priority reads a number from 0 to 1, with a point or a comma. A larger or smaller number is cut
// to this range. It returns -1 if the text is not a number.
func priority(value string) float64 {
	n, err := strconv.ParseFloat(strings.Replace(strings.TrimSuffix(value, "%"), ",", ".", 1), 64)
	if err != nil || math.IsNaN(n) {
		return -1
	}
	if strings.HasSuffix(value, "%") {
		n /= 100
	}
	return min(max(n, 0), 1)
}

func changeFrequency(value string) string {
	switch value = strings.ToLower(value); value {
	case "always", "hourly", "daily", "weekly", "monthly", "yearly", "never":
		return value
	}
	return ""
}
