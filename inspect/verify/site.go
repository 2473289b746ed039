package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/verify/accesslog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

const robotsPath = "/robots.txt"

// outFor is how long after its release a URL may be requested, in milliseconds. The rules
// that were in force at any moment of that time may have applied.
const outFor = 60 * 60 * 1000

// site compares a web server's own log with delays, robots.txt and the ledgers.
type site struct {
	*judge
	down *ledgers
	// hosts are the origins of each host name.
	hosts map[string][]siteOrigin
	// domains are the domains with an origin in scheduled.
	domains map[string]bool
	// referrals are requests for the robots.txt of other domains, by host and
	// path.
	referrals map[string]bool
	// probed are the hosts that were probed because they had failed.
	probed map[string]bool
	log    map[string][]request // by domain
	// began is the time of the first line of any agent.
	began int64
	// cutOff and extra are requests that the ledgers do not count as made: requests that were cut
	// off according to the ledgers, and others.
	others, cutOff, extra int64
	tolerance             int64 // microseconds
}

type siteOrigin struct {
	name string
	*origin
}

// request is a line of a log by our agent. Times are microseconds since 1970.
type request struct {
	start, end int64
	host, path string
	file, line int
	server     netip.Addr
}

func newSite(j *judge, down *ledgers) *site {
	s := &site{
		judge: j, down: down, hosts: map[string][]siteOrigin{}, domains: map[string]bool{}, referrals: map[string]bool{}, probed: map[string]bool{}, log: map[string][]request{},
		tolerance: j.opts.Log.Format.Tolerance.Microseconds(),
	}
	if own := j.opts.Log.Tolerance; own >= 0 {
		s.tolerance = own.Microseconds()
	}
	for _, p := range down.partitions {
		for name, d := range p.domains {
			for at, o := range d.origins {
				s.domains[name] = true
				s.hosts[hostOf(at)] = append(s.hosts[hostOf(at)], siteOrigin{at, o})
			}
			maps.Copy(s.probed, d.probed)
			for url := range d.referrals {
				at, path := splitURL(url)
				s.referrals[hostOf(at)+path] = true
			}
		}
	}
	return s
}

func (s *site) read(ctx context.Context) error {
	ours := strings.ToLower(s.agent)
	for number, name := range s.opts.Log.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		unnamed := false
		bad, err := accesslog.ReadFile(name, s.opts.Log.Format, func(line int, e accesslog.Entry) {
			if s.began == 0 || e.Start < s.began {
				s.began = e.Start
			}
			if !strings.Contains(strings.ToLower(e.Agent), ours) {
				s.others++
				return
			}
			host := cmp.Or(e.Host, s.opts.Log.Host)
			if host == "" {
				unnamed = true
				return
			}
			host = strings.TrimSuffix(strings.ToLower(host), ".")
			domain := s.suffixes.Domain(host)
			s.log[domain] = append(s.log[domain], request{e.Start, e.End, strings.Clone(host), strings.Clone(e.Path), number, line, e.Server.Unmap()})
		})
		if err != nil {
			return err
		}
		if unnamed {
			s.unproven(SiteLog, name+" has lines that name no host, and none is given")
		}
		if bad.Count > 0 {
			s.unproven(SiteLog, fmt.Sprintf("%d lines of %s that are not %s, the first is line %d: %v", bad.Count, name, s.opts.Log.Format.Name, bad.Line, bad.Err))
		}
	}
	if len(s.log) == 0 {
		s.unproven(SiteLog, fmt.Sprintf("no request by %s is in the log", s.agent))
	}
	if !s.opts.Log.Format.Durations {
		s.unproven(SiteLog, "requests at once: the format tells no durations")
	}
	s.judgeAddresses()
	for _, domain := range slices.Sorted(maps.Keys(s.log)) {
		s.judgeDomain(domain, s.log[domain])
	}
	s.note("the access log is judged with a tolerance of %v; it has %d requests by others", time.Duration(s.tolerance)*time.Microsecond, s.others)
	s.noteAny(s.cutOff, "%d requests were cut off when their partition went to another fetcher, and made again")
	s.noteAny(s.extra, "%d requests are in the access log more often than in the ledgers: they were in flight when their fetcher was killed, or lost its lease")
	return nil
}

