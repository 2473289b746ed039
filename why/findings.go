package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

// Finding is one reason why a crawl is as fast as it is.
type Finding struct {
	// Name is stable: drained, trimmed, starting, failing, stopped, paused, disk, backlog,
	// lag, slowest_domain, slots, rate, or a Cause.
	Name string `json:"name"`
	// Text says what is the matter, with figures; Advice what to change.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// compare orders by a number, then by a name.
func compare(a, b int64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(a, b), strings.Compare(nameA, nameB))
}

// findings says why the crawl is as fast as it is, the most important first.
func findings(s *CrawlStory, around loop) (all []Finding) {
	add := func(f Finding, ok bool) {
		if ok {
			all = append(all, f)
		}
	}
	if s.State == StateDrained {
		return []Finding{{Name: "drained", Text: "It is not slow, it is done: nothing is pending and every stage has read all of its input."}}
	}
	add(failingFinding(s, around))
	add(stoppedFinding(s, around))
	add(pausedFinding(around))
	add(diskFinding(around))
	add(lagFinding(s))
	add(slowestFinding(s))
	for _, w := range s.Waits {
		add(waitFinding(s, w))
	}
	add(slotsFinding(s))
	if s.State == StateRunning && s.Pending > 0 {
		add(rateFinding(s), true)
	}
	if s.Unknown != nil {
		add(Finding{Name: "trimmed", Text: "What the domains wait for cannot be told: the beginning of the ledger was trimmed."}, true)
	}
	if len(all) == 0 {
		add(Finding{Name: "starting", Text: "Nothing is pending yet; what the stages have not read is on its way."}, true)
	}
	return all
}

// stoppedFinding names the stages that no process runs. One that fails may be in
// no group at the moment, and is run all the same.
func stoppedFinding(s *CrawlStory, around loop) (Finding, bool) {
	var idle []string
	for _, stage := range s.Stages {
		if _, fails := around.failing(stage.Stage); stage.Members == 0 && !fails {
			idle = append(idle, string(stage.Stage))
		}
	}
	switch {
	case len(idle) == 0:
		return Finding{}, false
	case len(idle) == len(s.Stages):
		f := Finding{Name: "stopped", Text: "No process runs this crawl.", Advice: "Go on with weft crawl, or weft run all on a cluster."}
		if !s.Recent.LastAt.IsZero() {
			f.Text = fmt.Sprintf("No process runs this crawl; its last request was %s.", clock{s.Now, s.zone}.away(s.Recent.LastAt))
		}
		return f, true
	}
	return Finding{
		Name: "stopped", Text: fmt.Sprintf("No process runs %s: the loop is interrupted there.", join(idle)),
		Advice: fmt.Sprintf("Start weft run %s.", strings.Join(idle, " ")),
	}, true
}

func pausedFinding(around loop) (Finding, bool) {
	asked := around.control.String()
	return Finding{
		Name: "paused", Text: fmt.Sprintf("The crawl is asked not to go on (%s).", asked), Advice: "Go on with weft resume.",
	}, asked != ""
}

func diskFinding(around loop) (Finding, bool) {
	says, held := around.disk()
	return Finding{
		Name: "disk", Text: fmt.Sprintf("Nothing is released: %s.", says),
		Advice: "Make room, and the crawl goes on by itself; or begin it again with a smaller --disk-reserve.",
	}, held
}

// failingFinding names the first stage of the loop that ends again and again.
func failingFinding(s *CrawlStory, around loop) (Finding, bool) {
	for _, stage := range topics.Stages() {
		if f, fails := around.failing(stage); fails {
			return Finding{
				Name: "failing", Text: fmt.Sprintf("The stage %s fails (%s, %s), and is built anew again and again: %s.", stage,
					plural(int64(f.Times), "time"), clock{s.Now, s.zone}.away(f.At), strings.TrimSuffix(f.Says, ".")),
				Advice: fmt.Sprintf("The log of the process %s says more. It goes on by itself once the cause is gone.", f.Member),
			}, true
		}
	}
	return Finding{}, false
}

