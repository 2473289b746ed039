// Package sitemap reads sitemaps as they are found in the wild: the XML of sitemaps.org and its
// indexes, RSS 2.0 and 1.0, Atom 1.0 and 0.3, and lists of URLs. They may be packed with gzip.
//
// It is pure and never fails. It reads as much of a file as it can, and Result says how the
// reading ended.
//
// # Reading what is broken
//
// There is no tree and no grammar. A scanner cuts the file into start tags, end tags and text.
// The reader keeps the open entry. An entry ends where it is closed, where the next entry begins,
// or at the end of the file. So a cut file, an element without an end tag, or an ampersand that
// is not escaped costs at most one entry. Only local names count, because prefixes and
// namespaces are often wrong. The element around a loc says whether the loc belongs to a page,
// an image or a video.
//
// A text whose encoding is not known is UTF-8, and bytes in it that are not UTF-8 are windows-1252: see
// markup.Decoded and markup.Valid.
//
// Entities that a document type defines are not expanded, and nothing outside of the file is
// read.
//
// # Bounds
//
// Memory does not depend on the size of the file, because only the open entry is kept. 16 KiB of
// a tag count, 8 KiB of a text, and 1,000 references of an entry. The file is unpacked and
// decoded while it is read. At most Options.MaxBytes and Options.MaxEntries are read.
package sitemap
