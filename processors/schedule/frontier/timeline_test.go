package frontier

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestTimelines plays the scripts of testdata. A line that begins with ">" is
// an input at a time, the indented lines below it are what was decided. -update
// rewrites the indented lines.
//
//	> options delay=1s per-domain=1 window=512 origins=1000 give-up=168h
//	> TIME admit DOMAIN URL[,depth[,via]]…      a record of deduped
//	> TIME many DOMAIN N PREFIX                 N URLs, PREFIX1 to PREFIXN
//	> TIME aside DOMAIN GROUP FROM TO PREFIX    URLs of a group, PREFIXfrom to PREFIXto
//	> TIME group DOMAIN GROUP open|withdrawn|free
//	> TIME recall DOMAIN URL…                   URLs leave their group
//	> TIME visited DOMAIN VISIT [part] [crowded:WAIT] INDEX:STATUS[@TIME]|CLASS|skipped[:RETRY-AFTER]…
//	> TIME robots DOMAIN VISIT allow|rules|referred|redirected:CLASS|STATUS|CLASS [CRAWL-DELAY]
//	> TIME refer DOMAIN URL ORIGIN              another domain's robots.txt redirects here
//	> TIME answer DOMAIN ORIGIN allow|rules|STATUS|CLASS [CRAWL-DELAY]
//	> TIME setting DOMAIN [delay=1s per-day=10 priority=high|low blocked=REASON]
//	> TIME due                                  ticks what is due
//	> TIME hold on|off                          the disk is nearly full
//	> TIME away                                 nobody held the partition until now
//	> TIME cut OFFSET                           the ledger begins there: it was repaired
//
// VISIT is an id, or "last": the visit that was released last. URLs with /private in them are
// disallowed by rules.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.timeline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no timelines: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".timeline"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := (&timeline{t: t}).play(want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs (-update rewrites it); now:\n%s", file, got)
			}
		})
	}
}

type timeline struct {
	t      *testing.T
	f      *Frontier
	store  *memstore.Store
	offset int64
	hold   bool
	now    time.Time
	since  time.Time
	asked  map[string]*weftpb.DomainSetting
	begins int64
	last   string // id of the visit released last
	out    bytes.Buffer
}

// epoch is time 0 of all timelines.
var epoch = time.UnixMilli(1_700_000_000_000)

func (l *timeline) play(script []byte) []byte {
	l.options(nil)
	for scan := bufio.NewScanner(bytes.NewReader(script)); scan.Scan(); {
		line := scan.Text()
		if strings.HasPrefix(line, "    ") {
			continue
		}
		fmt.Fprintln(&l.out, line)
		if input, ok := strings.CutPrefix(line, "> "); ok {
			l.input(strings.Fields(input))
		}
	}
	return l.out.Bytes()
}

func (l *timeline) options(words []string) {
	opts := DefaultOptions()
	opts.ResponseFactor = 0
	opts.Allowed = func(_ *weftpb.Robots, url string) bool { return !strings.Contains(url, "/private") }
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "delay":
			opts.Delay = l.duration(value)
		case "factor":
			opts.ResponseFactor = float64(n)
		case "per-domain":
			opts.PerDomain = n
		case "window":
			opts.Window = n
		case "origins":
			opts.MaxOrigins = n
		case "per-day":
			opts.PerDay = int64(n)
		case "crawl-per-day":
			opts.CrawlPerDay = int64(n)
		case "give-up":
			opts.GiveUpAfter = l.duration(value)
		default:
			l.t.Fatalf("no option %s", name)
		}
	}
	if err := opts.Validate(); err != nil {
		l.t.Fatal(err)
	}
	l.asked = map[string]*weftpb.DomainSetting{}
	opts.Setting = func(domain string) *weftpb.DomainSetting { return l.asked[domain] }
	l.store = &memstore.Store{}
	l.f = New(opts, l.store)
}

func (l *timeline) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

