// Package why answers "why?" from a crawl's topics alone: why is this URL where
// it is, why is this domain not asked, why is this crawl slow. It joins no
// group, writes nothing, and needs no process of the crawl.
//
// # How it knows
//
// The ledgers are kept whole. deduped says who found a URL and when, scheduled
// what was decided about it. The state of a domain is not computed anew here:
// the events about it are folded by the frontier's own Apply into a scratch
// store, so that queues, due times and breakers are exactly those of the
// scheduler. What the state does not tell, such as when a domain was last asked,
// is noted beside the fold (trace). Scope is judged by package scope, robots
// rules by package robots, delays by package politeness.
//
// What is on its way is looked for in what the next stage has not read: a URL in
// discovered, normalized and seeds, as normalize itself would read them; a page
// in parsed, from the time of its request on. Such a search ends after 128 MB
// and says so.
//
// # What it reads
//
// A question about a URL or a domain reads one partition of each ledger, the
// one that the domain is in, and decodes the events of that domain only; the way
// back to a seed may lead to the partitions of other domains. Of a URL that nobody has
// named, and that some pages may not name, being too deep, the pages that do are looked
// for in parsed, 128 MB of it. A question about the crawl folds scheduled whole,
// partition by partition.
//
// # What it cannot know
//
//   - Which slots of a fetcher are in use: that is in its own metrics. A visit
//     that shows no sign for much longer than its delay is taken for one that
//     the fetcher has not come to, and the number of open requests is estimated
//     by the time that those of the last minute took.
//   - What a URL is named by that was refused, but for pages that are too deep: no
//     record of it is left. A redirect too many is named as the end of what is known.
//   - What was before the beginning of a trimmed ledger. Stories then have gaps
//     and name them; nothing is guessed.
//   - A moment. Topics are read one after another while the crawl goes on, so
//     that two facts may be some milliseconds apart.
//
// # Shape
//
// Each story is a struct that encoding/json writes with names that stay
// (docs/why.md), and that WriteText prints as one screen. Now and the time zone
// are arguments.
package why
