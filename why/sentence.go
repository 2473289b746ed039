package why

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// sentence is the summary of a URL's story; around is nil for what is no URL.
func (s *URLStory) sentence(around *loop) string {
	switch s.State {
	case StateRefused:
		return fmt.Sprintf("A crawl has no use for it: %s.", refusalWords(s.Refusal))
	case StateUnknown:
		return s.unknown()
	case StateInTransit:
		return fmt.Sprintf("It is on its way: %s names it, in a record that %s has not read%s.",
			s.Transit.by(), s.Transit.Stage, s.behind(around, s.Transit.Stage))
	case StateDeduped:
		return fmt.Sprintf("It is on its way: it is new, and schedule has not admitted it yet%s.", s.behind(around, topics.Schedule))
	case StateGivenUp:
		return s.StandIn.text()
	case StateWithdrawn:
		switch {
		case s.Trap != nil:
			return s.Trap.withdrawnText()
		case s.StandIn == nil:
			return "It is withdrawn: it is of a trap."
		}
		return s.StandIn.text()
	case StateHeldBack:
		return s.Trap.text()
	case StateQueued:
		return s.queued()
	case StateRetry:
		return s.retrying()
	case StateOut:
		return s.out()
	case StateSettled:
		return s.settled()
	}
	return "The part of the ledger that would tell was trimmed."
}

// refusals are the reasons of package urls in words.
var refusals = map[string]string{
	"empty": "it is empty", "not_absolute": "it has no scheme",
	"no_host": "it names no host (no_host)", "too_long": "it is longer than 2,048 bytes (too_long)",
	"malformed": "it is no URL by the standard (malformed)",
}

// refusalWords is a reason in words; of those for a scheme there are many.
func refusalWords(reason string) string {
	if urls.Refusal(reason).NotCrawlable() {
		return "its scheme is neither http nor https (" + reason + ")"
	}
	return refusals[reason]
}

func (s *URLStory) unknown() string {
	if len(s.History) > 0 {
		return "Nobody is known to have found it, and yet the scheduler has seen it."
	}
	switch {
	case s.Scope.In:
		return fmt.Sprintf("Nobody has named it yet; %s.", s.Scope.Text)
	case s.Scope.AsSeed:
		return fmt.Sprintf("It is out of scope (%s): %s. As a seed it would be taken.", s.Scope.Rule, s.Scope.Text)
	}
	return fmt.Sprintf("It is out of scope (%s): %s.", s.Scope.Rule, s.Scope.Text)
}

func (s *URLStory) behind(around *loop, stage topics.Stage) string {
	failure, fails := around.failing(stage)
	switch lag := around.lag(stage, s.Partition); {
	case fails:
		return fmt.Sprintf("; %s fails: %s", stage, failure.Says)
	case around.members[stage] == 0:
		return fmt.Sprintf("; no process runs %s", stage)
	case lag > 0:
		return fmt.Sprintf("; it is %s behind", plural(lag, "record"))
	}
	return ""
}

func (s *URLStory) queued() string {
	switch {
	case s.Queue == nil:
		return "It joined a queue of its domain." // the frontier is not known
	case s.StandIn != nil:
		behind := ""
		if s.Queue.Ahead > 0 {
			behind = " behind " + plural(s.Queue.Ahead, "URL")
		}
		return fmt.Sprintf("It waits aside%s until it is clear whether it is the same page as %s, which was named before (%s). What holds the domain back: %s.",
			behind, s.StandIn.URL, s.StandIn.Rules[0], s.Hold.Text)
	case s.Queue.Ahead == 0:
		return fmt.Sprintf("It is the next in the queue %q of %s. What holds the domain back: %s.", s.Queue.Name, s.Domain, s.Hold.Text)
	}
	return fmt.Sprintf("It waits behind %s in the queue %q of %s. What holds the domain back: %s.",
		plural(s.Queue.Ahead, "URL"), s.Queue.Name, s.Domain, s.Hold.Text)
}

func (s *URLStory) retrying() string {
	c := clock{s.Now, s.zone}
	last := s.History[len(s.History)-1]
	before := "It came back from its visit without a request"
	switch last.What {
	case Attempted:
		before = fmt.Sprintf("Attempt %d failed (%s)", s.attempts(), last.Reason)
	case PutOff:
		before = "It is put off: " + putOffText[last.Reason]
		if last.Reason == "" {
			before = "robots.txt of its origin cannot be had"
		}
	case Expired:
		before = "Its visit was lost"
	}
	ready := last.RetryAt
	if s.Queue != nil {
		ready = s.Queue.ReadyAt
	}
	if ready.After(s.Now) {
		return fmt.Sprintf("%s; it is tried again not before %s.", before, c.when(ready))
	}
	if s.Hold == nil {
		return before + "; it goes first when its domain is next served."
	}
	return fmt.Sprintf("%s; it goes first when its domain is next served. What holds the domain back: %s.", before, s.Hold.Text)
}

