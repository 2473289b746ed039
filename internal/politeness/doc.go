// Package politeness computes how long to wait between requests to a server, how many to
// make in one visit, how long to wait after an error, and when to stop.
//
// It is pure. Times and durations come in, decisions come out. Nothing here reads a clock or draws
// a random number, and only a Witness has a state. The frontier keeps the numbers in its ledger,
// fetch keeps the delay on its own clock, and a Witness in fetch counts the requests that began too
// early.
//
// # Delay and visits
//
// A visit is several requests to one domain, made one after another with a
// delay between the end of one and the start of the next. The delay is the
// longest of what the user configured, what robots.txt asks for (Crawl-delay)
// and a multiple of the time the server needed last. A visit takes about 30 s.
//
// # Errors
//
// Judge says what an outcome means for the URL (settled, or tried again) and for its
// server (it answered, it failed, or neither). It also says what waits because of a failure:
//
//	origin  no connection could be made: refused, timed out, TLS
//	host    it did not answer, or not to the end; it answered 5xx, 429 or 503
//	URL     it loses an attempt, except if the host asked for time (429, 503)
//
// A request that reached no server says nothing about it and costs no delay. The status of
// an error decides, even if its page could not be read. Failures in a row double the wait.
// Five open the breaker, which lets one probe through from time to time. An answer closes
// it. docs/outcomes.md has the table, and testdata/verdicts.txt all of Verdict.
package politeness
