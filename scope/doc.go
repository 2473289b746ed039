// Package scope decides which URLs belong to a crawl.
//
// A seed is in scope because somebody named it. From there scope follows the
// referrer: a link is judged against the page that holds it, and since only
// pages in scope have their links read, every page of the crawl is connected
// to a seed by steps each of which stayed in scope. No list of seeds is needed,
// and a stage can judge a link with what its record carries.
//
// A redirect from a seed leads to another seed: who asks for
// http://example.com/ means the site at https://www.example.com/ that it
// redirects to. A redirect from any other page is judged like a link.
//
// Everything here is pure, and a Policy is safe for concurrent use.
package scope
