package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/topics"
)

// Diagnosis is one reason for the speed of a crawl.
type Diagnosis struct {
	// Name is stable: drained, trimmed, starting, failing, stopped, paused, disk, backlog,
	// lag, slowest_domain, slots, rate, or a Cause.
	Name string `json:"name"`
	// Text says what is the matter, with figures; Advice says what to change.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// diagnoses are found one after another, the most important first.
type diagnoses []Diagnosis

func (d *diagnoses) add(name, advice, format string, args ...any) {
	*d = append(*d, Diagnosis{Name: name, Text: fmt.Sprintf(format, args...), Advice: advice})
}

// diagnose says why the crawl is as fast as it is.
func diagnose(s *CrawlStory, around loop) (d diagnoses) {
	if s.State == StateDrained {
		d.add("drained", "", "It is not slow, it is done: nothing is pending and every stage has read all of its input.")
		d.archive(s, around)
		return d
	}
	d.stages(s, around)
	if asked := around.control.String(); asked != "" {
		d.add("paused", "Go on with weft resume.", "The crawl is asked not to go on (%s).", asked)
	}
	if says, full := around.disk(); full {
		d.add("disk", "Make room, and the crawl goes on by itself; or stop it, and go on with a smaller --disk-reserve.",
			"Nothing is released: %s.", says)
	}
	d.archive(s, around)
	d.furthestBehind(s)
	d.slowestDomain(s)
	for _, w := range s.Waits {
		d.waiting(s, w)
	}
	d.requests(s)
	if s.Unknown != nil {
		d.add("trimmed", "", "What the domains wait for cannot be told: the beginning of the ledger was trimmed.")
	}
	if d == nil {
		d.add("starting", "", "Nothing is pending yet; what the stages have not read is on its way.")
	}
	return d
}

// stages names the first stage of the loop that ends again and again, and the stages that no
// process runs. A failing stage has a process, even if it is in no group at the moment.
func (d *diagnoses) stages(s *CrawlStory, around loop) {
	var idle []string
	for _, stage := range s.Stages {
		failure, fails := around.failing(stage.Stage)
		switch {
		case fails && *d == nil:
			again := ", and is built anew again and again"
			if failure.Times == 1 {
				again = ", and is built anew"
			}
			d.add("failing", fmt.Sprintf("The log of the process %s says more. It goes on by itself once the cause is gone.", failure.Member),
				"The stage %s fails (%s, %s)%s: %s.", stage.Stage,
				plural(int64(failure.Times), "time"), s.Away(failure.At), again, strings.TrimSuffix(failure.Says, "."))
		case !fails && stage.Members == 0:
			idle = append(idle, string(stage.Stage))
		}
	}
	switch {
	case len(idle) == 0:
	case len(idle) < len(s.Stages):
		d.add("stopped", fmt.Sprintf("Start weft run %s.", strings.Join(idle, " ")),
			"No process runs %s: the loop is interrupted there.", join(idle))
	default:
		last := "."
		if !s.Recent.LastAt.IsZero() {
			last = fmt.Sprintf("; its last request was %s.", s.Away(s.Recent.LastAt))
		}
		d.add("stopped", "Go on with weft crawl, or weft run all on a cluster.", "No process runs this crawl%s", last)
	}
}

// archive says that the archive holds back fetch, or will do so if its stage goes on failing.
func (d *diagnoses) archive(s *CrawlStory, around loop) {
	failure, fails := around.failing(topics.Archive)
	says, holds := around.unarchived()
	switch {
	case holds && fails:
		d.add("archive", "When the archive works and has caught up, the crawl goes on by itself.",
			"Nothing is released: %s. Its stage waits (%s): %s.", says, s.Away(failure.At), failure.Says)
	case holds:
		d.add("archive", "weft status says what keeps the stage archive. When it has caught up, the crawl goes on by itself.", "Nothing is released: %s.", says)
	case fails:
		d.add("archive", fmt.Sprintf("Its exchanges wait in fetched, and nothing is lost. If they wait for more than %s, nothing is released.", span(stage.ArchiveLag)),
			"The stage archive waits (%s): %s.", s.Away(failure.At), failure.Says)
	}
}

// manyRecords is the lag of a stage above which it is a diagnosis: some seconds of work.
const manyRecords = 5000

// furthestBehind names the stage with the largest lag. Fetch does not count: its work is
// what is pending.
func (d *diagnoses) furthestBehind(s *CrawlStory) {
	var worst StageStatus
	for _, stage := range s.Stages {
		if stage.Stage != topics.Fetch && stage.Behind > worst.Behind {
			worst = stage
		}
	}
	backlog := worst.Behind * s.Recent.BodyBytes
	switch {
	case worst.Stage == topics.Parse && backlog > backlogBytes/2:
		d.add("backlog", "Give parse more cores, or run more of it: weft run parse.",
			"parse is %s behind, about %s of bodies; from %s on, fetch waits for it.",
			plural(worst.Behind, "record"), progress.Bytes(backlog), progress.Bytes(backlogBytes))
	case worst.Behind >= manyRecords:
		d.add("lag", fmt.Sprintf("Run more of it, at most one for each of the %s: weft run %s.",
			plural(int64(s.Partitions), "partition"), worst.Stage),
			"%s is %s behind: what it will bring is not pending yet.", worst.Stage, plural(worst.Behind, "record"))
	}
}

// backlogBytes is the lag of parse, in bytes, above which fetch waits.
var backlogBytes = fetch.DefaultOptions().BacklogBytes

// slowestDomain says that the crawl cannot end before its slowest domain.
func (d *diagnoses) slowestDomain(s *CrawlStory) {
	if s.AtLeastMS < time.Minute.Milliseconds() {
		return
	}
	top, next, atATime := s.Slowest[0], "", ""
	if len(s.Slowest) > 1 {
		next = fmt.Sprintf(" The next one, %s, takes %s.", s.Slowest[1].Domain, span(ms(s.Slowest[1].AtLeastMS)))
	}
	if s.perDomain != 1 {
		atATime = fmt.Sprintf(" and %d at a time", s.perDomain)
	}
	least, pending, share := span(ms(s.AtLeastMS)), plural(top.Pending, "URL"), percent(top.Pending, s.Pending)
	if top.DelayMS == 0 {
		d.add("slowest_domain", delayAdvice(s, top), "%s takes %s at the pace of its last answer: it has %s pending (%s of all), one after another%s.%s",
			top.Domain, least, pending, share, atATime, next)
		return
	}
	d.add("slowest_domain", delayAdvice(s, top), "The crawl cannot end before %s: %s has %s pending (%s of all), %s apart%s.%s",
		least, top.Domain, pending, share, span(ms(top.DelayMS)), atATime, next)
}

// delayAdvice says how a domain can become quicker.
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

// waiting says how many domains wait for one cause.
func (d *diagnoses) waiting(s *CrawlStory, w Wait) {
	about := abouts[w.Cause]
	if about.text == "" || w.Cause == Stopped && s.State == StateStopped {
		return
	}
	d.add(string(w.Cause), about.advice, about.text,
		fmt.Sprintf("%s of %s (%s of the pending URLs)", progress.Count(w.Domains), plural(s.Domains, "domain"), percent(w.URLs, s.Pending)))
}

// abouts explains the causes, and says what to change.
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
		"A robots.txt that cannot be fetched forbids everything; it is requested again by itself. weft why DOMAIN says when.",
	},
	Retrying:   {"Only URLs that failed, and are tried again later, are left in %s.", ""},
	BackingOff: {"After failures, a while without requests holds back %s.", "weft why DOMAIN tells the last errors."},
	RetryAfter: {
		"Servers that asked for fewer requests hold back %s.",
		"Ask for less: a longer --delay, or fewer --per-domain.",
	},
	Breaker: {
		"Hosts that are down hold back %s.",
		"Probes test from time to time whether they answer. weft why DOMAIN names the hosts and the last errors.",
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
	Aside: {
		"Only URLs that may be variants of known ones are left in %s.",
		"A few of them are tried when the domain is quiet; it goes on by itself.",
	},
	Blocked: {
		"Blocks hold back %s: those of people, and those of domains with more than half of their answers errors.",
		"weft domains --sort errors lists them; weft domain DOMAIN --unblock lifts a block.",
	},
	Budget: {
		"The requests of this day are used up in %s.",
		"They go on tomorrow. More a day: --per-day, --crawl-per-day, or weft domain DOMAIN --per-day.",
	},
	Address: {
		"The budget of a server's address, which all of its names share, holds back %s.",
		"If the servers may be asked more: --address-delay, --per-address, or --address-exempt.",
	},
}

