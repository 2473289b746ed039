// Package replay makes the exchanges of a crawl from an archive (package archive), and not one
// connection. The stage fetch gets it in place of an HTTP client.
//
// # Which response
//
// An archive may have several responses of a URL: attempts that failed, 304, repeats after a crash,
// robots.txt of several days. [Exchanges.Do] takes the newest response that settles the URL. Without
// one it takes the newest 304. So the crawl has the result of the recorded crawl, and not its
// troubles: it does not try again and does not wait.
//
//	answer          as it was recorded: page, redirect, 404, or an error of the body
//	304             as it was recorded
//	not_archived    there is no response, or none that can be read
//	archived_failure there are only responses after which a crawl tries again, such as 503
//
// The last two cost a host, a domain and an address nothing (package politeness).
//
// If there is no response at all, the page of a twin is taken: of the other scheme, or with or without
// www. Which of these a crawl keeps depends on the order of its requests, and a replay has another order.
//
// The body of a check is that of a page, but it may have been left out. So the response of a check
// is taken for a page only if there is no other.
//
// A body is cut, or left out, as the present definition of the crawl says, so that --max-body and
// --accept can be tried. What the recorded crawl has cut or left out is not there.
//
// # Time
//
// Exchange.Started is the time of the replay, by which the scheduler decides. Exchange.Recorded is
// the time of the recorded exchange, which pages have as fetched_at.
//
// # Failure
//
// If the archive cannot be reached, the exchange is a local_error, and its URL is tried again. A
// damaged record is skipped: the next best response is taken.
package replay
