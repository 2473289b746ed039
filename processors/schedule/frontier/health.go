package frontier

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// The table of politeness.Judge says which unit waits because of a failure: the origin, if no
// connection to it could be made, and otherwise the host. This unit waits alone. The delay of
// the domain does not change.

// health counts the failures to connect to one origin. The zero value has no failures.
type health struct {
	breaker politeness.Breaker
	// failedMS is the time of the last failure, sinceMS of the first since the last answer.
	// Nothing is released before waitMS.
	failedMS, sinceMS, waitMS int64
	// refuse is the reason with which URLs are settled until waitMS.
	refuse string
}

func (h *health) fields(f *kv.Fields) {
	f.Uint32(&h.breaker.Failures)
	f.Uint32(&h.breaker.Cycles)
	f.Bools(&h.breaker.Open)
	f.Int(&h.failedMS)
	f.Int(&h.sinceMS)
	f.Int(&h.waitMS)
	f.String(&h.refuse)
}

func (h health) record(origin string) *weftpb.OriginHealth {
	return &weftpb.OriginHealth{
		Origin: origin, Failures: h.breaker.Failures, BreakerCycles: h.breaker.Cycles, BreakerOpen: h.breaker.Open,
		FailedMs: h.failedMS, FailingSinceMs: h.sinceMS, WaitMs: h.waitMS, Refuse: h.refuse,
	}
}

func healthOfRecord(r *weftpb.OriginHealth) health {
	return health{
		breaker:  politeness.Breaker{Failures: r.GetFailures(), Cycles: r.GetBreakerCycles(), Open: r.GetBreakerOpen()},
		failedMS: r.GetFailedMs(), sinceMS: r.GetFailingSinceMs(), waitMS: r.GetWaitMs(), refuse: r.GetRefuse(),
	}
}

// changeHealth folds the health of an origin.
func (x *fold) changeHealth(r *weftpb.OriginHealth) {
	if o, heard := x.origin(r.GetOrigin()); heard && o.health == healthOfRecord(r) {
		return
	}
	x.change(r.GetOrigin(), func(o *origin) { o.health = healthOfRecord(r) })
}

// setHost decides the new record of a host.
func (p *plan) setHost(name string, h host) {
	p.ev.Hosts = slices.DeleteFunc(p.ev.Hosts, func(r *weftpb.HostHealth) bool { return r.Host == name })
	p.ev.Hosts = append(p.ev.Hosts, h.record(name))
	p.changeHost(h.record(name))
}

// setHealth decides the new health of an origin.
func (p *plan) setHealth(name string, h health) {
	p.ev.Health = slices.DeleteFunc(p.ev.Health, func(r *weftpb.OriginHealth) bool { return r.Origin == name })
	p.ev.Health = append(p.ev.Health, h.record(name))
	p.changeHealth(h.record(name))
}

// answer is what an origin answered.
type answer struct {
	// url is the URL of the crawl that was answered; it is empty if the request was for something
	// else. It was answered with 429 or 503 before, so many times. fetched: the answer was a page.
	url      string
	refusals uint32
	fetched  bool
	check    bool
	// startedMS is when the request was made.
	startedMS int64
}

// answered notes that an origin answered.
func (p *plan) answered(name string, a answer) {
	host := urls.HostOf(name)
	before := p.host(host)
	after := *before
	after.breaker, after.waitMS, after.sinceMS = before.breaker.Answered(), 0, 0
	after.missing, after.refuse, after.throttled, after.paced, after.slowed = false, "", 0, false, false
	after.pageFailed, after.doubts = false, politeness.Trust(before.doubts)
	if after.pace = p.paceAfter(before, a); after.pace != (politeness.Pace{}) {
		after.waitMS = a.startedMS + int64(after.pace.LearntMS)
	}
	if after.pace == (politeness.Pace{}) || before.refused(a) {
		after.refusedPage = 0
	}
	if !waits(before.silentMS, p.nowMS) {
		after.silentMS = 0
	}
	if a.fetched && after.answeredURL == "" {
		after.answeredURL = a.url
	}
	switch {
	case a.check && before.failing():
		after.brokenPages++
	case a.fetched:
		after.brokenPages = 0
	}
	if after != *before {
		p.setHost(host, after)
	}
	if o, heard := p.origin(name); heard && o.health != (health{}) {
		p.setHealth(name, health{})
	}
}

// paceAfter returns the pace of a host after it answered.
func (p *plan) paceAfter(h *host, a answer) politeness.Pace {
	switch since := time.Duration(p.nowMS-h.sinceMS) * time.Millisecond; {
	case !h.slowed && !h.paced:
		if h.refused(a) {
			return h.pace.Proved(a.refusals)
		}
		return h.pace.Answered(p.domainDelay())
	case !h.paced && (since > longestSilentPace || a.check && h.brokenPages > 0):
		return h.pace.Resumed(0)
	default:
		return h.pace.Resumed(politeness.Refusal(since, max(h.wait(0), h.pace.Delay()), h.silentMS > h.sinceMS))
	}
}

