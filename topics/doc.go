// Package topics describes the topics of the loop: how their records are placed, how
// long they are kept, and how producers write them. docs/architecture.md says what one
// record of each is.
//
//	seeds ────────┐
//	              ▼
//	discovered ─normalize→ normalized ─dedupe→ deduped ─schedule→ scheduled ─fetch→ fetched ─parse→ parsed
//	     ▲                                               ▲                     │              │
//	     │                                               └────── visited ◄─────┘              │
//	     └────────────────────── outlinks, redirects, sitemap entries ◄───────────────────────┘
//
// Topics are participles and stages are verbs. Names begin with the crawl's name, so
// that crawls can share a cluster: "news.deduped".
//
// # Invariants
//
// All topics of a crawl, except config, have the same number of partitions, and all
// producers place records in the same way (Partitioner). All records that concern a
// registrable domain are therefore in partitions of one number: one scheduler owns
// the domain's politeness, and one fetcher owns its connections.
//
// The number of partitions and the public suffix list together decide who owns a
// domain. The first record of config pins them (Pin). A process that has others
// does not start.
//
// config also has what people ask of a running crawl (Control), under another key.
//
// Ledgers (deduped and scheduled) are tables made of events. They are kept whole
// and are never compacted. Topics that are kept until consumed have no retention by
// time, because a crawl may rest for months. A janitor trims them behind their
// readers. Check verifies all of this at each start.
package topics
