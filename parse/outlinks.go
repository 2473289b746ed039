package parse

import "strings"

// Link is one reference of a document.
type Link struct {
	// URL is as written, trimmed, and not empty; in a header field it is made
	// absolute, for that ignores the document's base. A fragment alone is the base,
	// where that is another page.
	URL string
	// Text is what stands between the tags with the alt texts of images, or the
	// alt or title of elements without text, on one line.
	Text string
	// Rel is the rel attribute, lower case; elements that have none are named
	// by it: "frame", "iframe", "refresh".
	Rel  string
	Kind Kind
	// Element is the kind that the link would be of if scripts did not run, for
	// KindNoscript; empty for others.
	Element Kind `json:",omitempty"`
	// Language is the hreflang attribute (BCP 47 in most cases).
	Language string
	// Follow: kind and rel are among those that Options has followed.
	Follow bool
}

// part reports whether l names a part of a page.
func (l Link) part() bool { return l.Kind.part() || l.Element.part() }

// maxRelBytes bounds rel: longer ones are nonsense.
const maxRelBytes = 256

// outlinks collects the links of a document, each URL once. Strings of anchors
// lie in one buffer until the end, so that a document costs three allocations
// for its links and not four a link.
type outlinks struct {
	opts  *Options
	found []outlink
	texts []byte
	// index finds a link to a page by its href without fragment, parts one to
	// a part of the page: an image that is shown and linked is both.
	index, parts map[string]int
}

type outlink struct {
	Link
	// text is texts[from:to].
	from, to int
}

// keptIndex is how large an index is kept for the next document: clearing a
// map takes time for its capacity, not for what is in it.
const keptIndex = 512

func newOutlinks(opts *Options) outlinks {
	return outlinks{opts: opts, index: make(map[string]int), parts: make(map[string]int)}
}

func (o *outlinks) reset() {
	o.index, o.parts = emptied(o.index), emptied(o.parts)
	// The strings of the last document must not live as long as the pool.
	clear(o.found)
	o.found = o.found[:0]
	o.texts = o.texts[:0]
}

func emptied(index map[string]int) map[string]int {
	if len(index) > keptIndex {
		return make(map[string]int)
	}
	clear(index)
	return index
}

// add returns the number of the link, which is an earlier one when its URL is
// known, or -1 beyond limit links of its class, pages or parts.
func (o *outlinks) add(link Link, limit int) int {
	index := o.index
	if link.part() {
		index = o.parts
	}
	link.Follow = o.opts.Follows(link.Kind, link.Element, link.Rel)
	key := o.opts.withoutFragment(link.URL)
	if i, ok := index[key]; ok {
		// One link that may be followed is enough; of two alike, the one that is there
		// for every reader names the URL.
		known := &o.found[i]
		if link.Follow && !known.Follow || link.Follow == known.Follow && known.Kind == KindNoscript {
			known.Rel, known.Kind, known.Element, known.Follow = link.Rel, link.Kind, link.Element, link.Follow
		}
		return i
	}
	if len(index) >= limit {
		return -1
	}
	index[key] = len(o.found)
	o.found = append(o.found, outlink{Link: link})
	return len(o.found) - 1
}

// setText gives link i its text unless it has one.
func (o *outlinks) setText(i int, text []byte) {
	if l := &o.found[i]; l.from == l.to && len(text) > 0 {
		l.from = len(o.texts)
		o.texts = append(o.texts, text...)
		l.to = len(o.texts)
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
		links[i].Text = texts[l.from:l.to]
	}
	return links
}

// normalRel folds a rel attribute: lower case, single spaces, bounded. What is
// that already, as most are, is returned as it is.
func normalRel(rel string) string {
	rel = strings.ToLower(trimSpace(rel))
	if len(rel) > maxRelBytes || strings.ContainsAny(rel, "\t\n\f\r") || strings.Contains(rel, "  ") {
		return foldField(rel, maxRelBytes)
	}
	return rel
}

// kindOfRel returns what a link element or header field with that rel names, or
// "" for connections to warm up and the like.
func kindOfRel(rel string) Kind {
	switch {
	case hasToken(rel, "canonical"):
		return KindCanonical
	case hasToken(rel, "next"):
		return KindNext
	case hasToken(rel, "prev"), hasToken(rel, "previous"):
		return KindPrev
	case hasToken(rel, "stylesheet"):
		return KindStylesheet
	case hasToken(rel, "alternate"):
		return KindAlternate
	case hasToken(rel, "icon"), hasToken(rel, "apple-touch-icon"):
		return KindIcon
	}
	return ""
}
