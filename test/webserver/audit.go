package webserver

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

const robotsPath = "/robots.txt"

// Expect is what a log is compared with. The zero value expects no page, denies
// nothing and has no delay.
type Expect struct {
	// Pages yields domain and path of every page that must have been fetched.
	Pages iter.Seq2[string, string]
	// Delay between the end of a response and the start of the next request to the
	// domain; nil: no delay.
	Delay func(domain string) time.Duration
	// Denied reports whether robots.txt denies the path; nil: nothing is denied.
	Denied func(domain, path string) bool
	// Outages of the crawler during the crawl.
	Outages []Outage
	// Woken are the moments at which a stopped process of the crawler went on, while another one
	// had its domains. A request that it was about to make when it was stopped begins then, and
	// nothing can hold it back: such requests are not held against the pace.
	Woken []Outage
}

// AuditReport is the result of an audit. For a crawler that was polite and lost nothing,
// all its counts of mistakes are 0.
type AuditReport struct {
	// Requests of the log, and Domains that were asked at least once.
	Requests, Domains int
	// Expected pages, and Fetched of them with status 200.
	Expected, Fetched int
	// Missing expected pages as domain and path, at most 100 of them.
	Missing []string
	// Repeats counts requests for a page (not robots.txt) that the server had answered
	// before, in full and not with an error of the server.
	Repeats  int
	Repeated []string
	// Unexcused counts the repeats whose earlier request was not in flight in an outage.
	Unexcused     int
	UnexcusedURLs []string
	// MinInterval is the shortest time between the end of a response and the start of
	// the next request to the same domain. It is negative when they overlap. Without
	// Intervals it has no meaning.
	MinInterval       time.Duration
	MinIntervalDomain string
	Intervals         int
	// Short counts intervals below the domain's delay, Overlaps requests that
	// started before an earlier one of the domain had ended.
	Short, Overlaps int
	// BeforeRobots counts requests of a domain that started before the first
	// response to its /robots.txt had ended.
	BeforeRobots int
	// Denied counts requests that robots.txt denies.
	Denied     int
	DeniedURLs []string
	// RobotsRequests counts requests for /robots.txt.
	RobotsRequests int
	// Status counts responses by their status.
	Status map[int]int
}

// examples is how many URLs an AuditReport has of each kind of mistake.
const examples = 100

// Audit checks a log. The order of the entries does not matter.
func Audit(entries []Entry, expect Expect) AuditReport {
	r := AuditReport{Status: map[int]int{}}
	byDomain := map[string][]Entry{}
	for _, e := range entries {
		byDomain[e.Domain] = append(byDomain[e.Domain], e)
		r.Requests++
		r.Status[e.Status]++
		if e.Path == robotsPath {
			r.RobotsRequests++
		} else if expect.Denied != nil && expect.Denied(e.Domain, e.Path) {
			r.Denied++
			r.DeniedURLs = example(r.DeniedURLs, e.Domain+e.Path)
		}
	}
	r.Domains = len(byDomain)
	for domain, log := range byDomain {
		slices.SortFunc(log, func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
		r.pace(domain, log, expect)
		r.repeats(domain, log, expect.Outages)
		r.robotsFirst(log)
	}
	slices.Sort(r.Repeated)
	slices.Sort(r.UnexcusedURLs)
	slices.Sort(r.DeniedURLs)
	if expect.Pages != nil {
		r.missing(entries, expect.Pages)
	}
	return r
}

func example(list []string, s string) []string {
	if len(list) < examples {
		list = append(list, s)
	}
	return list
}

// pace measures intervals from the latest end so far, so that a short response during
// a long one does not hide the long one.
func (r *AuditReport) pace(domain string, log []Entry, expect Expect) {
	var delay time.Duration
	if expect.Delay != nil {
		delay = expect.Delay(domain)
	}
	end := log[0].End
	for _, e := range log[1:] {
		interval := time.Duration(e.Start - end)
		// Between equal intervals the name decides, so that a report does not depend on
		// the order of the domains.
		if r.Intervals == 0 || interval < r.MinInterval || interval == r.MinInterval && domain < r.MinIntervalDomain {
			r.MinInterval, r.MinIntervalDomain = interval, domain
		}
		r.Intervals++
		woken := slices.ContainsFunc(expect.Woken, func(o Outage) bool { return e.Start >= o.From && e.Start < o.To })
		if interval < 0 && !woken {
			r.Overlaps++
		}
		if interval < delay && !woken {
			r.Short++
		}
		end = max(end, e.End)
	}
}

func (r *AuditReport) repeats(domain string, log []Entry, outages []Outage) {
	answered := make(map[string]Entry, len(log))
	for _, e := range log {
		if e.Path == robotsPath {
			continue
		}
		if before, ok := answered[e.Path]; ok {
			r.Repeats++
			r.Repeated = example(r.Repeated, domain+e.Path)
			if !excused(before, outages) {
				r.Unexcused++
				r.UnexcusedURLs = example(r.UnexcusedURLs, domain+e.Path)
			}
		}
		if e.Status < 500 && e.Status != StatusAborted && e.Status != 429 {
			answered[e.Path] = e
		}
	}
}

func (r *AuditReport) robotsFirst(log []Entry) {
	i := slices.IndexFunc(log, func(e Entry) bool { return e.Path == robotsPath })
	for _, e := range log {
		if e.Path != robotsPath && (i < 0 || e.Start < log[i].End) {
			r.BeforeRobots++
		}
	}
}

func (r *AuditReport) missing(entries []Entry, pages iter.Seq2[string, string]) {
	fetched := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.Status == 200 {
			fetched[e.Domain+e.Path] = true
		}
	}
	for domain, path := range pages {
		r.Expected++
		if fetched[domain+path] {
			r.Fetched++
		} else {
			r.Missing = example(r.Missing, domain+path)
		}
	}
}

