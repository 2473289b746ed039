// Package why answers questions from a crawl's topics alone: what happened to this URL, why is
// there no request to this domain, why is this crawl slow. It joins no group, writes nothing,
// and needs no process of the crawl.
//
// # How it knows
//
// The ledgers are complete. deduped says which page named a URL and when; scheduled has
// the decisions about it. The frontier's own Apply folds the events about a domain into a
// scratch store, so that queues, due times and breakers are exactly those of the
// scheduler. Facts that the state does not have, such as the time of the last request, are
// noted beside the fold (trace). Package scope judges the scope, package robots the robots
// rules, and package politeness the delays.
//
// A URL or page that is on its way is searched in the records that the next stage has not
// read: a URL in discovered, normalized and seeds, read as normalize reads them; a page in
// parsed, from the time of its request on. A search ends after 128 MB; the answer says so.
//
// # What it reads
//
// A question about a URL or a domain reads the domain's partition of each ledger, and
// decodes only the events of that domain. The way back to a seed may lead to the
// partitions of other domains. If no record names a URL, and links of some pages would be
// too deep, up to 128 MB of parsed are searched for pages that name it. A question about
// the crawl folds scheduled completely, partition by partition.
//
// # What it cannot know
//
//   - Which slots of a fetcher are in use: only its own metrics say that. If a visit has
//     no outcome for much longer than its delay, the answer is that the fetcher has not
//     come to it. The number of open requests is estimated from the time that the
//     requests of the last minute took.
//   - Which page names a refused URL, except for pages that are too deep: there is no
//     record of it. The answer names a redirect beyond the limit.
//   - What was before the beginning of a trimmed ledger. Stories then have gaps and name
//     them; they guess nothing.
//   - One moment. Topics are read one after another while the crawl goes on, so that two
//     facts may be some milliseconds apart.
//
// # Shape
//
// Each story is a struct. Its JSON has stable names (docs/why.md), and WriteText prints it as
// one screen. The time and the time zone are arguments. url.tmpl, domain.tmpl and crawl.tmpl
// have the texts of the screens and the summaries.
package why