// refused tells whether an answer proves that the host refused a request for the same page before.
func (h *host) refused(a answer) bool {
	return h.refusedPage != 0 && a.url != "" && h.refusedPage == hashOf(a.url)
}

// hashOf is a hash of a URL, which is not 0.
func hashOf(url string) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(url))
	return max(sum.Sum64(), 1)
}

// longestSilentPace is the longest time for which a host may have answered 503 because of the
// pace, if it did not say that it asks for fewer requests (paced). A host that answered 503 for
// longer was out of order, and the pace was right. The pace was also right if the host answers a
// second check and no page was fetched since the first: then the pages are broken.
const longestSilentPace = 3 * time.Minute

// silence notes that a host asked for no request for some time (Retry-After). It holds for all
// its origins, and no answer ends it: fetch remembers it, too.
func (p *plan) silence(name string, wait time.Duration) {
	if until := p.nowMS + wait.Milliseconds(); wait > 0 && until > p.host(name).silentMS {
		h := *p.host(name)
		h.silentMS = until
		p.setHost(name, h)
	}
}

// failedOrigin notes that no connection to an origin could be made.
func (p *plan) failedOrigin(name string, probe bool, delay time.Duration) {
	o, heard := p.origin(name)
	if !heard {
		return // only a referral asked this origin
	}
	h := o.health
	h.breaker = h.breaker.Failed(probe, p.f.opts.BreakerFailures)
	h.failedMS, h.waitMS = p.nowMS, p.nowMS+h.breaker.Wait(delay).Milliseconds()
	if h.sinceMS == 0 {
		h.sinceMS = p.nowMS
	}
	h.refuse = p.givesUp(h.breaker, h.sinceMS)
	p.setHealth(name, h)
	if host := *p.host(urls.HostOf(name)); host.missing {
		host.missing, host.refuse, host.waitMS = false, "", 0
		p.setHost(urls.HostOf(name), host)
	}
}

// failedPage notes that a page of a host answered 5xx, and again that it had failed before. It
// tells whether that counts against the page alone: the host does not wait then. throttled: the
// answer was 503.
func (p *plan) failedPage(name, url string, again, throttled bool) (alone bool) {
	h := *p.host(name)
	if !again {
		h.doubts = politeness.Doubt(h.doubts)
	}
	alone = !h.pageFailed && !h.failing() && !politeness.Doubtful(h.doubts)
	h.pageFailed = h.pageFailed || alone
	if alone && throttled && h.pace != (politeness.Pace{}) {
		h.refusedPage = hashOf(url)
	}
	p.setHost(name, h)
	return alone
}

// countPage counts the failure of a page against its host, too, because the next request
// failed.
func (h *host) countPage() {
	if h.pageFailed {
		h.pageFailed, h.breaker.Failures = false, h.breaker.Failures+1
	}
}

// failedHost notes that a host failed: it did not answer, or said that it cannot.
func (p *plan) failedHost(name string, probe, check bool, delay, retryAfter time.Duration) {
	h := *p.host(name)
	told := h.throttled > 0
	h.throttled, h.paced, h.slowed = 0, false, false
	h.countPage()
	if check {
		h.brokenPages = 0
	}
	h.breaker = h.breaker.Failed(probe, h.limit(p.f.opts.BreakerFailures))
	p.hostWaits(name, h, told, max(h.wait(delay), retryAfter))
}

// hostWaits lets a host that has just failed wait. told: it waits because it asked for fewer
// requests, and another request may have been told to wait longer.
func (p *plan) hostWaits(name string, h host, told bool, wait time.Duration) {
	if h.sinceMS == 0 {
		h.sinceMS = p.nowMS
	}
	until := p.nowMS + max(wait, h.pace.Delay()).Milliseconds()
	if told {
		until = max(until, h.waitMS)
	}
	h.waitMS, h.missing = until, false
	h.refuse = p.givesUp(h.breaker, h.sinceMS)
	if h.paced && h.throttled < politeness.MostThrottled {
		h.refuse = ""
	}
	p.setHost(name, h)
}

// wait is how long a host that has just failed gets no request. The wait before the first
// check is short, so a host that answers checks is not slowed down by its broken pages. If they answer
// 503, the pace holds in any case (see hostWaits).
func (h *host) wait(delay time.Duration) time.Duration {
	switch {
	case h.paced:
		return max(delay, politeness.ThrottleWait(h.throttled))
	case h.throttled > 0 && h.brokenPages == 0:
		return max(h.breaker.Wait(delay), politeness.ThrottleWait(h.throttled))
	case h.checks() && h.breaker.Cycles == 1:
		return max(delay, politeness.FirstBackoff)
	case !h.breaker.Open && h.brokenPages > 0:
		return delay
	}
	return h.breaker.Wait(delay)
}

// checks tells whether the next probe is a check: a request for a page that was fetched
// before. Every other probe is a URL that waits, because that page may be broken too.
func (h *host) checks() bool {
	return h.breaker.Open && h.breaker.Cycles%2 == 1 && h.answeredURL != "" && !h.paced
}

