package frontier

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// host is the record of one host. All origins of the host share it. A host with the zero value
// has no record.
type host struct {
	breaker politeness.Breaker
	// No request goes out before waitMS. sinceMS is the time of the first failure since the last
	// answer.
	waitMS, sinceMS int64
	// missing: the name of the host does not exist. If refuse is empty, one more look-up at
	// waitMS has to confirm this.
	missing bool
	// refuse is the reason with which URLs are settled until waitMS.
	refuse string
	// answeredURL is the URL of a page that was fetched. Checks ask for it.
	answeredURL string
	// brokenPages counts checks in a row that were answered although pages had failed.
	brokenPages uint32
	// throttled counts how often in a row the host asked for fewer requests. pace is what was
	// learnt from that.
	throttled uint32
	pace      politeness.Pace
	// paced: the host asked for fewer requests of all kinds (see throttle), and has not answered
	// since. slowed: the pace has become slower since its last answer.
	paced, slowed bool
	// refusedPage is the hash of the URL of the page that was answered with 503 last since the host
	// has a pace, if that was held against the page alone; 0: none. If the page is fetched, it is
	// not broken: the host refused the request.
	refusedPage uint64
	// silentMS: the host asked for no request before this time (Retry-After). fetch makes none,
	// even if the host answers other requests.
	silentMS int64
	// pageFailed: its last answer was a 5xx that counted against the page alone. doubts is the
	// number for politeness.Doubt.
	pageFailed bool
	doubts     uint32
	// hangsMS: a request to the host hangs, and no other request goes out before this time.
	hangsMS int64
}

// failing tells whether the host has failed since its last answer.
func (h *host) failing() bool { return h.breaker.Failures > 0 }

// refuses tells whether the URLs of the host are settled now, without a request.
func (h *host) refuses(nowMS int64) bool { return h.refuse != "" && waits(h.waitMS, nowMS) }

// waits tells whether a wait is not over. A wait with an absurd end is over.
func waits(untilMS, nowMS int64) bool { return untilMS > nowMS && !absurd(untilMS, nowMS) }

// limit is the number of failures in a row that open the breaker. It is byDefault, doubled for
// each check which showed that pages failed and not the host.
func (h *host) limit(byDefault uint32) uint32 { return byDefault << min(h.brokenPages, maxBrokenPages) }

// maxBrokenPages bounds the doubling of host.limit.
const maxBrokenPages = 6

func (h *host) record(name string) *weftpb.HostHealth {
	return &weftpb.HostHealth{
		Host: name, Failures: h.breaker.Failures, BreakerCycles: h.breaker.Cycles, BreakerOpen: h.breaker.Open,
		WaitMs: h.waitMS, FailingSinceMs: h.sinceMS, Missing: h.missing, Refuse: h.refuse,
		AnsweredUrl: h.answeredURL, BrokenPages: h.brokenPages, Throttled: h.throttled, LearntDelayMs: h.pace.LearntMS,
		HangsUntilMs: h.hangsMS, Answers: h.pace.Answers, Paced: h.paced, SilentUntilMs: h.silentMS,
		PageFailed: h.pageFailed, Doubts: h.doubts, SteadyAnswers: h.pace.Steady, Slowed: h.slowed, RefusedPage: h.refusedPage,
	}
}

func hostOfRecord(r *weftpb.HostHealth) host {
	return host{
		breaker: politeness.Breaker{Failures: r.Failures, Cycles: r.BreakerCycles, Open: r.BreakerOpen},
		waitMS:  r.WaitMs, sinceMS: r.FailingSinceMs, missing: r.Missing, refuse: r.Refuse,
		answeredURL: r.AnsweredUrl, brokenPages: r.BrokenPages, throttled: r.Throttled,
		pace:    politeness.Pace{LearntMS: r.LearntDelayMs, Answers: r.Answers, Steady: r.SteadyAnswers},
		hangsMS: r.HangsUntilMs, paced: r.Paced, slowed: r.Slowed, silentMS: r.SilentUntilMs,
		pageFailed: r.PageFailed, doubts: r.Doubts, refusedPage: r.RefusedPage,
	}
}

func (h *host) fields(f *kv.Fields) {
	failing := h.breaker.Failures > 0
	hangs, counted, silent, doubted := h.hangsMS != 0, h.pace.Answers != 0, h.silentMS != 0, h.doubts != 0
	steady, refused := h.pace.Steady != 0, h.refusedPage != 0
	f.Bools(&h.breaker.Open, &h.missing, &failing, &hangs, &h.paced, &counted, &silent, &h.pageFailed, &doubted, &steady, &h.slowed, &refused)
	f.Int(&h.waitMS)
	f.String(&h.refuse)
	f.String(&h.answeredURL)
	if failing {
		f.Uint32(&h.breaker.Failures)
		f.Uint32(&h.breaker.Cycles)
		f.Int(&h.sinceMS)
		f.Uint32(&h.throttled)
	}
	f.Uint32(&h.brokenPages)
	f.Uint32(&h.pace.LearntMS)
	if hangs {
		f.Int(&h.hangsMS)
	}
	if counted {
		f.Uint32(&h.pace.Answers)
	}
	if silent {
		f.Int(&h.silentMS)
	}
	if doubted {
		f.Uint32(&h.doubts)
	}
	if steady {
		f.Uint32(&h.pace.Steady)
	}
	if refused {
		f.Uint64(&h.refusedPage)
	}
}

func (h *host) encode() []byte { return kv.Encode(16+len(h.refuse)+len(h.answeredURL), h.fields) }

func decodeHost(b []byte) (*host, error) {
	h := &host{}
	if b == nil {
		return h, nil
	}
	return h, kv.Decode(b, h.fields)
}

