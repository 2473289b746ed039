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
	// Name is stable: drained, starting, stopped, paused, disk, backlog, lag,
	// few_domains, slots, rate, or a Cause.
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
	add(stoppedFinding(s))
	add(pausedFinding(around))
	add(diskFinding(s, around))
	add(lagFinding(s))
	add(fewDomains(s))
	for _, w := range s.Waits {
		add(waitFinding(s, w))
	}
	add(slotsFinding(s))
	if s.State == StateRunning && s.Pending > 0 {
		add(rateFinding(s), true)
	}
	if len(all) == 0 {
		all = append(all, Finding{Name: "starting", Text: "Nothing is pending yet; what the stages have not read is on its way."})
	}
	return all
}

func stoppedFinding(s *CrawlStory) (Finding, bool) {
	var idle []string
	for _, stage := range s.Stages {
		if stage.Members == 0 {
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

func diskFinding(s *CrawlStory, around loop) (Finding, bool) {
	return Finding{
		Name: "disk", Text: fmt.Sprintf("Only %s of disk are free, less than the reserve of %s: nothing is released.",
			progress.Bytes(s.FreeBytes), progress.Bytes(around.reserve)),
		Advice: "Make room; the crawl goes on by itself.",
	}, around.held()
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

// fewDomains finds that the crawl ends with its slowest domain, long after the
// others.
func fewDomains(s *CrawlStory) (Finding, bool) {
	if s.AtLeastMS < 60_000 || s.Slowest[0].Hold.Cause == Stopped && s.State == StateStopped && s.Pending == 0 {
		return Finding{}, false
	}
	top := s.Slowest[0]
	f := Finding{Name: "few_domains", Text: fmt.Sprintf("The crawl cannot end before %s: %s has %s pending (%s of all), %s apart.",
		span(ms(s.AtLeastMS)), top.Domain, plural(top.Pending, "URL"), percent(top.Pending, s.Pending), span(ms(top.DelayMS)))}
	if s.perDomain > 1 {
		f.Text = strings.TrimSuffix(f.Text, ".") + fmt.Sprintf(", %d at a time.", s.perDomain)
	}
	if len(s.Slowest) > 1 {
		f.Text += fmt.Sprintf(" The next one, %s, takes %s.", s.Slowest[1].Domain, span(ms(s.Slowest[1].AtLeastMS)))
	}
	f.Advice = delayAdvice(s, top)
	return f, true
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
	about := about[w.Cause]
	if about.text == "" || w.Cause == Stopped && s.State == StateStopped {
		return Finding{}, false
	}
	return Finding{
		Name: string(w.Cause),
		Text: fmt.Sprintf("%s of %s (%s of the pending URLs) %s.", progress.Count(w.Domains), plural(s.Domains, "domain"),
			percent(w.URLs, s.Pending), about.text),
		Advice: about.advice,
	}, true
}

// about says, as the end of a sentence, what the causes mean for domains, and
// what to change.
var about = map[Cause]struct{ text, advice string }{
	Delaying:   {"wait for the delay between two requests", "That is politeness at work. More domains go in parallel; see weft why DOMAIN for where a delay comes from."},
	Asking:     {"wait for their server's answers: without a delay, one request follows the other", "If the sites are yours: --per-domain."},
	Robots:     {"wait for a robots.txt", "One that cannot be had forbids everything; it is asked for again by itself. See weft why DOMAIN."},
	Retrying:   {"have only URLs left that failed and are tried again later", ""},
	BackingOff: {"failed and are left alone for a while", "See weft why DOMAIN for their last errors."},
	RetryAfter: {"asked to be left alone for longer (Retry-After)", "Ask for less: a longer --delay, or fewer --per-domain."},
	Breaker:    {"failed five times in a row, and are asked by a probe from time to time", "See weft why DOMAIN for their last errors."},
	Window:     {"are due and wait for others to come back: as many visits of their partition are out as may be", "Run more fetchers: weft run fetch. A new crawl can have more partitions."},
	Disk:       {"are due and wait for free disk", "Make room; the crawl goes on by itself."},
	Schedule:   {"are due and wait for the scheduler", "Run more of it: weft run schedule."},
	Fetch:      {"are out, and their fetcher has not come to them: no free slot, parse behind, or a takeover", "Run more fetchers: weft run fetch. The metric weft_fetch_slots_in_use of a fetcher says exactly how many slots it uses."},
	Stopped:    {"wait for a stage that no process runs", "Start it: weft run."},
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
	f := Finding{Name: "rate", Text: fmt.Sprintf(
		"In the last minute %.1f requests/s were made; the delays of the pending domains allow about %.1f.",
		s.Recent.PerSecond(), s.Recent.PossiblePerSecond)}
	if failed := s.Recent.Failed; failed*10 > s.Recent.Requests {
		f.Text += fmt.Sprintf(" %s of them failed.", percent(failed, s.Recent.Requests))
	}
	if s.Recent.PerSecond() < s.Recent.PossiblePerSecond/2 && s.Recent.Requests > 0 {
		f.Advice = "The rest waits for what is named above, or the crawl has just begun."
	}
	return f
}
