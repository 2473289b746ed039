// Package parse turns the body of one HTTP response into what a crawl wants
// from it: text, title, metadata, directives for robots, and outlinks.
//
// It is pure: no clock, no sockets, no state between documents. A Parser may
// be used by any number of goroutines.
//
// # Journey of a body
//
//	media type ─ HTML ──→ UTF-8 ─→ tree  (goquery) ──┐
//	           │               └─→ tokens (fallback) ┴→ collector → Page
//	           ├ plain text → UTF-8 ─────────────────────────────→ Page (text only)
//	           └ other ──────────────────────────────────────────→ Page (Unparsed says why)
//
// There is one collector and it never asks where its elements come from: the
// tree is walked once, in document order, and the tokenizer feeds the same
// three calls (open, close, text). Both paths give the same links and, up to
// white space, the same text for documents that are nested properly, end tags that
// HTML makes optional left out or not; for the others the tree is what a browser
// makes of it and the tokens are an approximation: where the end of a hidden element
// is in doubt they show too much (muter).
//
// The tokenizer is used where the tree cannot be had, and Page.Fallback says
// so: the parser refuses more than 512 open elements, a tree of a body beyond
// Options.MaxTreeBytes would take a hundred times its memory, and some bodies
// are made so that it takes minutes (costly).
//
// # Encoding
//
// A byte order mark wins over the charset of Content-Type, and that over what
// the first 1,024 bytes declare, read as the HTML standard has it (prescan).
// What declares nothing there is UTF-8 if it is valid UTF-8; else it is what a meta
// element further down in the head says, within 64 KiB (lateDeclaration); in XHTML
// meta elements have no say. Where nothing is said the letters are looked at, and
// where they cannot tell, as in the Latin alphabets or a few East Asian characters,
// the language of the page or the country of its host (guess). Where no language is
// told either, it is the one whose pairs of letters the text has (encodingOfPairs). The
// rest is windows-1252.
//
// # What counts as text
//
// Text is what a reader without style sheets sees. The contents of script,
// style, template (but for declarative shadow roots, which are shown where they
// stand, whatever their slots), noframes, noembed, iframe,
// textarea, and of title and desc inside SVG are left out. So is the text, but
// not the links, of noscript, since nine in ten say only that scripts should be
// switched on; of elements with the attribute hidden, of closed dialogs,
// datalist, the parentheses of ruby, and what audio, video, canvas, meter and
// progress show those who have none. Blocks, line breaks and table rows begin a
// new line, table cells are parted by a space, white space is folded to one space
// (U+00A0 included) except in pre, whose lines are kept. The alt of an image is
// text of the link around it, and no other. Style sheets are not evaluated.
//
// # What counts as a link
//
// Kind lists by what a document, or its header, names pages and parts of
// itself; Options say which kinds are followed. Links to a fragment of the page
// or to the page itself, and schemes other than http and https, are none;
// Page.Skipped counts them. A URL is listed once as a page and once as a part,
// fragments aside, with its first text that is not empty; if it is named
// several times, one that may be followed is enough.
//
// What a noscript element names has the kind noscript and, as its Element, the kind
// that it would have elsewhere; it is followed if both are. Scripts are not run: base
// elements, refreshes, and directives for robots hold there as they do elsewhere.
//
// rel=nofollow keeps a link from being followed; ugc and sponsored do not by
// themselves, see Options.NoFollow. Canonical URLs come from the header and from
// link elements; two that differ count for none. Header fields resolve against
// the response, everything else against the first base element.
//
// # Failure
//
// Document returns no error: whatever the bytes, the Page holds what could be
// read, all its strings are valid UTF-8, and every part is bounded by Options.
package parse
