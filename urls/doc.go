// Package urls turns what documents and people write into canonical URLs, and
// says to which registrable domain a host belongs.
//
// A canonical URL is the serialisation of the WHATWG URL Standard
// (https://url.spec.whatwg.org/#concept-basic-url-parser) with three changes
// that make two spellings of one resource the same string:
//
//   - the fragment is dropped, since it is never sent;
//   - user name and password are dropped, since a crawler has none of its own;
//   - percent-encoded unreserved characters are decoded and the hexadecimal
//     digits of the others are upper case (RFC 3986 section 6.2.2).
//
// Canonical form is a fixed point: parsing a canonical URL gives itself.
//
// Parsing has two paths. fast covers what nearly all links look like in under
// half a microsecond and declines everything else; full is a complete parser
// and twenty times slower. Wherever fast answers, it answers as full does;
// FuzzFastPath holds that.
//
// A URL that the crawler has no use for is refused with a named reason, never
// with an error. Everything here is pure. URL and Suffixes are safe for
// concurrent use, Base is not.
package urls
