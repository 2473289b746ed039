// Package robots reads robots.txt as RFC 9309 asks and answers whether a path may be
// requested.
//
// It works in two steps, on either side of a topic. Parse turns a response for
// /robots.txt into a record with what concerns our agent: the merged rules of its
// groups in normal form, its Crawl-delay, and the sitemaps. Lifetime tells from the
// headers of the response how long the record holds. Compile turns the record into
// Rules. They answer in well under a microsecond, however many rules there are. Only
// rules with wildcards take longer, and their number is bounded.
//
// Lines are read by a port of Google's parser (https://github.com/google/robotstxt).
// Where webmasters deviate from the RFC, the package does as that parser does: it
// understands missing colons and common misspellings, and an Allow of index.html
// allows its directory. Where the parser deviates from the RFC, the package follows
// the RFC: an escape of an unreserved character is the character, and %2A and %24 in
// a rule are the characters "*" and "$".
//
// temoto/robotstxt gives the verdicts of small groups without wildcards, in which it
// judges as the RFC asks. All other verdicts are the package's own.
//
// A broken line costs only itself. When the rules are not known, everything but
// /robots.txt is disallowed. Everything here is pure. Rules are safe for concurrent
// use.
package robots
