package webserver

import (
	"net/http"
	"slices"
	"time"
)

// Sickness is one way in which a host fails its clients.
type Sickness struct {
	// Kind is the name of the sickness, and the first label of its hosts.
	Kind string
	// Does says what the host does.
	Does string
	// Yields says which pages a crawler should have in the end.
	Yields Yield
	// Wants says what a crawler should do, in words.
	Wants string

	// tls: its URLs begin with https.
	tls bool
	// name is how the name server answers for it.
	name int
	// listen opens the port of the host at an address; nil: as for a healthy host.
	listen func(s *SickServer, h *Host, address string) error
	// answer replaces the answer of a healthy host; nil: the answer stays. n is the number
	// of the page, or -1 if the path is not a page.
	answer func(s *SickServer, h *Host, n int, path string, healthy Response) Response
}

// Yield is how many pages of a host a crawler should have in the end.
type Yield int

// The yields of hosts.
const (
	YieldsNothing Yield = iota
	// YieldsSome: the pages that are not broken.
	YieldsSome
	YieldsAll
)

// Dead is the kind of names that do not exist.
const Dead = "dead"

// frontBroken is how many broken pages are in front of the good ones.
const frontBroken = 40

// Sicknesses is the table of all kinds of hosts that are not healthy.
func Sicknesses() []Sickness {
	return []Sickness{
		{
			Kind: "refused", Does: "refuses connections", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: listenNowhere,
		},
		{
			Kind: "connect-hangs", Does: "does not answer the first packet of a connection", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: listenFull,
		},
		{
			Kind: "resets", Does: "accepts connections and resets them", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: raw((*SickServer).reset),
		},
		{
			Kind: "silent", Does: "accepts requests and never answers", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: raw((*SickServer).hold),
		},
		{
			Kind: "headers-only", Does: "answers with a header, and no byte of the body follows", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: raw((*SickServer).headersOnly),
		},
		{
			Kind: "slow-body", Does: "sends a body byte by byte (SickOptions.SlowEvery) and never ends it", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", listen: raw((*SickServer).slowBody),
		},
		{
			Kind: "tls-handshake", Does: "answers each TLS handshake with an alert", Yields: YieldsNothing, tls: true,
			Wants: "the origin waits, and other origins of the host do not", listen: raw((*SickServer).refuseHandshake),
		},
		{
			Kind: "tls-certificate", Does: "has the certificate of another name, by an unknown authority", Yields: YieldsNothing, tls: true,
			Wants: "the origin waits, and other origins of the host do not", listen: raw((*SickServer).wrongCertificate),
		},
		{
			Kind: "status-500", Does: "answers 500 for each page", Yields: YieldsNothing,
			Wants: "probes at growing waits; the URLs stay queued", answer: broken(func(int) bool { return true }),
		},
		{
			Kind: "some-500", Does: "answers 500 for each third page", Yields: YieldsSome,
			Wants: "all good pages; broken pages end by their own attempts", answer: broken(func(n int) bool { return n%3 == 1 }),
		},
		{
			Kind: "front-500", Does: "answers 500 for the first 40 pages that its root links to", Yields: YieldsSome,
			Wants:  "all good pages; broken pages end by their own attempts",
			answer: broken(func(n int) bool { return n > 0 && n <= frontBroken }),
		},
		{
			Kind: "limit-429", Does: "permits SickOptions.Permits requests in a Window and answers the others with 429", Yields: YieldsAll,
			Wants: "about as many requests as are permitted, and all pages", answer: limited(false),
		},
		{
			Kind: "limit-429-retry-after", Does: "the same, with the wait as Retry-After", Yields: YieldsAll,
			Wants: "no request before Retry-After, and all pages", answer: limited(true),
		},
		{
			Kind: "busy-503-retry-after", Does: "answers all requests with 503 and Retry-After until SickOptions.BusyUntil, then it is healthy", Yields: YieldsAll,
			Wants: "no request before Retry-After, and all pages", answer: busy,
		},
		{
			Kind: "outage", Does: "refuses connections from SickOptions.OutageFrom to OutageUntil, else it is healthy", Yields: YieldsAll,
			Wants: "probes at growing waits, and all pages", listen: listenWithOutage,
		},
		{
			Kind: "robots-503", Does: "answers 503 for robots.txt, and has pages", Yields: YieldsNothing,
			Wants: "no page is asked for (RFC 9309 section 2.3.1.4); the URLs stay queued", answer: robotsBroken,
		},
		{
			Kind: "name-servfail", Does: "its name server answers SERVFAIL", Yields: YieldsNothing, name: answersServerFailure,
			Wants: "look-ups at growing waits; the domain loses no time", listen: listenNowhere,
		},
		{
			Kind: "name-silent", Does: "its name server does not answer", Yields: YieldsNothing, name: answersNever,
			Wants: "look-ups at growing waits; the domain loses no time", listen: listenNowhere,
		},
		{
			Kind: Dead, Does: "its name does not exist (NXDOMAIN)", Yields: YieldsNothing, name: answersNoSuchName,
			Wants: "a second look-up, then its URLs end as dns_not_found; the domain loses no time", listen: listenNowhere,
		},
	}
}

// good reports whether a crawler should have page n.
func (k Sickness) good(n int) bool {
	switch k.Yields {
	case YieldsAll:
		return true
	case YieldsSome:
		return k.answer(nil, nil, n, "", Response{Status: http.StatusOK}).Status == http.StatusOK
	}
	return false
}

// broken answers 500 for the pages for which is returns true.
func broken(is func(n int) bool) func(*SickServer, *Host, int, string, Response) Response {
	return func(_ *SickServer, _ *Host, n int, _ string, healthy Response) Response {
		if n >= 0 && is(n) {
			return text(http.StatusInternalServerError, "broken\n")
		}
		return healthy
	}
}

func robotsBroken(_ *SickServer, _ *Host, _ int, path string, healthy Response) Response {
	if path == robotsPath {
		return text(http.StatusServiceUnavailable, "broken\n")
	}
	return healthy
}

func busy(s *SickServer, _ *Host, _ int, _ string, healthy Response) Response {
	left := s.options.BusyUntil - time.Since(s.started)
	if left <= 0 {
		return healthy
	}
	r := text(http.StatusServiceUnavailable, "busy\n")
	r.RetryAfter = left
	return r
}

// limited permits SickOptions.Permits requests in the last Window. Requests that were not
// permitted do not count.
func limited(retryAfter bool) func(*SickServer, *Host, int, string, Response) Response {
	return func(s *SickServer, h *Host, _ int, _ string, healthy Response) Response {
		h.mu.Lock()
		defer h.mu.Unlock()
		now := time.Now()
		h.permitted = slices.DeleteFunc(h.permitted, func(at time.Time) bool { return now.Sub(at) >= s.options.Window })
		if len(h.permitted) < s.options.Permits {
			h.permitted = append(h.permitted, now)
			return healthy
		}
		r := text(http.StatusTooManyRequests, "too many requests\n")
		if retryAfter {
			r.RetryAfter = s.options.Window - now.Sub(h.permitted[0])
		}
		return r
	}
}