func (l *timeline) input(words []string) {
	if words[0] == "options" {
		l.options(words[1:])
		return
	}
	l.now = epoch.Add(l.duration(words[0]))
	at := Moment{Now: epoch.Add(l.duration(words[0])), Paused: l.hold, OwnedSince: l.since, WokenAt: l.since, Begins: l.begins}
	switch words[1] {
	case "away": // nobody held the partition until now
		l.since = at.Now
		return
	case "cut": // the ledger was repaired
		offset, _ := strconv.Atoi(words[2])
		l.begins = int64(offset)
		return
	case "hold":
		l.hold = words[2] == "on"
		return
	case "setting":
		l.asked[words[2]] = l.setting(words[3:], at.Now)
		l.f.SettingsChanged(words[2:3])
		return
	case "due":
		domains := l.f.Due(at, 10)
		for _, domain := range domains {
			l.event(domain, at, func(at Moment) (*weftpb.Scheduled, error) { return l.f.Tick(domain, at) })
		}
		if next := l.f.NextDue(at); len(domains) == 0 {
			l.printf("nothing is due before %s", l.time(next))
		}
		return
	}
	domain := words[2]
	l.event(domain, at, func(at Moment) (*weftpb.Scheduled, error) {
		switch words[1] {
		case "admit":
			return l.f.Admit(domain, targets(words[3:]), at)
		case "many":
			n, _ := strconv.Atoi(words[3])
			var urls []string
			for i := range n {
				urls = append(urls, fmt.Sprintf("%s%d,1", words[4], i+1))
			}
			return l.f.Admit(domain, targets(urls), at)
		case "aside":
			from, _ := strconv.Atoi(words[4])
			to, _ := strconv.Atoi(words[5])
			news := &weftpb.Deduped{}
			for i := from; i <= to; i++ {
				news.Targets = append(news.Targets, &weftpb.Target{
					Url: fmt.Sprintf("%s%d", words[6], i), Depth: 1, Via: weftpb.Via_VIA_LINK, Group: words[3],
				})
			}
			return l.f.AdmitDeduped(domain, news, at)
		case "group":
			state := weftpb.Group_State(weftpb.Group_State_value["STATE_"+strings.ToUpper(words[4])])
			return l.f.AdmitDeduped(domain, &weftpb.Deduped{Groups: []*weftpb.Group{{Name: words[3], State: state}}}, at)
		case "recall":
			return l.f.AdmitDeduped(domain, &weftpb.Deduped{Recalled: words[3:]}, at)
		case "visited":
			return l.f.Settle(domain, l.visited(words[3], words[4:]), at)
		case "robots":
			return l.f.Settle(domain, l.robots(words[3], words[4:]), at)
		case "refer":
			return l.f.Settle(domain, &weftpb.Visited{Referral: &weftpb.Target{
				Url: words[3], Depth: 1, Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: words[4],
			}}, at)
		case "answer":
			v := l.robots("", words[4:])
			v.Rules.Origin = words[3]
			return l.f.Settle(domain, v, at)
		}
		l.t.Fatalf("no input %s", words[1])
		return nil, nil
	})
}

func (l *timeline) setting(words []string, at time.Time) *weftpb.DomainSetting {
	s := &weftpb.DomainSetting{SetMs: at.UnixMilli()}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "delay":
			s.DelayMs = proto.Int64(l.duration(value).Milliseconds())
		case "per-day":
			s.PerDay, _ = strconv.ParseInt(value, 10, 64)
		case "priority":
			s.Priority = weftpb.DomainSetting_Priority(weftpb.DomainSetting_Priority_value["PRIORITY_"+strings.ToUpper(value)])
		case "blocked":
			s.Blocked, s.Reason = true, value
		default:
			l.t.Fatalf("no setting %s", name)
		}
	}
	return s
}

func targets(urls []string) []*weftpb.Target {
	var out []*weftpb.Target
	for _, word := range urls {
		part := strings.Split(word, ",")
		target := &weftpb.Target{Url: part[0], Via: weftpb.Via_VIA_SEED}
		if len(part) > 1 {
			depth, _ := strconv.Atoi(part[1])
			target.Depth, target.Via = uint32(depth), weftpb.Via_VIA_LINK
		}
		if len(part) > 2 {
			target.Via = weftpb.Via(weftpb.Via_value["VIA_"+strings.ToUpper(part[2])])
		}
		out = append(out, target)
	}
	return out
}

func (l *timeline) visited(id string, words []string) *weftpb.Visited {
	v := &weftpb.Visited{Visit: l.visit(id), Done: true}
	for _, word := range words {
		if wait, ok := strings.CutPrefix(word, "crowded:"); ok {
			v.CrowdedMs = l.duration(wait).Milliseconds()
			continue
		}
		if word == "part" || word == "hangs" {
			v.Done, v.Hangs = false, word == "hangs"
			continue
		}
		part := strings.Split(word, ":")
		from, to, ranged := strings.Cut(part[0], "-")
		first, _ := strconv.Atoi(from)
		last := first
		if ranged {
			last, _ = strconv.Atoi(to)
		}
		for i := first; i <= last; i++ {
			o := l.outcome(part[1])
			o.Index = uint32(i)
			if len(part) > 2 {
				o.RetryAfterMs = l.duration(part[2]).Milliseconds()
			}
			v.Outcomes = append(v.Outcomes, o)
		}
	}
	return v
}

func (l *timeline) visit(id string) string {
	if id == "last" {
		return l.last
	}
	return id
}