// manyRecords is how many records a stage may be behind before it is worth a
// word: some seconds of work.
const manyRecords = 5000

// lagFinding names the stage that is furthest behind. Fetch is not meant to
// keep up: its work is what is pending.
func lagFinding(s *CrawlStory) (Finding, bool) {
	var worst Stage
	for _, stage := range s.Stages {
		if stage.Stage != topics.Fetch && stage.Behind > worst.Behind {
			worst = stage
		}
	}
	backlog := worst.Behind * s.Recent.BodyBytes
	switch {
	case worst.Stage == topics.Parse && backlog > backlogBytes/2:
		return Finding{
			Name: "backlog", Text: fmt.Sprintf("parse is %s behind, about %s of bodies; from %s on, fetch waits for it.",
				plural(worst.Behind, "record"), progress.Bytes(backlog), progress.Bytes(backlogBytes)),
			Advice: "Give parse more cores, or run more of it: weft run parse.",
		}, true
	case worst.Behind < manyRecords:
		return Finding{}, false
	}
	return Finding{
		Name: "lag", Text: fmt.Sprintf("%s is %s behind: what it will bring is not pending yet.", worst.Stage, plural(worst.Behind, "record")),
		Advice: fmt.Sprintf("Run more of it, at most one for each of the %s: weft run %s.", plural(int64(s.Partitions), "partition"), worst.Stage),
	}, true
}

// backlogBytes is how far parse may be behind before fetch waits.
var backlogBytes = processors.DefaultFetchOptions().BacklogBytes

// slowestFinding finds that the crawl ends with its slowest domain.
func slowestFinding(s *CrawlStory) (Finding, bool) {
	if s.AtLeastMS < time.Minute.Milliseconds() {
		return Finding{}, false
	}
	top := s.Slowest[0]
	f := Finding{Name: "slowest_domain", Text: fmt.Sprintf("The crawl cannot end before %s: %s has %s pending (%s of all), %s apart%s.",
		span(ms(s.AtLeastMS)), top.Domain, plural(top.Pending, "URL"), percent(top.Pending, s.Pending), span(ms(top.DelayMS)), s.atATime())}
	if top.DelayMS == 0 {
		f.Text = fmt.Sprintf("%s takes %s at the pace of its last answer: it has %s pending (%s of all), one after another%s.",
			top.Domain, span(ms(s.AtLeastMS)), plural(top.Pending, "URL"), percent(top.Pending, s.Pending), s.atATime())
	}
	if len(s.Slowest) > 1 {
		f.Text += fmt.Sprintf(" The next one, %s, takes %s.", s.Slowest[1].Domain, span(ms(s.Slowest[1].AtLeastMS)))
	}
	f.Advice = delayAdvice(s, top)
	return f, true
}

