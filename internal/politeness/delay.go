package politeness

import "time"

const (
	// MaxCrawlDelay is the longest Crawl-delay that is honoured. Longer ones
	// are mistakes as a rule, and would keep a queue for years.
	MaxCrawlDelay = 300 * time.Second
	// MaxDelay is the longest delay that may be configured.
	MaxDelay = time.Hour
	// MaxRetryAfter is the longest Retry-After that is honoured.
	MaxRetryAfter = 24 * time.Hour
	// MaxWait bounds every wait of this package: a domain that is due later
	// than that met a clock that was set back.
	MaxWait = MaxRetryAfter

	// UnmadePause is the least wait after a visit whose fetcher made none of
	// its requests.
	UnmadePause = time.Second

	// MaxVisit is the most requests of one visit.
	MaxVisit = 32
	// MaxHanging is how many requests of a domain may hang while the domain goes on. Each is to
	// another host, and a server with many of these hosts has the limits of its address.
	MaxHanging = 32
	// visitSpan is how long the delays of one visit may add up to.
	visitSpan = 30 * time.Second
	// maxLead is the longest time by which a visit is released early.
	maxLead = 2 * time.Second
)

// Delay returns the time between the end of a response and the next request to
// the same domain. configured is the user's; crawlDelay is what robots.txt asks
// for, cut at MaxCrawlDelay, 0 if nothing; response is how long the server took
// for its last answer. It counts factor times, so that a slow server gets fewer
// requests. A configured delay of 0 says that the user wants no pauses:
// response is ignored then, but Crawl-delay still holds.
func Delay(configured, crawlDelay time.Duration, factor float64, response time.Duration) time.Duration {
	delay := max(configured, min(crawlDelay, MaxCrawlDelay))
	if configured > 0 {
		delay = max(delay, min(time.Duration(factor*float64(response)), MaxDelay))
	}
	return delay
}

// VisitSize returns how many requests one visit makes: as many as fit in 30 s
// of delays, at least 1, at most MaxVisit.
func VisitSize(delay time.Duration) int {
	if delay <= 0 {
		return MaxVisit
	}
	return int(min(max(visitSpan/delay, 1), MaxVisit))
}

// Lead returns how long before the delay is over the next visit may be
// released. The way of a release to its fetcher takes some time, and the
// fetcher waits for the delay itself.
func Lead(delay time.Duration) time.Duration { return min(delay, maxLead) }

// Lease returns the time after which a visit of this many requests is taken
// for lost. It is generous: 90 s for every exchange and five minutes for the
// queue before the fetcher, because a visit released twice is work done twice.
func Lease(requests int, delay time.Duration) time.Duration {
	return time.Duration(requests)*(delay+90*time.Second) + 5*time.Minute
}

// MaxLease bounds Lease.
const MaxLease = MaxVisit*90*time.Second + visitSpan + MaxDelay + 5*time.Minute

// NextRelease returns the earliest time of the domain's next release after a visit that
// ended at end. The delay is waited for only to its lead, because fetch enforces it.
func NextRelease(end time.Time, delay time.Duration) time.Time { return end.Add(delay - Lead(delay)) }

// maxCrowded bounds the rest of a domain because of the budget of its address.
const maxCrowded = 10 * time.Minute

// Crowded returns how long a domain rests because the budget of its address is used up. wait
// is the length of the line for the address.
func Crowded(wait time.Duration) time.Duration { return min(max(wait, 0), maxCrowded) }
