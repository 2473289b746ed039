package sim

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// throttle is how a host bounds the requests that it answers: so many a minute, and none at
// all while a storm lasts. It answers the others with 429.
type throttle struct {
	host      string
	status    int // with which it refuses; 0: 429
	perMinute int // 0: any number
	counts    countedBy
	tells     bool // Retry-After
	storm     time.Duration
	served    []time.Duration // when the requests came that were answered
	refused   int
	// fullAt is when the bucket is full again.
	fullAt time.Duration
}

// countedBy is how a host counts the requests of a minute.
type countedBy string

const (
	lastMinute  countedBy = ""             // those of the minute before
	fixedMinute countedBy = "fixed window" // those of the minute of its clock
	bucket      countedBy = "bucket"       // those that a bucket of as many tokens had, which is refilled
)

// lacks is how long it takes until the host may answer a request.
func (t *throttle) lacks(now time.Duration) time.Duration {
	switch {
	case t.perMinute == 0:
		return 0
	case t.counts == bucket:
		return t.fullAt + time.Minute/time.Duration(t.perMinute) - time.Minute - now
	}
	n := len(t.served) - t.perMinute
	switch {
	case n < 0:
		return 0
	case t.counts == fixedMinute:
		if window := now.Truncate(time.Minute); t.served[n] >= window {
			return window + time.Minute - now
		}
		return 0
	}
	return t.served[n] + time.Minute - now
}

// silence is a time in which a host asked for no request. skips visits came back because of
// it, latest as the last one.
type silence struct {
	fetcher *fetcher // that was told
	until   time.Duration
	skips   int
	latest  *hostqueue.Visit
}

// addThrottles gives some hosts of healthy sites a limit of requests a minute.
func (b *web) addThrottles(rng *rand.Rand) {
	for _, name := range keys(b.hosts) {
		t := b.throttleOf(urls.HostOf(name))
		if t.perMinute == 0 && rng.IntN(2) == 0 {
			t.perMinute, t.tells = 2+rng.IntN(10), rng.IntN(2) == 0
		}
	}
}

func (b *web) throttleOf(host string) *throttle {
	if b.throttles[host] == nil {
		b.throttles[host] = &throttle{host: host}
	}
	return b.throttles[host]
}

// refuses tells whether a host answers a request with 429, and fills that in.
func (t *throttle) refuses(now time.Duration, x *httpclient.Exchange) bool {
	wait := max(t.storm-now, t.lacks(now))
	if wait <= 0 {
		t.served = append(t.served, now)
		if t.perMinute > 0 {
			t.fullAt = max(t.fullAt, now) + time.Minute/time.Duration(t.perMinute)
		}
		return false
	}
	t.refused++
	if x.Status = http.StatusTooManyRequests; t.status != 0 {
		x.Status = t.status
	}
	if t.tells {
		x.RetryAfter = min(wait.Truncate(time.Second)+time.Second, longestRetryAfter)
	}
	return true
}

// longestRetryAfter is told at most. Longer ones are not honoured.
const longestRetryAfter = politeness.MaxRetryAfter

// checkSkipped checks that the scheduler knows which hosts asked for no request: few visits
// come back because of such a host, which fetchers remember. A wall clock that is set forward
// ends the scheduler's wait; the first visit that comes back says how long it lasts.
func (w *world) checkSkipped(f *fetcher, v *hostqueue.Visit, host string) {
	s := w.web.silences[host]
	if s == nil || s.fetcher != f || w.now >= s.until || s.latest == v {
		return
	}
	s.latest = v
	if s.skips++; s.skips > mostSkips {
		w.violate("silence", "visit %s is number %d to %s, which has asked for no request for %v more", v.Id, s.skips, host, s.until-w.now)
	}
}

// mostSkips is how many visits may come back because of one Retry-After: those that were under
// way.
const mostSkips = 5

// checkThrottles checks that hosts with a limit did not refuse many more requests than they
// answered: a few in each minute in which they were asked too fast. TestThrottledHost shows
// that they do not get much fewer requests than they permit.
func (w *world) checkThrottles() {
	if len(w.c.Faults) > 0 || w.c.AddressDelay > 0 || w.c.MaxPages > 0 {
		return
	}
	for _, host := range keys(w.web.throttles) {
		t := w.web.throttles[host]
		n := len(t.served)
		if t.perMinute == 0 || n == 0 {
			continue
		}
		w.count("throttled hosts")
		w.trace("%s permits %d a minute: %d served, %d refused", host, t.perMinute, n, t.refused)
		most := 50 + 13*n
		if t.tells {
			most = 70 + 2*n
		}
		if 10*t.refused > most {
			w.violate("throttled", "%s, which permits %d requests a minute, refused %d and answered %d", host, t.perMinute, t.refused, n)
		}
	}
}

// silenced notes that a fetcher read a Retry-After.
func (b *web) silenced(f *fetcher, url string, wait time.Duration) {
	if wait == 0 {
		return
	}
	s := &silence{fetcher: f, until: b.w.now + wait}
	if before := b.silences[urls.HostOf(url)]; before != nil {
		s.until = max(s.until, before.until)
	}
	b.silences[urls.HostOf(url)] = s
}