// atATime says how many requests of a domain go out at the same time, if that
// is more than one.
func (s *CrawlStory) atATime() string {
	if s.perDomain == 1 {
		return ""
	}
	return fmt.Sprintf(" and %d at a time", s.perDomain)
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// delayAdvice says what would make a domain quicker.
func delayAdvice(s *CrawlStory, d SlowDomain) string {
	switch {
	case d.DelayMS == 0:
		return "Its server's answers set the pace. If the site is yours: --per-domain " + fmt.Sprint(2*s.perDomain) + "."
	case d.DelayBy == "crawl_delay":
		return "Its robots.txt asks for that delay (Crawl-delay). More domains go in parallel and cost nothing; --max-pages or a narrower scope ends it earlier."
	case d.DelayBy == "response_time":
		return "The delay is as long as its server needed for its last answer: it is slow. More domains go in parallel and cost nothing."
	}
	return "More domains go in parallel and cost nothing. A lower --delay, if the site allows it, or --per-domain, if the site is yours, makes this one quicker."
}

// waitFinding says what one cause holds back.
func waitFinding(s *CrawlStory, w Wait) (Finding, bool) {
	about := abouts[w.Cause]
	if about.text == "" || w.Cause == Stopped && s.State == StateStopped {
		return Finding{}, false
	}
	share := fmt.Sprintf("%s of %s (%s of the pending URLs)", progress.Count(w.Domains), plural(s.Domains, "domain"), percent(w.URLs, s.Pending))
	return Finding{Name: string(w.Cause), Text: fmt.Sprintf(about.text, share), Advice: about.advice}, true
}

// abouts says what the causes mean for domains, and what to change.
var abouts = map[Cause]struct{ text, advice string }{
	Delaying: {
		"The delay between two requests holds back %s.",
		"That is politeness at work. More domains go in parallel; weft why DOMAIN says where a delay comes from.",
	},
	Asking: {
		"Without a delay one request follows the other, at the pace of the server's answers, in %s.",
		"If the sites are yours: --per-domain.",
	},
	Robots: {
		"A robots.txt that is not there yet holds back %s.",
		"One that cannot be had forbids everything; it is asked for again by itself. weft why DOMAIN says when.",
	},
	Retrying:   {"Only URLs that failed, and are tried again later, are left in %s.", ""},
	BackingOff: {"After failures, a while without requests holds back %s.", "weft why DOMAIN tells the last errors."},
	RetryAfter: {
		"The wish of a server to be left alone for longer (Retry-After) holds back %s.",
		"Ask for less: a longer --delay, or fewer --per-domain.",
	},
	Breaker: {
		"An open breaker, after five failures in a row, holds back %s.",
		"A probe asks from time to time. weft why DOMAIN tells the last errors.",
	},
	Window: {
		"The window holds back %s, which are due: as many visits of their partition are out as may be.",
		"Run more fetchers: weft run fetch. A new crawl can have more partitions.",
	},
	Disk:     {"The lack of free disk holds back %s, which are due.", "Make room; the crawl goes on by itself."},
	Schedule: {"The scheduler has not come to %s, which are due.", "Run more of it: weft run schedule."},
	Fetch: {
		"The fetcher has not come to %s, which are out: it has no free slot, waits for parse, or took them over just now.",
		"Run more fetchers: weft run fetch. The metric weft_fetch_slots_in_use says exactly how many slots one uses.",
	},
	Stopped: {"A stage that no process runs holds back %s.", "Start it: weft run."},
}

// slotsFinding compares the requests that were open with the slots there are.
func slotsFinding(s *CrawlStory) (Finding, bool) {
	slots := 0
	for _, stage := range s.Stages {
		if stage.Stage == topics.Fetch {
			slots = stage.Members * lanes.Defaults().Slots
		}
	}
	return Finding{
		Name: "slots",
		Text: fmt.Sprintf("By the ledger %.0f requests were open at a time, of %d slots: fetch is at its limit.",
			s.Recent.OpenRequests, slots),
		Advice: "Run more fetchers: weft run fetch.",
	}, slots > 0 && s.Recent.OpenRequests > 0.8*float64(slots)
}

// rateFinding compares the rate with what the delays would allow.
func rateFinding(s *CrawlStory) Finding {
	r := s.Recent
	f := Finding{Name: "rate", Text: fmt.Sprintf("In the last %s, %s made, %s a second; the delays and answers of the pending domains allow about %s a second.",
		span(ms(r.SpanMS)), were(r.Requests, "request"), rate(r.PerSecond()), rate(r.PossiblePerSecond))}
	if r.Requests == 0 {
		f.Text = fmt.Sprintf("In the last minute no request was made; the delays and answers of the pending domains allow about %s a second.",
			rate(r.PossiblePerSecond))
	}
	if r.Failed*10 > r.Requests {
		f.Text += fmt.Sprintf(" %s failed.", percent(r.Failed, r.Requests))
	}
	return f
}

// rate keeps the digits that say something.
func rate(perSecond float64) string {
	if perSecond < 10 {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return progress.Count(int64(perSecond + 0.5))
}

// were is a count with its noun and verb: "1 request was".
func were(n int64, noun string) string {
	if n == 1 {
		return plural(n, noun) + " was"
	}
	return plural(n, noun) + " were"
}
