// Package topics describes the topics of the loop: what one record of each is,
// how it is keyed and placed, how long it is kept, and how producers write it.
//
//	seeds ────────┐
//	              ▼
//	discovered ─normalize→ normalized ─dedupe→ deduped ─schedule→ scheduled ─fetch→ fetched ─parse→ parsed
//	     ▲                                               ▲                     │              │
//	     │                                               └────── visited ◄─────┘              │
//	     └──────────────── outlinks, redirects, sitemap entries ◄─────────────────────────────┘
//
// Topics are participles and stages are verbs. Names carry the crawl's name as
// a prefix, so that several crawls share a cluster: "news.deduped".
//
// # Invariants
//
// All topics of a crawl but config have the same number of partitions, and all
// producers place records alike (Partitioner). Everything that concerns a
// registrable domain therefore meets in partitions of one number: one scheduler
// owns its politeness, one fetcher its connections.
//
// The number of partitions and the public suffix list, which together decide
// who owns a domain, are pinned by the first record of config (Pin). A process
// that disagrees does not start.
//
// config also holds what people ask of the crawl while it runs (Control), under
// a key of its own.
//
// Ledgers (deduped and scheduled) are tables made of events: they are kept
// whole and never compacted. Topics that are kept until consumed have no
// retention by time either, since a crawl may lie still for months; a janitor
// trims them behind their readers. Check holds all of this at each start.
package topics
