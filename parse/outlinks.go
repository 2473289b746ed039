package parse

import (
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// maxRelBytes bounds rel: longer ones are nonsense.
const maxRelBytes = 256

// outlinks collects the links of a document, each URL once. Strings of anchors
// lie in one buffer until the end, so that a document costs three allocations
// for its links and not four a link.
type outlinks struct {
	found []outlink
	texts []byte
	// index finds a link by its href without fragment.
	index map[string]int
}

type outlink struct {
	href, rel string
	// text is texts[from:to].
	from, to int
}

// keptIndex is how large an index is kept for the next document: clearing a
// map takes time for its capacity, not for what is in it.
const keptIndex = 512

func (o *outlinks) reset() {
	if len(o.index) > keptIndex {
		o.index = make(map[string]int)
	} else {
		clear(o.index)
	}
	// The strings of the last document must not live as long as the pool.
	clear(o.found)
	o.found = o.found[:0]
	o.texts = o.texts[:0]
}

// add returns the number of the link, which is an earlier one when href is
// known, or -1 beyond limit links.
func (o *outlinks) add(href, rel string, limit int) int {
	key := withoutFragment(href)
	if i, ok := o.index[key]; ok {
		// One link without nofollow is enough to be allowed to follow.
		if known := &o.found[i]; hasToken(known.rel, "nofollow") && !hasToken(rel, "nofollow") {
			known.rel = rel
		}
		return i
	}
	if len(o.found) >= limit {
		return -1
	}
	o.index[key] = len(o.found)
	o.found = append(o.found, outlink{href: href, rel: rel})
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

func (o *outlinks) records() []*weftpb.Link {
	if len(o.found) == 0 {
		return nil
	}
	texts := string(o.texts)
	slab := make([]weftpb.Link, len(o.found))
	links := make([]*weftpb.Link, len(o.found))
	for i, l := range o.found {
		slab[i].Url, slab[i].Text, slab[i].Rel = l.href, texts[l.from:l.to], l.rel
		links[i] = &slab[i]
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

// namesPage reports whether the rel of a link element names a page to crawl,
// and not an icon, a style sheet or a connection to warm up.
func namesPage(rel string) bool {
	if hasToken(rel, "canonical") || hasToken(rel, "next") || hasToken(rel, "prev") {
		return true
	}
	return hasToken(rel, "alternate") && !hasToken(rel, "stylesheet")
}
