// Package document turns the body of one HTTP response into what a crawl needs of it:
// text, title, metadata, directives for robots, and outlinks.
//
// It is pure: no clock, no sockets, no state between documents. Any number of goroutines
// may use a Parser.
//
// # Journey of a body
//
//	media type ─ HTML ──→ UTF-8 ─┬→ stream (most pages) ──┐
//	           │                 ├→ tree   (goquery) ─────┼→ collector → Page
//	           │                 └→ tokens (fallback) ────┘
//	           ├ plain text → UTF-8 ─────────────────────────────→ Page (text only)
//	           └ other ──────────────────────────────────────────→ Page (Unparsed says why)
//
// Other packages read other formats. They write the Page by a Writer (Parser.Write).
//
// There is one collector for the three sources of elements, which make the same three calls
// (open, close, text) in document order.
//
// The stream is one pass over the bytes. It runs the tree construction of the HTML standard
// without making nodes. As long as each node is inserted behind all others, it can tell the
// collector of the start and the end of an element at once. This covers optional tags, implied
// end tags and the reconstruction of active formatting elements.
//
// The stream gives up if a node is inserted elsewhere or moves (foster parenting, the adoption
// agency), unless the collector ignores the element that moves, such as b and em. It also gives
// up in rare cases that are not worth their code (framesets, templates, NUL bytes). Then the
// collector forgets what it has, goquery makes a tree, and one walk over the tree gives the
// elements. Both ways give the same Page, in every field.
//
// These are the files of the stream, in the order of the standard's chapter 13.2, "Parsing HTML
// documents", whose sections the comments name:
//
//	markup, charref                       13.2.5, tokenization
//	element                               what the standard says of each element
//	openelements, formatting              13.2.4, the stack and the list
//	stream, modes, inbody, adoption,
//	intable, inforeign                    13.2.6, tree construction
//	cheap                                 whether a tree would be costly, on the way
//
// The tokenizer is used if no tree can be made. Page.Fallback says why: the tree parser refuses
// more than 512 open elements; the tree of a body beyond Options.MaxTreeBytes would take a
// hundred times the memory of the body; and some bodies are made so that their tree takes
// minutes (costly). The tokens are an approximation. For documents that are nested properly they
// give the same links and, up to white space, the same text. For other documents the end of a
// hidden element may be in doubt. Then the tokens show too much (muter).
//
// # Encoding
//
// A byte order mark wins over the charset of Content-Type. That wins over what the first
// 1,024 bytes declare, read as the HTML standard says (prescan). A body without a
// declaration there is UTF-8 if it is valid UTF-8. If not, a meta element further down in
// the head decides, within 64 KiB (lateDeclaration); in XHTML, meta elements do not count.
// Without any declaration the letters decide (guess). If the letters do not tell, as in
// the Latin alphabets or with a few East Asian characters, the language of the page or the
// country of its host decides. If no language is declared either, the pairs of letters in
// the text tell the language (encodingOfPairs). Everything else is windows-1252.
//
// # What counts as text
//
// Text is what a reader without style sheets sees. It does not have the contents of script, style,
// template, noembed, iframe, textarea, and of title and desc inside SVG. A template that
// is a declarative shadow root is shown where it is, whatever its slots. The text, but not the
// links, is also left out
//
//   - of noscript and noframes: nine in ten say only that scripts should be switched on;
//   - of elements with the attribute hidden, of closed dialogs, and of datalist;
//   - of the parentheses of ruby;
//   - of audio, video, canvas, meter and progress, which is for browsers without them.
//
// Blocks, line breaks and table rows begin a new line. Table cells are separated by a space.
// White space, U+00A0 included, is folded to one space, except in pre, whose lines are kept.
// The alt of an image is text of the link around it, and is not text elsewhere. It is the text of
// the image's own link, too, which also has the caption of the figure that shows the image. Style
// sheets are not evaluated.
//
// An element without contents that is written as in XHTML, such as <iframe src="x"/>, does not take
// the rest of the page as its text (withEnds).
//
// # What counts as a link
//
// Kind lists how a document, or its header, names pages and parts of itself. Options say
// which kinds are followed. References to a fragment of the page or to the page itself are
// not links, and neither are schemes other than http and https; Page.Skipped counts them. A
// URL is listed once as a page and once as a part, without its fragment, with its first text
// that is not empty. If a URL is named several times, one reference that may be followed is
// enough.
//
// A link in a noscript or noframes element has the kind noscript and, as its Element, the kind
// that it would have elsewhere. It is followed if both kinds are. Scripts are not run, and frames
// are not shown: base elements, refreshes, and directives for robots count there as they do elsewhere.
//
// An alternate of a type of oEmbed is no link: it is data for sites that show the page within theirs.
//
// rel=nofollow keeps a link from being followed; ugc and sponsored alone do not, see
// Options.NoFollow. Canonical URLs come from the header and from link elements; if two of
// them differ, none counts. Header fields resolve against the response, everything else
// against the first base element.
//
// # Failure
//
// Document returns no error. Whatever the bytes are, the Page has what could be read, all its
// strings are valid UTF-8, and Options bound every part.
package document