// requests compares the open requests with the slots, and the rate of requests with the rate
// that the delays allow.
func (d *diagnoses) requests(s *CrawlStory) {
	r, slots := s.Recent, 0
	for _, stage := range s.Stages {
		if stage.Stage == topics.Fetch {
			slots = stage.Members * hostqueue.Defaults().Slots
		}
	}
	if slots > 0 && r.OpenRequests > 0.8*float64(slots) {
		d.add("slots", "Run more fetchers: weft run fetch.",
			"By the ledger %.0f requests were open at a time, of %d slots: fetch is at its limit.", r.OpenRequests, slots)
	}
	if s.State != StateRunning || s.Pending == 0 {
		return
	}
	made, failed := "In the last minute no request was made", ""
	if r.Requests > 0 {
		was := "were"
		if r.Requests == 1 {
			was = "was"
		}
		made = fmt.Sprintf("In the last %s, %s %s made, %s a second",
			span(ms(r.SpanMS)), plural(r.Requests, "request"), was, progress.RateText(r.PerSecond()))
	}
	if r.Failed*10 > r.Requests {
		failed = fmt.Sprintf(" %s failed.", percent(r.Failed, r.Requests))
	}
	d.add("rate", "", "%s; the delays and answers of the pending domains allow about %s a second.%s",
		made, progress.RateText(r.PossiblePerSecond), failed)
}