func (s *site) judgeDomain(domain string, log []request) {
	slices.SortFunc(log, func(a, b request) int { return cmp.Compare(a.start, b.start) })
	var whole pace
	origins := map[string]*pace{}
	robotsHad := map[string]int64{} // by host, the end of the first
	asked := map[string]int{}
	for i, r := range log {
		s.shown(SiteLog, 1)
		if had, ok := robotsHad[r.host]; r.path == robotsPath && (!ok || r.end < had) {
			robotsHad[r.host] = r.end
		}
		at, e, known := s.find(r)
		a := attempt{start: r.start, end: r.end, at: int64(i), delayMS: uint32(s.budgets.delayMS), host: r.host}
		if known {
			a.delayMS = e.delayMS
		}
		a.patience = s.patience(r, a.delayMS, known && e.releases > 1)
		l := limits{atOnce: s.budgets.perDomain, needed: neededOfBoth, tolerance: func(_, _ *attempt) int64 { return s.tolerance }}
		s.early(domain, log, "the domain", whole.add(a, l))
		if crawlMS := at.leastCrawlDelay(r.start); crawlMS > 0 {
			if origins[at.name] == nil {
				origins[at.name] = &pace{}
			}
			a.crawlMS, l.needed = crawlMS, neededOfOrigin
			s.early(domain, log, "an origin with that Crawl-delay", origins[at.name].add(a, l))
		}
		if s.referrals[r.host+r.path] {
			continue
		}
		if r.path == robotsPath {
			if !s.domains[domain] {
				s.unknown(domain, r)
			}
			continue
		}
		if had, ok := robotsHad[r.host]; !(ok && had <= r.start+s.tolerance) && !s.ruledBefore(r.host) {
			s.violate(KindLogBeforeRobots, domain, "no answer to a request for robots.txt precedes it", r, "asks for it")
		}
		if s.denied(r, at, known) {
			s.violate(KindLogDenied, domain, "it was asked for, and robots.txt denied it", r, "asks for it")
		}
		asked[r.host+r.path]++
		if !known {
			s.unknown(domain, r)
			continue
		}
		in := s.down.partitions[e.partition]
		switch more := asked[r.host+r.path] - int(e.attempts) - in.uncounted[at.name+r.path]; {
		case more > in.cutOff[at.name+r.path]:
			s.extra++
		case more > 0:
			s.cutOff++
		}
	}
}

// patience is how long the domain of a request waits for it before it goes on with other hosts,
// microseconds; see hostqueue.Options.PatienceWith. If the ledgers do not show that a host has
// answered, it gets less time. A host that was probed gets less time, too.
func (s *site) patience(r request, delayMS uint32, again bool) int64 {
	if !s.opts.Log.Format.Durations {
		return 0
	}
	trial := again || r.path == robotsPath || s.referrals[r.host+r.path] || s.probed[r.host]
	v := &hostqueue.Visit{Visit: &weftpb.Visit{Probe: trial, DelayMs: delayMS, Requests: []*weftpb.Request{{}}}}
	return hostqueue.Defaults().PatienceWith(v, 0).Microseconds()
}

// find returns the origin of a request, and what is known of its URL. A log has no scheme and
// no port: if a host has several origins, find takes the origin that released the URL.
func (s *site) find(r request) (at siteOrigin, e entry, known bool) {
	for _, o := range s.hosts[r.host] {
		at = o
		if e := s.table.find(urls.Fingerprint(o.name + r.path)); e.releases > 0 {
			return o, e, true
		}
	}
	return at, entry{}, false
}

// leastCrawlDelay is the smallest Crawl-delay, in milliseconds, that may have been in
// force for a request.
func (o siteOrigin) leastCrawlDelay(startUS int64) uint32 {
	if o.origin == nil {
		return 0
	}
	held := o.held(startUS/1000-outFor, startUS/1000)
	if len(held) == 0 {
		return 0
	}
	return slices.MinFunc(held, func(a, b ruling) int { return cmp.Compare(a.crawlDelayMS, b.crawlDelayMS) }).crawlDelayMS
}

// ruledBefore reports whether rules of a host were learned before the log begins.
func (s *site) ruledBefore(host string) bool {
	return slices.ContainsFunc(s.hosts[host], func(o siteOrigin) bool {
		return len(o.history) > 0 && o.history[0].fromMS*1000 <= s.began+s.tolerance
	})
}

// denied reports whether all rules that may have been in force deny a request.
func (s *site) denied(r request, at siteOrigin, known bool) bool {
	from := s.hosts[r.host]
	if known {
		from = []siteOrigin{at}
	}
	denied := false
	for _, o := range from {
		for _, ruling := range o.held(r.start/1000-outFor, r.start/1000) {
			if ruling.rules.Allowed(r.path) {
				return false
			}
			denied = true
		}
	}
	return denied
}

func (s *site) unknown(domain string, r request) {
	if !s.down.scheduledWhole {
		s.unproven(SiteLog, "requests that the trimmed part of scheduled may have released")
		return
	}
	s.violate(KindLogUnknown, domain, "it was asked for, and the ledgers never released it", r, "asks for it")
}

func (s *site) early(domain string, log []request, whose string, early []interval) {
	for _, i := range early {
		before, after := log[i.before.at], log[i.after.at]
		kind := KindLogShort
		if i.overlap {
			kind = KindLogOverlap
		}
		s.violate(kind, domain, i.text(whose, s.budgets.perDomain), after, "the later one: "+i.after.times(), s.line(before, "the earlier one: "+i.before.times()))
	}
}

// violate reports a violation that the line of a request shows, and further lines.
func (s *site) violate(kind Kind, domain, says string, r request, line string, more ...Line) {
	s.judge.violate(Violation{Kind: kind, Domain: domain, URL: r.host + r.path, Says: says, Lines: append([]Line{s.line(r, line)}, more...)})
}

func (s *site) line(r request, says string) Line {
	return Line{File: s.opts.Log.Files[r.file], Line: r.line, Says: says}
}

// neededOfBoth is the smaller delay of two requests: a log does not say which requests
// belong to one visit.
func neededOfBoth(before, after *attempt) int64 {
	return int64(min(before.delayMS, after.delayMS)) * 1000
}