// String is the report on a few lines.
func (r AuditReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests %d to %d domains, robots.txt %d, by status %v\n", r.Requests, r.Domains, r.RobotsRequests, r.Status)
	fmt.Fprintf(&b, "pages    %d of %d expected, repeats %d, of what was not in flight %d\n", r.Fetched, r.Expected, r.Repeats, r.Unexcused)
	fmt.Fprintf(&b, "pace     shortest interval %v (%s), short %d, overlaps %d of %d\n", r.MinInterval, r.MinIntervalDomain, r.Short, r.Overlaps, r.Intervals)
	fmt.Fprintf(&b, "robots   before robots.txt %d, denied %d\n", r.BeforeRobots, r.Denied)
	for _, list := range []struct {
		name string
		urls []string
	}{{"missing", r.Missing}, {"repeated", r.Repeated}, {"not in flight", r.UnexcusedURLs}, {"denied", r.DeniedURLs}} {
		if len(list.urls) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", list.name, strings.Join(list.urls[:min(5, len(list.urls))], " "))
		}
	}
	return b.String()
}

// Rates counts the requests that start in each period of the given length, from the
// first request on. The last period may be shorter.
func Rates(entries []Entry, period time.Duration) []int {
	if len(entries) == 0 {
		return nil
	}
	first, last := entries[0].Start, entries[0].Start
	for _, e := range entries {
		first, last = min(first, e.Start), max(last, e.Start)
	}
	rates := make([]int, (last-first)/int64(period)+1)
	for _, e := range entries {
		rates[(e.Start-first)/int64(period)]++
	}
	return rates
}

// Outage is a period in which a crawler was killed or could not work, in nanoseconds
// since 1970.
type Outage struct{ From, To int64 }

// reading is the longest time between the end of a process and the moment at which a
// busy server has read the last request that the process sent.
const reading = 100 * time.Millisecond

// Kill returns the outage of a process that was killed, and had ended at the given moment.
func Kill(ended int64) Outage { return Outage{From: ended, To: ended + int64(reading)} }

// inFlight is the longest time between the end of a response and the moment at which
// the crawler has stored it. That takes milliseconds, but more on a busy machine.
const inFlight = time.Second

// Meets tells whether a request was in flight in the period: it had begun, and may not
// have been stored. The crawler may repeat it.
func (t Outage) Meets(e Entry) bool { return e.Start < t.To && e.End+int64(inFlight) > t.From }

// excused tells whether a request was in flight in any of the periods.
func excused(e Entry, outages []Outage) bool {
	return slices.ContainsFunc(outages, func(t Outage) bool { return t.Meets(e) })
}