// checked tells whether a check failed, so that the host is down, and not its pages.
func (h *host) checked() bool {
	return h.breaker.Open && h.breaker.Cycles > 1 && h.answeredURL != "" && h.brokenPages == 0
}

// throttle notes that a host asked for fewer requests. paced: the host means all requests, and
// it said so. Such a host is there. It is given up only if it has refused as many requests in a
// row as make one URL end. teaches: the pace becomes slower, but only once until the host answers
// again.
func (p *plan) throttle(name string, probe, check, paced, teaches bool, delay, retryAfter time.Duration) {
	h := *p.host(name)
	if check {
		h.brokenPages = 0
	}
	h.throttled = min(h.throttled, 1<<20) + 1
	h.countPage()
	if teaches && !h.slowed && !h.paced {
		h.pace, h.slowed, h.refusedPage = h.pace.Refused(delay, p.requestsOfDay()), true, 0
	}
	h.paced = h.paced || paced
	limit := h.limit(p.f.opts.BreakerFailures)
	if h.paced {
		limit = max(limit, politeness.ThrottledDown)
	}
	h.breaker = h.breaker.Failed(probe, limit)
	p.hostWaits(name, h, h.throttled > 1, max(h.wait(delay), retryAfter))
}

// requestsOfDay is the number of requests to the domain on this day, with those whose outcomes the
// event has.
func (p *plan) requestsOfDay() uint64 {
	n := p.d.day.today(p.nowMS).requests
	for _, s := range p.ev.Settled {
		if s.Attempt != nil {
			n++
		}
	}
	return n
}

// nameMissing notes that the name of a host was not found. The name is looked up once more. If
// it is not found again, the host's URLs are refused.
func (p *plan) nameMissing(name, reason string) {
	h := *p.host(name)
	switch {
	case waits(h.waitMS, p.nowMS) && h.missing:
		return // the same look-up
	case h.missing:
		h.refuse, h.waitMS = reason, p.nowMS+politeness.RefusedFor.Milliseconds()
	default:
		h.breaker, h.sinceMS, h.throttled, h.pageFailed = politeness.Breaker{}, 0, 0, false
		h.paced, h.slowed = false, false
		h.missing, h.refuse, h.waitMS = true, "", p.nowMS+politeness.ConfirmAfter.Milliseconds()
	}
	p.setHost(name, h)
}

// givesUp returns the reason with which URLs are settled until the next probe. It is empty if
// the URLs wait for the probe.
func (p *plan) givesUp(b politeness.Breaker, sinceMS int64) string {
	if b.Open && p.nowMS-sinceMS >= p.f.opts.GiveUpAfter.Milliseconds() {
		return ReasonBreaker
	}
	return ""
}

// probed notes that one request is released to an origin that failed, or whose host failed or
// asked for fewer requests. Until this request is settled, the next one waits as if it had
// failed.
func (p *plan) probed(name string, delay time.Duration) {
	if h := *p.host(urls.HostOf(name)); h.failing() || h.pace.LearntMS > 0 {
		h.waitMS, h.refuse = p.nowMS+h.probeWait(delay).Milliseconds(), ""
		p.setHost(urls.HostOf(name), h)
	}
	if o, _ := p.origin(name); o.health != (health{}) {
		h := o.health
		h.waitMS, h.refuse = p.nowMS+h.probeWait(delay).Milliseconds(), ""
		p.setHealth(name, h)
	}
}

// probeWait is how long the next request waits while a probe is out. The wait before a first
// check is short. While the check is out, the next request waits for longer, because otherwise a
// second check would go out.
func (h *host) probeWait(delay time.Duration) time.Duration {
	wait := h.wait(delay)
	if h.checks() {
		wait = h.breaker.Wait(delay)
	}
	return max(wait, h.pace.Delay()+politeness.FirstBackoff)
}

func (h *health) probeWait(delay time.Duration) time.Duration {
	return max(h.breaker.Wait(delay), politeness.FirstBackoff)
}

// unprobed notes that a probe was not made, or that it was cut off. The next request waits for the
// outcome of the probe (see probed), so this wait now ends soon. Waits for another reason go on.
func (p *plan) unprobed(name string, v visit, cutOff bool) {
	delay := milliseconds(v.delayMS)
	releasedMS := v.leaseMS - politeness.Lease(int(v.count), delay).Milliseconds()
	soonMS := p.nowMS + politeness.FirstBackoff.Milliseconds()
	if h := *p.host(urls.HostOf(name)); h.waitMS == releasedMS+h.probeWait(delay).Milliseconds() && h.waitMS > soonMS {
		if h.waitMS = soonMS; cutOff { // the server may have seen it
			h.waitMS = max(soonMS, p.nowMS+int64(h.pace.LearntMS))
		}
		p.setHost(urls.HostOf(name), h)
	}
	o, _ := p.origin(name)
	if h := o.health; h.waitMS == releasedMS+h.probeWait(delay).Milliseconds() && h.waitMS > soonMS {
		h.waitMS = soonMS
		p.setHealth(name, h)
	}
}
