// Package variants learns which URLs of a site are variants of each other, such as
// /a and /a/. Two URLs are variants by a rule that the site itself has shown, or that
// the crawl's definition names. Nothing is assumed. The package knows neither Kafka
// nor clocks. docs/urls.md is for the people who run a crawl.
//
// A URL that is not fetched because a variant of it is kept is merged into that
// variant. A URL that may be a variant of one in the crawl waits in a group.
//
// # Rules
//
// A [Rule] makes one URL of another, in one direction: https, http, no-www, www, slash,
// no-slash, and one rule for each index file. There is no rule about the case of
// letters: servers that do not care about case seldom redirect, and equal texts may
// have other causes. No rule adds an index file: a site that redirects in this way costs
// one more request for each page. Equal texts never speak for http, because of two
// schemes the encrypted one is better.
//
// Rules are learnt for a [Site]: a host with its port, with and without "www.".
//
// # States of a rule
//
//	learning   Less than 6 points speak for it. A redirect, or a canonical URL, from
//	           a URL to what the rule makes of it gives 2 points; the same text gives
//	           1; nearly the same text gives none. Each path counts once. So the rule
//	           needs 3 paths, or 6 paths if only their texts are equal.
//	in force   A URL that links and sitemaps name for the first time is merged into
//	           its variant, if the variant is of the same origin, or of an origin
//	           that has answered (see below).
//	broken     One exchange was against it (see below). This is final.
//
// Evidence about two URLs that differ by several rules, such as http://h/a and
// https://www.h/a, speaks for all these rules, or against all of them.
//
// # Relative links
//
// Two URLs with the same text are one page only if they also name the same URLs. A
// link "b" leads to another URL from /a than from /a/, and to the same URL from
// /a/index.html as from /a/. A page is relative if it has such a link and its URL can
// gain or lose a final slash (Evidence.relative).
//
//   - If slash or no-slash is among the rules between two URLs, then the text of a relative
//     page, and the canonical URL that it names, do not speak for any of them. They still speak
//     against rules.
//   - After one relative page, equal texts no longer count for slash and no-slash on
//     the whole site. Points that equal texts gave to these rules before are taken
//     back, and a rule that is in force because of them breaks. The reason: it is not
//     known from which of the two URLs the links lead where they should, and a rule
//     might keep the wrong one.
//   - Redirects and canonical URLs of other pages still count: on a server that redirects, links
//     are written for one of the two addresses.
//
// # Origins that answer
//
// A site has four origins: http and https, with and without "www.". An origin has
// answered when a page was read there. All evidence shows this, except a redirect, and
// except that a URL has no page. Learnt rules do not lead to an origin that has not
// answered. Canonical URLs name hosts that do not exist any more and schemes without a
// server, and such an origin never shows evidence against a rule. Until then a URL is
// treated as if the rules https, no-www and www were unknown. The other rules apply at
// its own origin. That an origin has answered is never forgotten, so what was merged
// because of it stays merged.
//
// # What breaks a rule
//
// A redirect or a canonical URL in the other direction, and pages of their own. A
// page is its URL's own if it does not redirect to a variant, does not name a variant
// as canonical, and does not have the text of another page. Nearly the same text is
// another text.
//
//   - If rules make one URL of another, and both have pages of their own, all these
//     rules break. A site has a sample of 32 pages: those with the least hashes of
//     what all rules together make of their URLs. So of two related pages both are in
//     the sample or neither is, whichever came first.
//   - A page of its own, at a URL that a rule would take, is against what redirects
//     and canonical URLs say, before or after: if some /a redirect and others do not,
//     no slash may be added. It is not against equal texts, because it may be the
//     first page of two.
//   - A file that is not HTML cannot name a canonical URL. So that it names none is not
//     against canonical URLs, nor against redirects, which may be of pages only. With another
//     file at the variant it is against the rules between them, as above.
//   - If a probe finds a page of its own, the rules that redirects or canonical URLs
//     brought into force and that would take the probe's URL break. Equal texts do not
//     say which of two URLs is read first. Against them, the probe and its variant need
//     pages of their own, as above.
//   - A relative page breaks slash and no-slash if equal texts brought them into
//     force (see above).
//
// # Probes
//
// Some URLs that learnt rules would merge are fetched nevertheless, as probes, to detect
// a wrong rule: the first URL of each rule, and one in 64, chosen by the hash that also
// chooses the sample. What a probe shows is evidence like any other. A page of its own
// is against what redirects and canonical URLs say, whatever the other URL has. If equal
// texts brought a rule into force, its variant must be known before a URL is probed, and
// the first URL is not a probe. Such probes are compared with one page in 64. Besides
// the sample, the store has the form of these pages.
//
// # Groups
//
// Where every page names both spellings of every URL, both are queued before a rule is
// learnt. Therefore a URL waits in a group of the frontier if one of its twins is in
// the crawl. A twin differs from it by one of the [differences]. The group has the name
// of the site and the difference, "x.org slash"; or, if the twin is at another origin,
// the name of that origin and the difference, "http://x.org https". Decide tells the
// state of a group when it changes, and with each URL that joins a withdrawn group:
//
//	open       no rule of the difference is in force, or the twin's origin has not
//	           answered
//	withdrawn  a rule is in force, in either direction, and the origin has answered
//	free       all rules of the difference are broken
//
// Ledgers of older programs have groups such as "x.org https", for all origins. No URL
// joins such a group, none is withdrawn any more, and a withdrawn one comes back when
// its rules break.
//
// A URL leaves its group (Deduped.recalled) when a seed or a redirect names it, or when
// a twin of it has no page. This package keeps nothing of groups: their states follow
// from the rules of a site and from the URLs that were seen. A recall may therefore name
// a URL that is in no group.
//
// # No URL is lost
//
// A URL in a group is in the frontier. A merged URL is stored with the one that is kept
// (Deduped.merged). It comes back into the crawl
//
//   - when one of the learnt rules that merged it breaks, with all such URLs of the
//     site, in the event that breaks the rule;
//   - when a redirect leads to it or a seed names it; such URLs are never merged;
//   - when the URL that is kept has no page (4xx, but not 429, or a redirect that does
//     not lead to one of its variants). It then comes back as a probe.
//
// A URL that has no page is remembered: nothing is merged into it later.
//
// # Invariants
//
//   - [Sites.Decide] changes nothing. [Sites.Apply] folds its result, is deterministic
//     and idempotent, and reads no configuration.
//   - Evidence that changes nothing is not written.
//   - A rule and its opposite are never both in force, so a URL that is kept is not
//     merged itself.
//   - If a learnt rule merged a URL, or its group is withdrawn, then its variant is at
//     its own origin or at one that has answered.
//
// # Bounds
//
// A site has at most 6 paths for each rule, and 32 pages. The URLs that learnt rules
// merged take at most 384 KiB of a site, so that they can come back in one event; beyond
// that, URLs wait in a group. Memory has an entry for each site with a rule in force or
// a merged URL.
//
// # Failure
//
// A [kv.Store] keeps its first error and answers "absent" after it. The owner of the
// partition checks the error before it writes an event.
package variants