// outcome is a status, a class or "skipped"; responses take 100 ms, or what
// stands behind an @.
func (l *timeline) outcome(word string) *weftpb.Outcome {
	if word == "skipped" {
		return &weftpb.Outcome{Skipped: true}
	}
	word, took, timed := strings.Cut(word, "@")
	if status, err := strconv.Atoi(word); err == nil {
		o := &weftpb.Outcome{Status: uint32(status), TotalUs: 100_000, StartedMs: l.now.UnixMilli()}
		if timed {
			o.TotalUs = l.duration(took).Microseconds()
		}
		return o
	}
	return &weftpb.Outcome{ErrorClass: word}
}

func (l *timeline) robots(id string, words []string) *weftpb.Visited {
	robots := &weftpb.Robots{Hash: []byte("one"), Status: 200}
	v := &weftpb.Visited{Visit: l.visit(id), Done: true, Rules: &weftpb.OriginRules{Robots: robots}}
	outcome := l.outcome("200")
	switch words[0] {
	case "allow":
		robots.Access = weftpb.Robots_ACCESS_ALLOW_ALL
	case "rules":
		robots.Access, robots.Rules = weftpb.Robots_ACCESS_RULES, "Disallow: /private"
	case "referred":
		outcome, v.Rules.Referred = l.outcome("301"), true
		robots.Access, robots.Status = weftpb.Robots_ACCESS_DISALLOW_ALL, 301
	default:
		class, redirected := strings.CutPrefix(words[0], "redirected:")
		v.Rules.Redirected = redirected
		outcome = l.outcome(class)
		robots.Access, robots.Status = weftpb.Robots_ACCESS_DISALLOW_ALL, outcome.Status
	}
	if len(words) > 1 {
		robots.CrawlDelayMs = uint32(l.duration(words[1]).Milliseconds())
	}
	v.Outcomes = []*weftpb.Outcome{outcome}
	return v
}

// event decides, checks, folds and prints.
func (l *timeline) event(domain string, at Moment, decide func(Moment) (*weftpb.Scheduled, error)) {
	at.Offset = l.offset
	ev, err := decide(at)
	if err != nil {
		l.t.Fatalf("%s at %v: %v", domain, at.Now.Sub(epoch), err)
	}
	if ev == nil {
		l.printf("nothing to decide")
		return
	}
	l.print(ev)
	if err := l.f.Apply(domain, ev, l.offset); err != nil {
		l.t.Fatal(err)
	}
	if err := checkStore(l.f, l.store); err != nil {
		l.t.Fatalf("after event %d: %v", l.offset, err)
	}
	l.offset++
	s, err := l.f.DomainState(domain)
	if err != nil {
		l.t.Fatal(err)
	}
	l.printf("%s is %s: due %s, next %s, lease %s; queued %v, retries %d, out %d%s", domain, s.State,
		l.time(s.DueAt), l.time(s.NextAt), l.time(s.LeaseAt), s.Queued, s.Retries, s.Out, aside(s))
}

// aside is what waits in groups, if anything does.
func aside(s DomainState) (text string) {
	if s.Grouped > 0 {
		text = fmt.Sprintf(", aside %d", s.Grouped)
	}
	if s.Withdrawn > 0 {
		text += fmt.Sprintf(", withdrawn %d", s.Withdrawn)
	}
	return text
}

func (l *timeline) print(ev *weftpb.Scheduled) {
	for _, a := range ev.Admitted {
		if len(ev.Admitted) <= 8 {
			l.printf("admitted %s in queue %d", a.Request.Target.Url, a.Request.Priority)
		}
	}
	if n := len(ev.Admitted); n > 8 {
		l.printf("admitted %d URLs", n)
	}
	for _, g := range ev.Groups {
		l.printf("group %s: %s", g.Name, g.State)
	}
	for _, r := range ev.Recalled {
		l.printf("recalled %s from group %s", r.Url, r.Group)
	}
	for _, id := range ev.Expired {
		l.printf("expired %s", id)
	}
	if s := ev.Setting; s != nil {
		delay := "-"
		if s.DelayMs != nil {
			delay = milliseconds(uint32(*s.DelayMs)).String()
		}
		l.printf("setting: delay %s, per day %d, %s, blocked %t %q", delay, s.PerDay, s.Priority, s.Blocked, s.Reason)
	}
	if b := ev.Block; b != nil {
		l.printf("blocked until %s: %d errors of %d", l.time(time.UnixMilli(b.UntilMs)), b.Errors, b.Requests)
	}
	for _, name := range ev.Woken {
		l.printf("woken %s", name)
	}
	for _, r := range ev.Renewed {
		l.printf("renewed %s, lease until %s", r.Visit, l.time(time.UnixMilli(r.LeaseMs)))
	}
	for _, r := range ev.Rules {
		l.printf("rules of %s: %s, unchanged %v, again %s, refuse %q%s", r.Origin, r.Robots.Access, r.Unchanged, l.ms(r.RetryMs), r.Refuse, notHad(r))
	}
	for _, h := range ev.Health {
		if h.FailedMs == 0 {
			l.printf("%s answers again", h.Origin)
			continue
		}
		l.printf("%s failed at %s: %d failures, breaker open %v, cycle %d, waits until %s",
			h.Origin, l.ms(h.FailedMs), h.Failures, h.BreakerOpen, h.BreakerCycles, l.ms(h.WaitMs))
	}
	for _, h := range ev.Hosts {
		l.printf("%s", l.host(h))
	}
	l.printSettled(ev.Settled)
	if n := len(ev.Deferred); n > 0 {
		l.printf("deferred %d URLs, the first %s to %s", n, ev.Deferred[0].Request.Target.Url, l.ms(ev.Deferred[0].RetryMs))
	}
	for _, id := range ev.Hanging {
		l.printf("%s hangs", id)
	}
	for _, v := range ev.Released {
		l.last = v.Id
		kind := ""
		if v.Robots {
			kind += " robots"
		}
		if v.Check {
			kind += " check"
		}
		if v.Probe {
			kind += " probe"
		}
		l.printf("released%s %s, delay %v, lease until %s:", kind, v.Id, time.Duration(v.DelayMs)*time.Millisecond, l.ms(v.LeaseMs))
		for i, q := range v.Requests {
			if i < 4 || len(v.Requests) <= 8 {
				l.printf("  %d %s attempt %d", i, q.Target.Url, q.Attempt)
			}
		}
		if n := len(v.Requests); n > 8 {
			l.printf("  … %d in all", n)
		}
	}
}

