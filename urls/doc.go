// Package urls turns what documents and people write into canonical URLs, and
// says to which registrable domain a host belongs.
//
// # The plain form
//
// Parse and NewBase give the serialisation of the WHATWG URL Standard
// (https://url.spec.whatwg.org/#concept-basic-url-parser), which is what browsers
// do, and with it:
//
//   - scheme and host are lower case, names beyond ASCII are punycode (UTS #46,
//     not transitional), addresses are written one way, a default port is left
//     out, an empty path is "/", backslashes are slashes, tabs and newlines are
//     dropped, dot segments are resolved, what may not stand in a path or a query
//     is percent-encoded.
//
// Three changes make two spellings of one resource the same string:
//
//   - the fragment is dropped, since it is never sent;
//   - user name and password are dropped, since a crawler has none of its own;
//   - percent-encoded unreserved characters are decoded and the hexadecimal
//     digits of the others are upper case, which servers must not tell apart
//     (RFC 3986 section 6.2.2).
//
// Nothing else is changed. An empty query ("/a?"), an empty segment ("/a//b"), "+"
// for "%20" and the case of a path are left alone: there are servers that tell
// them apart, and a page asked for twice costs less than a page never seen. For the
// same reason "http" is not "https", and neither "www.", a final slash nor
// "index.html" is dropped: that a site does not care is learnt from the site.
//
// # The form of a crawl
//
// A Form goes further, as the crawl's Options say. Its rules are about what is
// sent and yet names no other page:
//
//   - Strip removes parameters that advertisers add and scripts read (utm_*,
//     gclid, fbclid, msclkid, …) and session ids (;jsessionid, PHPSESSID, sid and
//     vBulletin's s with 26 or more letters and digits mixed, …), which make of each
//     page as many as there are visits. UUIDs and shorter values may name a page: a
//     conference calls its talks sessions, and s is what many sites search for.
//     DefaultStrip lists them, a Rule more or less changes that, for all hosts or
//     for one. Names match in any case. What is listed has no other use; what has
//     one often enough (ref, source) has to be asked for. Session ids of other shapes, such as ASP.NET's segment
//     (S(…)), stay, since their links keep them and the same page has one address
//     in one crawl.
//   - SortQuery sorts parameters by name; those of one name keep their order. It
//     is off: few sites spell one query in two orders, and some read by position.
//   - HashBang turns "#!state" into the parameter _escaped_fragment_=state of the
//     AJAX crawling scheme. It is off: the scheme was given up in 2015, and sites
//     that still have such links mostly answer only to scripts. The fragment
//     itself is never kept, for it is not sent: a crawl would ask for one address
//     again and again.
//
// When everything is removed, so is the "?". Empty parameters go once anything
// else does. What ";" joins in a query goes only where all of it would: there are
// servers for which "gclid=1;id=5" is two parameters. A parameter of a segment
// stays where the rest would be a dot segment. MaxBytes bounds the plain form.
//
// The plain form is a fixed point of Parse; a Form's URL is in plain form, is a
// fixed point of that Form, and has the same origin.
//
// # A form that changes
//
// A crawl's Options are part of its definition, the list of rules in full. They
// say how URLs that are found from then on are written; what is known keeps its
// name. After a rule more, /a?ref=x stays in the crawl and is fetched if it was
// queued, while the next link to it is one to /a, which is new once. After a rule
// less, /a?ref=x is new. Nothing is lost either way, and pages are fetched twice
// at most for each change.
//
// # How
//
// Parsing has two paths. fast covers what nearly all links look like in under
// half a microsecond and declines everything else; full is a complete parser for
// http and https that takes about twice as long. Wherever fast answers, it answers as
// full does; FuzzFastPath holds that, and FuzzAgainstAnother holds full to a
// parser of others. A Form costs URLs without "?" and ";" nothing but the look
// for them.
//
// The query of a document that is not in UTF-8 is percent-encoded in its encoding
// (Form.Document), as its author saw it work.
//
// A URL that the crawler has no use for is refused with a named reason, never
// with an error; schemes other than http and https by their name as far as they
// are well known. Everything here is pure. URL, Form and Suffixes are safe for
// concurrent use, Base is not.
package urls