func (s *URLStory) out() string {
	if s.Visit == nil {
		return fmt.Sprintf("It went out in visit %s.", s.History[len(s.History)-1].Visit)
	}
	return fmt.Sprintf("It is out in visit %s, number %d of %d, %d without an outcome: %s.",
		s.Visit.ID, s.Visit.Place, s.Visit.Requests, s.Visit.Unsettled, s.Hold.Text)
}

func (s *URLStory) attempts() (n int) {
	for _, step := range s.History {
		if step.What == Attempted {
			n++
		}
	}
	return n
}

func (s *URLStory) settled() string {
	c, last := clock{s.Now, s.zone}, s.History[len(s.History)-1]
	if last.What == Attempted && last.Attempt != nil {
		if last.Reason == frontier.ReasonFetched || last.Reason == frontier.ReasonNotModified {
			return fmt.Sprintf("It was fetched %s: %s.%s", c.away(last.Attempt.At), last.Attempt.text(), pageless(last.Attempt.Status))
		}
		return fmt.Sprintf("It was given up %s after %s: %s.", c.away(last.At), plural(int64(s.attempts()), "attempt"), last.Reason)
	}
	switch last.Reason {
	case frontier.ReasonDisallowed:
		if last.Rule != "" {
			return fmt.Sprintf("It was refused %s without a request: robots.txt of its origin says %q.", c.away(last.At), last.Rule)
		}
		return fmt.Sprintf("It was refused %s without a request: robots.txt of its origin forbids it.", c.away(last.At))
	case frontier.ReasonTooManyRules:
		return fmt.Sprintf("It was refused %s without a request: robots.txt of its origin has more rules than are held, or is no UTF-8, which forbids everything.", c.away(last.At))
	case frontier.ReasonUnreachable:
		return fmt.Sprintf("It was refused %s without a request: robots.txt of its origin could not be had, which forbids everything.", c.away(last.At))
	case frontier.ReasonMissing:
		return fmt.Sprintf("It was refused %s without a request: the name of its host does not exist, as it did not when it was looked up again.", c.away(last.At))
	case frontier.ReasonTooManyOrigins:
		return fmt.Sprintf("It was refused %s without a request: its domain has too many origins.", c.away(last.At))
	case frontier.ReasonBreaker:
		return fmt.Sprintf("It was given up %s: the breaker of its domain, or of its origin alone, had opened too often.", c.away(last.At))
	}
	return fmt.Sprintf("It was settled %s: %s.", c.away(last.At), last.Reason)
}

// pageless says why a response with some status has no page; empty when it has.
func pageless(status uint32) string {
	switch {
	case status >= 300 && status < 400:
		return " A redirect has no page; its target is a URL of its own."
	case status >= 400:
		return " That is no page."
	}
	return ""
}

// outcome is text with what it means.
func (a Attempt) outcome(reason string) string {
	if reason == a.Error {
		return a.text()
	}
	return fmt.Sprintf("%s: %s", a.text(), reason)
}

// text is the outcome of a request: "200 in 120 ms, 12.1 kB".
func (a Attempt) text() string {
	took := span(time.Duration(a.TookMS) * time.Millisecond)
	if a.Error != "" {
		return fmt.Sprintf("%s after %s", answerText(a.Status, a.Error), took)
	}
	return fmt.Sprintf("%s in %s, %s", answerText(a.Status, ""), took, progress.Bytes(a.BodyBytes))
}

// answerText names an answer by what decides: its class of errors, or its status
// where that is an error's (politeness.Judge).
func answerText(status uint32, class string) string {
	switch {
	case class == "":
		return fmt.Sprint(status)
	case status >= 400:
		return fmt.Sprintf("%d with %s", status, class)
	}
	return class
}

// sentence is the summary of a domain's story.
func (s *DomainStory) sentence() string {
	switch s.State {
	case StateUnknown:
		return "The scheduler has never heard of this domain."
	case StateTrimmed:
		return "The beginning of its ledger was trimmed: only what lies behind it can be told."
	case string(frontier.Empty):
		sentence := fmt.Sprintf("Nothing is pending; settled: %s", plural(s.total(), "URL"))
		if n := s.Outcomes[frontier.ReasonWithdrawn]; n > 0 {
			sentence += "; withdrawn: " + plural(n, "URL")
		}
		return sentence + "."
	}
	sentence := fmt.Sprintf("%s pending. What holds it back: %s.", plural(s.Pending, "URL"), s.Hold.Text)
	if s.AtLeastMS > 60_000 {
		sentence += fmt.Sprintf(" That will take %s at least.", span(time.Duration(s.AtLeastMS)*time.Millisecond))
	}
	return sentence
}

// total is how many URLs are settled. Those that are withdrawn are not.
func (s *DomainStory) total() (n int64) {
	for reason, count := range s.Outcomes {
		if reason != frontier.ReasonWithdrawn {
			n += count
		}
	}
	return n
}
