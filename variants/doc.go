// Package variants knows which URLs of a site are variants of each other, as
// /a and /a/ may be, by rules that the site itself has shown or that the crawl's
// definition names. Nothing is assumed. Nothing here knows Kafka or clocks.
//
// # Rules
//
// A [Rule] says in one direction how a URL becomes the one that stands for it:
// https, no-www, www, slash, no-slash, and one for each index file. There is
// none about the case of letters: servers that do not care seldom redirect, and
// among equal contents it cannot be told from other causes. There is none that
// adds an index file or leads from https to http: a site that redirects so costs
// one request more for each page.
//
// They are learnt for a [Site]: a host with its port, with and without "www.".
//
// # States
//
// Each rule of a site is in one of three:
//
//	learning   Less than 6 points speak for it. A redirect, or a canonical URL,
//	           from a URL to the one that the rule makes of it has 2, the same
//	           content 1, nearly the same none. Each path counts once, so that it
//	           takes 3 different paths, or 6 of which only the content is known.
//	in force   URLs that links and sitemaps name, and that nobody has named
//	           before, are given up for the one that stands for them, if this is of
//	           the same origin, or of one that has answered, see below.
//	broken     For good: one exchange was against it, see below.
//
// Evidence about a pair that several rules make of each other, as http://h/a
// and https://www.h/a, speaks for, or against, all of them.
//
// # Relative links
//
// Two URLs with the same text are one page only if they also name the same URLs. A
// link "b" leads to another URL from /a than from /a/, and to the same from
// /a/index.html as from /a/. Pages are relative that have such a link at a URL to
// which a slash can be added, or from which it can be taken (Evidence.relative).
//
//   - What a relative page has as its text, or names as canonical, speaks for no
//     rule if slash or no-slash is among those between the two URLs. It is against
//     rules as ever.
//   - A relative page, whatever its text, says of its whole site that equal texts
//     are nothing for slash and no-slash, before or after: points that they had
//     from equal texts are forgotten, and what is in force by them breaks. Nobody
//     knows from which of both URLs the links lead where they should, and the one
//     that a rule would keep may be the wrong one.
//   - What redirects and canonical URLs have said of other pages stands: a server
//     that redirects has one address, and links are written for it.
//
// # Origins that answer
//
// A site has four origins: http and https, without "www." and with it. Of each it is
// noted when a page was first read there (evidence of all kinds but a redirect, and
// that there is no page). Learnt rules do not lead to an origin before: canonical URLs
// name hosts that are gone, and schemes that nothing answers, and no evidence ever
// comes of what does not answer. Until then the URL is treated as if the rules https,
// no-www and www were not known; the others hold at its own origin. That an
// origin has answered is never forgotten, so that what was given up by it stays so.
//
// # What is against a rule
//
// A redirect, or a canonical URL, in the other direction. And pages that are their
// URLs' own: which neither redirect to a variant, nor name one as canonical, nor
// have the text of another page.
//
//   - Of two such pages, of which rules make one URL of the other, all these rules
//     break. A site has a sample of 32 pages, those of the least hashes of what all
//     rules together make of their URLs: two that are related are both in it, or
//     none is, whichever came first.
//   - Such a page at a URL that a rule would take is against what redirects and
//     canonical URLs say, before or after: where some /a redirect, and others do not,
//     no slash is to be added. It is not against equal texts, for it may be the first
//     of two.
//   - Such a page of a probe breaks the rules in force that would take its URL.
//
// And relative pages, where equal texts speak for slash or no-slash, see above.
// Nearly the same text is another one.
//
// # Probes
//
// Of the URLs that learnt rules would give up, the first of each rule is asked for,
// and one in 64, chosen by its fingerprint: a rule that is wrong, or no longer
// right, is found out. What it brings counts as evidence as anything does. A page
// that is its URL's own is against what redirects and canonical URLs say, whatever
// the other URL has: nothing, or a page that says so and is no 404. Where equal texts
// say it, the one that stands for it has to be known already, and the first is none.
//
// # Twins
//
// A rule is learnt late where both spellings of all URLs are named on every page: they
// are queued by then. So a URL that is named first is crawled, and one of which a
// twin is in the crawl, by one difference of those in [differences], waits aside: it
// has the name of a group, and the frontier keeps it in the queue of that group. The
// group is of a site and a difference, "x.org slash"; or of the twin's origin, where
// that is another, and a difference: "http://x.org https". Decide tells the states of groups, when they change
// and with each URL of a group that is withdrawn:
//
//	open       no rule of the difference is in force, or the twin's origin has not
//	           answered
//	withdrawn  one is, in whichever direction, and it has
//	free       all are broken
//
// A ledger of before has groups such as "x.org https", of all origins. No URL joins
// one, none is withdrawn any more, and one that is comes back when its rules break.
//
// A URL leaves its group (Deduped.recalled) when a seed or a redirect names it, or when
// a twin of it has no page. Nothing is kept of groups here: what a site knows of its
// rules, and which URLs were ever named, says it all. A recall may therefore name a URL
// that waits in none.
//
// # Nothing is lost
//
// A URL that waits aside is in the frontier. One that is given up is written down with
// the one that stands for it (Deduped.merged). It comes back into the crawl
//
//   - when one of the learnt rules that took it breaks, all those of the site in
//     the event that breaks it;
//   - when a redirect leads to it, or somebody asks for it by a seed: these are
//     never given up;
//   - when the URL that stands for it has no page (4xx, but not 429, or a redirect
//     that leads to none of its variants); as a probe.
//
// What has no page is remembered: nothing is given up for it later.
//
// # Invariants
//
//   - [Book.Decide] changes nothing, [Book.Apply] folds its result, is
//     deterministic and idempotent, and reads no configuration.
//   - Evidence that changes nothing is not written.
//   - A rule and its opposite are never both in force, so that what stands for a
//     URL stands for itself.
//   - A URL that is given up by a learnt rule, or withdrawn, has its stand-in or twin at
//     its own origin, or at one that has answered.
//
// # Bounds
//
// A site has at most 6 paths for each rule, and 32 pages. What was given up by
// learnt rules is at most 384 KiB of a site, so that it can come back in one event;
// beyond that its variants wait aside. In memory is an entry for each site with a rule in
// force or a URL given up.
//
// # Failure
//
// A [state.Store] has a sticky first error and answers "absent" after it; its owner
// looks at that before an event decided meanwhile is written.
package variants
