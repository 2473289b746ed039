// Package traps tells, for one partition, which URLs belong to a trap. A trap is a set of URLs
// that a server can generate without end and that carry little content. The package does not
// know Kafka, clocks or files. docs/traps.md is for the people who run a crawl.
//
// # Evidence
//
// A URL has a template (see [Of]). A month of a calendar has "/calendar/{year}/{n}", a choice
// of facets has "/{word}?color&size". A URL with a query also belongs to a second template for
// all queries of its path, "/{word}?*", because facets have as many templates as combinations.
//
// For each template on each host a [Templates] has a [pattern]: how many of its URLs were
// admitted, and what the last pages showed that named new URLs. Such a page either
// shows something new, or has the content of another page of its domain, exactly or
// nearly. Where URLs do not look like those of a trap ([SameContent]), the first copy of
// a page counts as neither.
//
// A template whose pages keep naming new URLs and keep showing the same content is a
// trap: an empty month that links to the next one, or a page under one more session's
// name. A copy of an honest page names what that page had named, nothing new, and says
// nothing against its template. A site with a million different pages is never a trap,
// however similar its URLs are. The number of URLs alone makes a trap only beyond
// Options.URLsPerTemplate.
//
// Honest pages may have the template of a trap; in the root of a site all names do.
// Therefore a URL of a trap is also judged by the page that names it. If that page shows
// something new, the URL is admitted, up to 1,000 URLs. If these bring pages that show
// something new, the template is no longer a trap. The target of a redirect is not
// admitted in this way: a redirect shows nothing, and mazes consist of redirects.
//
// # States of a template
//
//	open     Its URLs are admitted.
//	trap     Seven of eight of its last pages, and at least Options.Evidence, showed
//	         what others had shown. A URL is parked if a page that shows nothing new
//	         names it, or a redirect, or if 1,000 were admitted since. The template is
//	         open again when less than half of its last pages show what others do.
//	         What is parked stays parked.
//	full     More than Options.URLsPerTemplate were admitted. Further URLs are parked
//	         as long as that option stays.
//	exempt   People lifted the trap. Its URLs are admitted, whatever they show.
//
// A parked URL is in the store, by template and number, until it is lifted. A URL that
// was admitted before its template was a trap is in a group, if the page that named it
// showed nothing new. The frontier does not fetch the URLs of a withdrawn group. The
// group is free again when the trap is open again or lifted. See [Templates.Group].
//
// # Invariants
//
//   - A URL that was never seen is either admitted or parked. Seeds are admitted.
//   - [Templates.Decide] and [Templates.Lift] decide and change no later answer. [Templates.Apply]
//     folds, is deterministic and knows no options. Options may change, and old events
//     still fold to the same state. Therefore an event says which template is a trap
//     (Deduped.parked) and what its source showed (Deduped.showing).
//   - The events of other domains do not change the state of a domain, so that domains
//     can move to other partitions.
//   - The state is bounded, except for the parked URLs. Those are on disk, and are not
//     more than admitted pages name. A domain has 1,024 templates and 32 hosts. From the
//     129th template on, new templates do not have the names of directories. The URLs
//     beyond 1,024 have the template "*" of the domain, which is judged like any other.
//     The hosts beyond 32 count as one, "*.domain". A template remembers its last 16 to
//     32 pages.
//
// # Failure
//
// As in package seen: a [kv.Store] keeps its first error and answers "absent" after it.
// The caches hold only what is in the store.
package traps