// host is what an event says of a host.
func (l *timeline) host(h *weftpb.HostHealth) string {
	if h.HangsUntilMs > 0 {
		return fmt.Sprintf("%s hangs until %s", h.Host, l.ms(h.HangsUntilMs))
	}
	if h.Failures == 0 && !h.Missing {
		text := fmt.Sprintf("%s answers; a check asks for %q, broken pages %d", h.Host, h.AnsweredUrl, h.BrokenPages)
		if h.LearntDelayMs > 0 {
			text += fmt.Sprintf(", %d ms between requests, the next at %s", h.LearntDelayMs, l.ms(h.WaitMs))
		}
		if h.PageFailed {
			text += ", a page failed"
		}
		if h.Doubts > 0 {
			text += fmt.Sprintf(", doubts %d", h.Doubts)
		}
		return text
	}
	text := fmt.Sprintf("%s waits until %s: %d failures since %s, breaker open %v, cycle %d",
		h.Host, l.ms(h.WaitMs), h.Failures, l.ms(h.FailingSinceMs), h.BreakerOpen, h.BreakerCycles)
	if h.Missing {
		text = fmt.Sprintf("%s has no such name, waits until %s", h.Host, l.ms(h.WaitMs))
	}
	if h.Throttled > 0 {
		text += fmt.Sprintf(", throttled %d", h.Throttled)
	}
	if h.LearntDelayMs > 0 {
		text += fmt.Sprintf(", %d ms between requests", h.LearntDelayMs)
	}
	if h.Refuse != "" {
		text += ", refuse " + h.Refuse
	}
	return text
}

// notHad is what an event says about a robots.txt that was not fetched.
func notHad(r *weftpb.OriginRules) string {
	switch {
	case r.Referred:
		return ", referred"
	case r.Kept:
		return ", kept"
	case r.Missing:
		return ", no such name"
	}
	return ""
}

// printSettled prints runs of the same settlement as one line.
func (l *timeline) printSettled(settled []*weftpb.Settlement) {
	for from := 0; from < len(settled); {
		s, to := settled[from], from+1
		for to < len(settled) && s.Visit == settled[to].Visit && s.Reason == settled[to].Reason && s.RetryMs == settled[to].RetryMs {
			to++
		}
		what := fmt.Sprintf("%s/%d", s.Visit, s.Index)
		if s.Visit == "" {
			what = s.Url
		}
		if to > from+1 {
			what += fmt.Sprintf(" and %d more", to-from-1)
		}
		switch {
		case s.RetryMs < 0:
			l.printf("queued again %s", what)
		case s.RetryMs > 0:
			kept := ""
			if s.Throttled || s.Kept {
				kept = ", its attempts are kept"
			}
			l.printf("retry %s at %s: %s%s", what, l.ms(s.RetryMs), s.Reason, kept)
		default:
			l.printf("settled %s: %s", what, s.Reason)
		}
		from = to
	}
}

func (l *timeline) printf(format string, args ...any) {
	fmt.Fprintf(&l.out, "    "+format+"\n", args...)
}

func (l *timeline) ms(ms int64) string {
	if ms <= 0 {
		return "-"
	}
	return l.time(time.UnixMilli(ms))
}

func (l *timeline) time(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(epoch).String()
}
