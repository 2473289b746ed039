package politeness

import (
	"strconv"
	"time"
)

// Health is what an outcome says about a server.
type Health uint8

const (
	// Unknown means that nothing was learned about the server.
	Unknown Health = iota
	// Answered means that the server is there and answers.
	Answered
	// Failed means that the server does not answer, or says that it cannot.
	Failed
)

// Unit is what waits because of a failure. An answer counts for both units.
type Unit uint8

const (
	// Host means that all origins of the host wait.
	Host Unit = iota
	// Origin means that only one scheme, host and port waits, because no connection to it
	// could be made.
	Origin
)

// Verdict is what an outcome means.
type Verdict struct {
	// Reason names the end of the URL's journey if it ends here: "fetched",
	// "not_modified" or a class of errors.
	Reason string
	// Health is what the outcome says about the server, Unit what waits because of a failure.
	Health Health
	Unit   Unit
	// Retry: the URL may be tried again (see Retry). When it has no attempts left, its
	// reason is GaveUp(Reason).
	Retry bool
	// Unmade: there was no attempt; the URL goes back to where it was.
	Unmade bool
	// Unreached: the attempt reached no server, so no delay follows it.
	Unreached bool
	// Missing: the host's name does not exist, as one look-up said. See ConfirmAfter.
	Missing bool
	// Page: perhaps only the page failed, and not the server. See Doubt.
	Page bool
	// Throttled is not 0 if the server asked for fewer requests. That is not a failed
	// attempt of the URL. The number is how often a URL may get such an answer.
	Throttled uint32
}

// classes are the verdicts on errors, by the class that fetch names.
var classes = map[string]Verdict{
	// The URL is tried again, and its origin waits.
	"connect_refused": {Retry: true, Health: Failed, Unit: Origin},
	"connect_timeout": {Retry: true, Health: Failed, Unit: Origin},
	"connect_error":   {Retry: true, Health: Failed, Unit: Origin},
	"tls_error":       {Retry: true, Health: Failed, Unit: Origin},
	// The URL is tried again, and its host waits.
	"first_byte_timeout": {Retry: true, Health: Failed},
	"total_timeout":      {Retry: true, Health: Failed},
	"slow_body":          {Retry: true, Health: Failed},
	"reset":              {Retry: true, Health: Failed},
	"no_response":        {Retry: true, Health: Failed},
	"bad_response":       {Retry: true, Health: Failed},
	"body_truncated":     {Retry: true, Health: Failed},
	// No server was reached.
	"dns_error":     {Retry: true, Unreached: true, Health: Failed},
	"dns_not_found": {Retry: true, Unreached: true, Missing: true},
	// The URL is tried again.
	"local_error":      {Retry: true}, // our fault
	"stale_connection": {Retry: true}, // the next connection is new
	// The URL ends.
	"tls_certificate":  {Health: Failed, Unit: Origin},
	"header_too_large": {Health: Answered},
	"bad_encoding":     {Health: Answered},
	"unwanted_type":    {Health: Answered},
	"address_refused":  {Unreached: true},
	"port_refused":     {Unreached: true},
	"not_archived":     {Unreached: true},
	"archived_failure": {Unreached: true},
	"invalid_url":      {},
	"panic":            {},
	// The URL goes back to where it was.
	"lease_lost": {Unmade: true},
	"canceled":   {Unmade: true},
}

// bodily are the classes of exchanges whose header was read, if there is a
// status, and whose body was not.
var bodily = map[string]bool{
	"total_timeout":  true,
	"slow_body":      true,
	"body_truncated": true,
	"bad_encoding":   true,
	"local_error":    true,
}

const (
	// MostThrottled and mostUnavailable are how often a URL may be answered with 429 and
	// with 503. Only a page that always gets such an answer reaches these bounds.
	MostThrottled   = 64
	mostUnavailable = 8
)

// Judge returns the verdict on an exchange with this HTTP status (0: no status) and
// class of errors (empty: no error).
//
// 429 asks for fewer requests (RFC 6585 section 4), and 503 asks for time (RFC 9110 section
// 15.6.4). 5xx say that the host or the page is broken; Doubt tells which. A status above 599
// counts as 5xx (RFC 9110 section 15). 408, 421 and 425 say that the request may be made again, on another
// connection (RFC 9110 sections 15.5.9 and 15.5.20, RFC 8470 section 5.2). Every other status
// is an answer.
//
// If there are both a status and a class, the class wins. The status wins if it is an error and
// only the body failed, because the page of an error is not used. A URL with an unknown class
// is tried again. The name of an unknown class is not used as a reason: reasons are counted, so
// there must be few.
func Judge(status uint32, class string) Verdict {
	if class != "" && (status < 400 || !bodily[class]) {
		v, ok := classes[class]
		if !ok {
			return Verdict{Reason: "other", Retry: true, Health: Failed}
		}
		v.Reason = class
		return v
	}
	switch {
	case status == 304:
		return Verdict{Reason: "not_modified", Health: Answered}
	case status == 408, status == 421, status == 425:
		return Verdict{Reason: "http_" + strconv.Itoa(int(status)), Retry: true, Health: Failed}
	case status == 429:
		return Verdict{Reason: "http_429", Retry: true, Health: Failed, Throttled: MostThrottled}
	case status == 503:
		return Verdict{Reason: "http_5xx", Retry: true, Health: Failed, Page: true, Throttled: mostUnavailable}
	case status >= 500:
		return Verdict{Reason: "http_5xx", Retry: true, Health: Failed, Page: true}
	case status == 0:
		return Verdict{Reason: "other", Retry: true, Health: Failed}
	}
	return Verdict{Reason: "fetched", Health: Answered}
}

// GaveUp names the end of a URL whose attempts all failed for this reason.
func GaveUp(reason string) string { return "gave_up_" + reason }

// retries are the waits after the first, second and third failed attempt.
var retries = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// Retry returns how long after its attempt-th failure (from 1) a URL is tried
// again, and false when it is not tried any more. Retry-After wins when later.
func Retry(attempt uint32, retryAfter time.Duration) (time.Duration, bool) {
	if attempt < 1 || attempt > uint32(len(retries)) {
		return 0, false
	}
	return max(retries[attempt-1], min(retryAfter, MaxRetryAfter)), true
}

// ConfirmAfter is how long after a look-up that found no such name the name is
// looked up again. It must be longer than our resolvers remember the first
// answer (httpclient.Options.DNSNegativeTTL).
const ConfirmAfter = 10 * time.Second

// RefusedFor is how long URLs are refused until the next request tests whether the refusal
// is still right.
const RefusedFor = time.Hour

// RetryRobots returns how long after the failures-th failure in a row (from 1) robots.txt
// of an origin is asked for again: as a URL at first, then after 1 min, doubled each time, at
// most MaxBackoff. Retry-After wins when later.
func RetryRobots(failures uint32, retryAfter time.Duration) time.Duration {
	wait, ok := Retry(failures, 0)
	if last := uint32(len(retries)); !ok {
		wait = double(retries[last-1], max(failures, last+1)-last+1)
	}
	return max(wait, min(retryAfter, MaxRetryAfter))
}
