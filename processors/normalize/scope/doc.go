// Package scope decides which URLs belong to a crawl.
//
// A seed is in scope because a user named it. A link is judged against the page that
// has it. Only pages in scope have their links read, so that every page of the crawl
// is reached from a seed by steps that are in scope. No list of seeds is needed: a
// stage can judge a link by what its record says.
//
// A redirect from a seed leads to another seed: a user who names http://example.com/
// means the site at https://www.example.com/ that it redirects to. A redirect from any
// other page is judged like a link.
//
// The package is pure. A Policy is safe for concurrent use.
package scope
