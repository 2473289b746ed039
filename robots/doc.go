// Package robots reads robots.txt as RFC 9309 asks and answers whether a path
// may be requested.
//
// It works in two steps, on either side of a topic. Parse turns a fetch of
// /robots.txt into a record that holds what concerns our agent and nothing
// else: the merged rules of its groups in normal form, its Crawl-delay, the
// sitemaps; Lifetime tells from the response's headers how long that holds.
// Compile turns that record into Rules, which answer in well under a
// microsecond however many rules there are, those with wildcards aside, which are
// bounded.
//
// Where webmasters deviate from the RFC the package follows Google's parser
// (https://github.com/google/robotstxt), whose line reading it uses: missing
// colons and common misspellings are understood, an Allow of index.html allows
// its directory. Where that parser deviates from the RFC the RFC is followed:
// escapes of unreserved characters mean the characters, and %2A and %24 in a
// rule mean "*" and "$" themselves.
//
// A single broken line never costs more than itself. When the rules are not
// known everything but /robots.txt is disallowed. Everything here is pure;
// Rules are safe for concurrent use.
package robots