// host returns the record of a host. Only changeHost may change it.
func (x *fold) host(name string) *host {
	if h, ok := x.hosts[name]; ok {
		return h
	}
	h, err := decodeHost(x.store.Get(x.keys.host(name)))
	if err != nil {
		x.fail(fmt.Errorf("read host %s: %w", name, err))
	}
	if x.hosts == nil {
		x.hosts = map[string]*host{}
	}
	x.hosts[name] = h
	return h
}

// changeHost folds the new record of a host, and moves the origins of the host to their places.
func (x *fold) changeHost(r *weftpb.HostHealth) {
	h, after := x.host(r.GetHost()), hostOfRecord(r)
	if *h == after {
		return
	}
	before := *h
	*h = after
	for _, name := range x.originsOf(r.Host) {
		o := x.origins[name]
		x.g.down += o.downURLs(h) - o.downURLs(&before)
		x.countUp(o.upURLs(&before), o.upURLs(h))
		x.place(name, o)
		x.touch(name)
	}
	if x.changedHosts == nil {
		x.changedHosts = map[string]bool{}
	}
	x.changedHosts[r.Host] = true
}

// originsOf returns the names of the known origins of a host.
func (x *fold) originsOf(host string) (names []string) {
	known := func(name string) {
		if o, _ := x.origin(name); o.id > 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, scheme := range []string{"http://", "https://"} {
		known(scheme + host)
		for key := range kv.Range(x.store, x.keys.origin(scheme+host+":"), x.keys.origin(scheme+host+";")) {
			known(string(key[len(x.keys.origin("")):]))
		}
	}
	for name := range x.origins {
		if urls.HostOf(name) == host {
			known(name)
		}
	}
	slices.Sort(names)
	return names
}

// HostState is the state of a host, for people.
type HostState struct {
	Host string
	// URLs is the number of URLs in the queues and retries of its origins.
	URLs uint64
	// Failures is the number of failures in a row, since Since. Down: there are so many that only
	// probes go out. No request goes out before WaitAt. Refuse is the reason with which URLs are
	// settled until then.
	Failures      uint32
	Down          bool
	Since, WaitAt time.Time
	Refuse        string
	// Missing: the name of the host does not exist. One look-up said so; if Refuse is set, two
	// did.
	Missing bool
	// Throttled is how often in a row the host asked for fewer requests. Learnt is the delay
	// between its requests that was learnt from that.
	Throttled uint32
	Learnt    time.Duration
	// BrokenPages: the host answers, and some of its pages fail.
	BrokenPages bool
	// HangsUntil: a request to the host hangs, and no other request goes out before this time.
	HangsUntil time.Time
	// SilentUntil: it asked for no request before (Retry-After).
	SilentUntil time.Time
}

// Hosts returns the hosts of a domain, in the order of their names.
func (f *Frontier) Hosts(domain string, now time.Time) ([]HostState, error) {
	x, err := openFold(f.store, f.opts.Partition, domain, 0, now.UnixMilli())
	if err != nil {
		return nil, err
	}
	byName := map[string]*HostState{}
	lower := x.keys.origin("")
	for key := range kv.Range(f.store, lower, x.keys.make(originKind+1, 0)) {
		name := string(key[len(lower):])
		o, _ := x.origin(name)
		h := x.host(urls.HostOf(name))
		s := byName[urls.HostOf(name)]
		if s == nil {
			s = &HostState{
				Host: urls.HostOf(name), Failures: h.breaker.Failures, Since: moment(h.sinceMS), WaitAt: moment(max(h.waitMS, h.hangsMS, h.silentMS)),
				Refuse: h.refuse, Missing: h.missing, Throttled: h.throttled, Learnt: h.pace.Delay(), BrokenPages: h.brokenPages > 0,
				HangsUntil: moment(h.hangsMS), SilentUntil: moment(h.silentMS),
			}
			byName[s.Host] = s
		}
		s.URLs += o.held()
		if o.down(h) {
			s.Down = true
			if s.Since.IsZero() {
				s.Since = moment(max(o.health.sinceMS, o.failingMS))
			}
			if at := moment(max(h.waitMS, h.silentMS, o.health.waitMS, o.retryMS)); at.After(s.WaitAt) {
				s.WaitAt = at
			}
			s.Failures = max(s.Failures, o.health.breaker.Failures, o.failures)
		}
	}
	states := make([]HostState, 0, len(byName))
	for _, s := range byName {
		states = append(states, *s)
	}
	slices.SortFunc(states, func(a, b HostState) int { return strings.Compare(a.Host, b.Host) })
	return states, x.err
}

// Down returns how many URLs wait for each host that is down.
func (f *Frontier) Down() map[string]int64 {
	down := map[string]int64{}
	if g, err := readGauges(f.store); err != nil || g.down == 0 {
		return down
	}
	f.Domains(func(domain string) bool {
		hosts, err := f.Hosts(domain, time.Time{})
		for _, h := range hosts {
			if h.Down && h.URLs > 0 {
				down[h.Host] = int64(h.URLs)
			}
		}
		return err == nil
	})
	return down
}

// Opened returns the number of breakers that an event opens. The event must not be folded yet.
func (f *Frontier) Opened(domain string, ev *weftpb.Scheduled) (n int) {
	k := keysOf(domain)
	for _, r := range ev.GetHosts() {
		if h, err := decodeHost(f.store.Get(k.host(r.Host))); r.BreakerOpen && err == nil && !h.breaker.Open {
			n++
		}
	}
	for _, r := range ev.GetHealth() {
		if o, err := decodeOrigin(f.store.Get(k.origin(r.Origin))); r.BreakerOpen && err == nil && !o.health.breaker.Open {
			n++
		}
	}
	return n
}
