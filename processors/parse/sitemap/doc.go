// Package sitemap reads sitemaps as they are found in the wild: the XML of sitemaps.org and
// its indexes, RSS 2.0 and 1.0, Atom 1.0 and 0.3, and lists of URLs; packed by gzip or not.
//
// It is pure, and never fails: what can be read of a file is read, and Result says how the
// reading ended.
//
// # Reading what is broken
//
// There is no tree and no grammar. A scanner cuts the text into start tags, end tags and
// text, and the reader keeps the entry that is open. An entry ends where it is closed, or
// where the next one begins, or with the file. So a file that is cut, an element that is
// not closed and an ampersand that is not escaped cost at most the entry that they are in.
// Namespaces do not count, only local names, because prefixes and namespaces are often
// wrong; the element around a loc tells whether it is that of a page, an image or a video.
//
// Entities that a document type defines are not expanded, and nothing outside of the file is
// read.
//
// # Bounds
//
// Memory is bounded by the entry that is open, whatever the size of the file: a tag counts up
// to 16 KiB, a text up to 8 KiB, and an entry keeps at most 1,000 references. The text is
// unpacked and decoded as it is read, up to Options.MaxBytes, and at most Options.MaxEntries
// are read.
package sitemap
