// Package traps tells, for one partition, which URLs of a site are a trap's: of
// those a server makes as many as are asked for, and shows little on them. Nothing
// here knows Kafka, clocks or files. docs/traps.md is for the people who run a
// crawl.
//
// # What is looked at
//
// A URL has a template (see [Of]): a month of a calendar is "/calendar/{year}/{n}",
// a choice of facets "/{word}?color&size". One with a query belongs to a second
// template besides, that of all queries of its path, "/{word}?*", for facets have
// as many templates as they have combinations.
//
// Of each template on each host a [Book] knows a [pattern]: how many URLs were
// admitted, and what the last pages showed that named URLs which nobody had seen.
// A page either shows something new or it has the content of another page of its
// domain, or nearly; the first copy of one counts as neither where URLs look like
// nothing that servers make without end ([SameContent]). Who keeps naming new URLs
// and keeps showing the same is a trap: an empty month that links to the next, a page
// under one more session's name. A copy of an honest page names what the page had named, nothing new, and
// says nothing against its template; and a site with a million pages that differ
// never is a trap, however much they look alike. Count alone condemns only beyond
// Options.URLsPerTemplate.
//
// Honest pages may look like a trap's: all names in the root of a site do. So the
// URLs of a trap are judged by the page that names them, too: of one that shows
// something new they are admitted, 1,000 of them. If these bring pages that show
// something new, the trap is none any more; if not, they were all. What a redirect
// leads to is not among them: it shows nothing, and mazes consist of them.
//
// # States of a template
//
//	open     its URLs are admitted
//	trap     seven of eight of its last pages, Options.Evidence at least, showed
//	         what others had shown. Its URLs are parked if pages name them that do
//	         so, or redirects, or if 1,000 were admitted meanwhile. It is open again once less than
//	         half of its last pages show what others do; what is parked stays so
//	full     more than Options.URLsPerTemplate were admitted. Further URLs are
//	         parked as long as that option stands
//	exempt   people lifted it. Its URLs are admitted, whatever they show
//
// A parked URL is in the store, by template and number, until it is lifted. One that
// was admitted before its template was a trap is in a group, if a page named it that showed
// nothing new: the frontier does not fetch those of a group that is withdrawn,
// until the trap is open again or lifted. See [Book.Group].
//
// # Invariants
//
//   - A URL that nobody has seen is either admitted or parked, never both and
//     never neither. Seeds are admitted.
//   - [Book.Judge] and [Book.Lift] decide and change no later answer; [Book.Apply]
//     folds, is deterministic and knows no options: those may change, and old
//     events still fold to the same state. Therefore an event says which template
//     is a trap (Deduped.parked) and what its source showed (Deduped.showing).
//   - The state of a domain is its own: events of others do not touch it, so that
//     domains can be moved between partitions.
//   - It is bounded, but for the parked URLs, which are on disk and of which there
//     are no more than admitted pages name: 1,024 templates and 32 hosts are told
//     apart in a domain. From the 129th on, new templates go without the names of
//     directories, and what lies beyond has the template "*" of the domain, which
//     is judged like any other; the other hosts count as one, "*.domain". A page
//     is remembered of a template for the next 16 to 32.
//
// # Failure
//
// As in package dedupe: a [state.Store] has a sticky first error and answers "absent"
// after it. The caches hold what is in the store, and are never more than it.
package traps
