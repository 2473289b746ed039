package document

import (
	"strings"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// Link is one reference of a document.
type Link struct {
	// URL is as written, trimmed, and not empty. In a header field it is made absolute,
	// because header fields do not resolve against the document's base. A fragment alone
	// stands for the base, if that is another page.
	URL string
	// Text is the text between the tags, with the alt texts of images, on one line. For
	// elements without text it is their alt or title.
	Text string
	// Caption is the caption of the figure that shows an image or other media, on one line.
	Caption string `json:",omitempty"`
	// Rel is the rel attribute in lower case. For elements that have no rel it is their
	// name: "frame", "iframe", "refresh".
	Rel  string
	Kind Kind
	// Element is, for KindNoscript, the kind that the link would have elsewhere; empty for
	// other kinds.
	Element Kind `json:",omitempty"`
	// Language is the hreflang attribute (BCP 47 in most cases).
	Language string
	// Follow: Options has links of this kind and with this rel followed.
	Follow bool
}

// part reports whether l names a part of a page.
func (l Link) part() bool { return l.Kind.part() || l.Element.part() }

// maxRelBytes bounds rel. No useful rel is longer.
const maxRelBytes = 256

// outlinks collects the links of a document, each URL once. The texts of anchors are in
// one buffer until the end, so that a document takes three allocations for its links, and
// not four for each link.
type outlinks struct {
	opts  *Options
	found []outlink
	texts []byte
	kept  keeper
	// rel is the last rel that was kept: most links of a page have the same.
	rel string
	// index finds a link to a page by its href without fragment; parts finds a link to a
	// part of the page. An image that is shown and linked is in both.
	index, parts map[string]int
}

type outlink struct {
	Link
	// text is texts[from:to].
	from, to int
	// caption is texts[captionFrom:captionTo].
	captionFrom, captionTo int
}

// keptIndex is the largest index that is kept for the next document: clearing a map takes
// time for its capacity, not for its elements.
const keptIndex = 512

func newOutlinks(opts *Options) outlinks {
	return outlinks{opts: opts, index: make(map[string]int), parts: make(map[string]int)}
}

func (o *outlinks) reset() {
	o.index, o.parts = emptied(o.index), emptied(o.parts)
	// The strings of the last document must not stay in memory with the pool.
	clear(o.found)
	o.found = o.found[:0]
	o.texts = o.texts[:0]
	o.kept.reset()
	o.rel = ""
}

func emptied(index map[string]int) map[string]int {
	if len(index) > keptIndex {
		return make(map[string]int)
	}
	clear(index)
	return index
}

// add returns the number of the link. It is an earlier number if the URL is known, and -1
// if there are already limit links of its class, pages or parts.
func (o *outlinks) add(link Link, limit int) int {
	index := o.index
	if link.part() {
		index = o.parts
	}
	link.Follow = o.opts.Follows(link.Kind, link.Element, link.Rel)
	key := o.opts.withoutFragment(link.URL)
	if i, ok := index[key]; ok {
		// One link that may be followed is enough. Of two alike, the one outside noscript
		// names the URL.
		known := &o.found[i]
		if link.Follow && !known.Follow || link.Follow == known.Follow && known.Kind == KindNoscript {
			known.Rel, known.Kind, known.Element, known.Follow = o.keepRel(link.Rel), link.Kind, link.Element, link.Follow
		}
		return i
	}
	if len(index) >= limit {
		return -1
	}
	link.URL, link.Rel = o.kept.keep(link.URL), o.keepRel(link.Rel)
	index[o.opts.withoutFragment(link.URL)] = len(o.found)
	o.found = append(o.found, outlink{Link: link})
	return len(o.found) - 1
}

func (o *outlinks) keepRel(rel string) string {
	if rel != o.rel {
		o.rel = o.kept.keep(rel)
	}
	return o.rel
}

// setText gives link i its text unless it has one.
func (o *outlinks) setText(i int, text []byte) {
	if l := &o.found[i]; l.from == l.to && len(text) > 0 {
		l.from, l.to = o.addText(text)
	}
}

// addText returns where the text is in texts.
func (o *outlinks) addText(text []byte) (from, to int) {
	from = len(o.texts)
	o.texts = append(o.texts, text...)
	return from, len(o.texts)
}

// setCaption gives link i its caption, texts[from:to], unless it has one.
func (o *outlinks) setCaption(i, from, to int) {
	if l := &o.found[i]; l.captionFrom == l.captionTo {
		l.captionFrom, l.captionTo = from, to
	}
}

func (o *outlinks) links() []Link {
	if len(o.found) == 0 {
		return nil
	}
	texts := string(o.texts)
	links := make([]Link, len(o.found))
	for i, l := range o.found {
		links[i] = l.Link
		links[i].Text, links[i].Caption = texts[l.from:l.to], texts[l.captionFrom:l.captionTo]
	}
	return links
}

// normalRel folds a rel attribute: lower case, single spaces, bounded. Most are so
// already, and are returned without a copy.
func normalRel(rel string) string {
	rel = strings.ToLower(trimSpace(rel))
	if len(rel) > maxRelBytes || strings.ContainsAny(rel, "\t\n\f\r") || strings.Contains(rel, "  ") {
		return foldField(rel, maxRelBytes)
	}
	return rel
}

// relKinds are the relations of links for the crawl, in the order in which they count.
var relKinds = []struct {
	rel  string
	kind Kind
}{
	{"canonical", KindCanonical}, {"next", KindNext}, {"prev", KindPrev}, {"previous", KindPrev},
	{"stylesheet", KindStylesheet}, {"alternate", KindAlternate}, {"icon", KindIcon}, {"apple-touch-icon", KindIcon},
}

// kindOfRel returns what a link element or header field with that rel and type names; "": it is not
// a link for the crawl, such as a connection to be opened early. Neither is the data by which other sites show
// the page within theirs (oembed.com, section 4).
func kindOfRel(rel, mediaType string) Kind {
	for _, r := range relKinds {
		if hasToken(rel, r.rel) {
			if r.kind == KindAlternate && strings.HasSuffix(mediatype.Of(mediaType).Essence, "+oembed") {
				return ""
			}
			return r.kind
		}
	}
	return ""
}
