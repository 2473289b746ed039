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
// white space, the same text for documents that are nested properly; for the
// others the tree is what a browser makes of it and the tokens are an
// approximation.
//
// The tokenizer is used where the tree cannot be had, and Page.Fallback says
// so: the parser refuses more than 512 open elements, and a tree of a body
// beyond Options.MaxTreeBytes would take a hundred times its memory.
//
// # What counts as text
//
// Text is what a reader without style sheets sees. The contents of script,
// style, template, noscript, noframes, noembed, iframe,
// textarea, and of title and desc inside SVG are left out; noscript because
// nine in ten say only that scripts should be switched on. Blocks, line breaks
// and table rows begin a new line, table cells are parted by a space, white
// space is folded to one space (U+00A0 included) except in pre, whose lines
// are kept. The attribute hidden and style sheets are not evaluated.
//
// # What counts as an outlink
//
// Href of a, area, and of link with rel canonical, alternate (but no style
// sheet), next or prev; src of frame and iframe; the URL of a meta refresh.
// Links to a fragment of the page or to the page itself, and schemes other
// than http and https, are not outlinks; Page.Skipped counts them. A URL is
// listed once, fragments aside, with its first text that is not empty.
//
// # Failure
//
// Document returns no error: whatever the bytes, the Page holds what could be
// read, all its strings are valid UTF-8, and every part is bounded by Options.
package parse
