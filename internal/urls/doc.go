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
//     not transitional), addresses have one spelling, a default port is
//     removed, an empty path is "/", backslashes are slashes, tabs and newlines are
//     removed, dot segments are resolved, and characters that a path or a query may
//     not have are percent-encoded.
//
// Four changes make two spellings of one resource the same string:
//
//   - the fragment is removed, because it is never sent;
//   - user name and password are removed, because a crawler has no account;
//   - the final dot of a host name is removed, because "example.com." is the same
//     host;
//   - percent-encoded unreserved characters are decoded and the hexadecimal
//     digits of the others are upper case, which servers must not tell apart
//     (RFC 3986 section 6.2.2).
//
// Nothing else is changed. An empty query ("/a?"), an empty segment ("/a//b"), "+"
// for "%20" and the case of a path stay: some servers have different pages for them,
// and to fetch a page twice costs less than to miss a page. For the same reason
// "http" stays "http", and "www.", a final slash and "index.html" are not removed:
// package variants learns from a site which of them do not matter there.
//
// # The form of a crawl
//
// A Form changes more, as the crawl's Options say. Its rules are about what is sent
// to the server and yet does not choose the page:
//
//   - Strip removes parameters that advertisers add and scripts read (utm_*,
//     gclid, fbclid, msclkid, …). It also removes session ids (;jsessionid,
//     PHPSESSID, sid and vBulletin's s with 26 or more letters and digits mixed, …),
//     with which a page has another URL at each visit. UUIDs and shorter values stay,
//     because they may name a page: a conference calls its talks sessions, and on
//     many sites s is the text of a search. DefaultStrip lists the rules. A crawl may
//     have more Rules, or rules that keep a parameter, for all hosts or for one. Names
//     match in any case. The parameters on the list have no other use. Those that
//     sometimes choose a page (ref, source) are removed only if the user says so.
//     Session ids of other forms, such as ASP.NET's segment (S(…)), stay: all links of
//     the site keep them, so that a page has one URL in one crawl.
//   - SortQuery sorts parameters by name; parameters of the same name keep their
//     order. It is off: few sites write one query in two orders, and some servers
//     read parameters by position.
//   - HashBang turns "#!state" into the parameter _escaped_fragment_=state of the
//     AJAX crawling scheme. It is off: the scheme ended in 2015, and most sites that
//     still have such links need scripts. The fragment itself is never kept, because
//     it is not sent: the crawl would fetch one page again and again.
//
// If no parameter is left, the "?" is removed, too. If any parameter is removed,
// empty ones are as well. Parameters that are joined by ";" are removed only if all of
// them would be, because for some servers "gclid=1;id=5" is two parameters. A
// parameter of a segment stays if the rest would be a dot segment. MaxBytes bounds the
// plain form.
//
// The plain form is a fixed point of Parse; a Form's URL is in plain form, is a
// fixed point of that Form, and has the same origin.
//
// # A form that changes
//
// A crawl's Options are part of its definition, with all rules. A change is valid for
// URLs that are found later; known URLs stay as they are. When a rule is added,
// /a?ref=x stays in the crawl and is fetched if it was queued; the next link to it is
// a link to /a, which is new. When the rule is removed, /a?ref=x is new. Nothing is
// lost, and for each change a page is fetched at most once more.
//
// # How
//
// resolve is a complete parser for http and https. It reads a link once, and takes less
// than half a microsecond and one allocation for nearly all links. FuzzAgainstAnother
// compares it with the parser of another library. For URLs without "?" and ";" a Form
// costs almost nothing.
//
// In a document that is not in UTF-8, queries are percent-encoded in the document's
// encoding (Form.Document), as browsers do.
//
// A URL that the crawler cannot use is refused with a named reason, never with an
// error. For schemes other than http and https the reason has the name of the scheme,
// if it is a well-known one. Everything here is pure. URL, Form and Suffixes are safe
// for concurrent use, Base is not.
package urls
