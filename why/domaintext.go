package why

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/progress"
)

// WriteText prints the story as one screen.
func (s *DomainStory) WriteText(w io.Writer) error {
	of := ""
	if s.Given != s.Domain {
		of = fmt.Sprintf(", the domain of %s", s.Given)
	}
	out := &screen{width: 9, head: fmt.Sprintf("%s%s (partition %d)\n  %s", s.Domain, of, s.Partition, s.Summary)}
	if s.State != StateUnknown {
		s.timeText(out)
		s.queueText(out)
		out.line("robots", s.originText()...)
		out.line("variants", s.siteText()...)
		out.line("outcomes", s.outcomeText()...)
		out.line("attempts", s.attemptText()...)
	}
	out.line("not known", s.Unknown...)
	return out.flush(w)
}

func (s *DomainStory) timeText(out *screen) {
	c := clock{s.Now, s.zone}
	out.line("state", s.State)
	if s.Hold.Cause != Done && s.Hold.Cause != Unknown {
		out.line("held by", s.Hold.short(c))
	}
	out.line("delay", s.Delay.text())
	if s.NextAt.After(s.Now) {
		out.line("next", "no release before "+c.when(s.NextAt))
	}
	if !s.DueAt.IsZero() {
		out.line("due", c.when(s.DueAt))
	}
	switch b := s.Breaker; {
	case b.Open:
		out.line("breaker", fmt.Sprintf("open, time %d, after %s in a row", b.Cycles, plural(int64(b.Failures), "failure")))
	case b.Failures > 0:
		out.line("breaker", fmt.Sprintf("closed, %s in a row", plural(int64(b.Failures), "failure")))
	}
	for _, v := range s.Visits {
		what := plural(int64(v.Requests), "URL")
		switch {
		case v.Robots:
			what = "robots.txt"
		case v.Probe:
			what = "a probe"
		}
		out.line("visit", fmt.Sprintf("%s of %s, %d without an outcome, %s apart, released %s, lease until %s", v.ID, what, v.Unsettled,
			span(time.Duration(v.DelayMS)*time.Millisecond), c.when(v.ReleasedAt), c.when(v.LeaseAt)))
	}
}

func (s *DomainStory) queueText(out *screen) {
	if s.Pending == 0 {
		return
	}
	q := s.Queues
	text := fmt.Sprintf("seed %s, sitemap %s, shallow %s, deep %s, retries %s", progress.Count(q.Seed), progress.Count(q.Sitemap),
		progress.Count(q.Shallow), progress.Count(q.Deep), progress.Count(q.Retries))
	if !q.RetryAt.IsZero() {
		text += fmt.Sprintf(", the first %s", clock{s.Now, s.zone}.when(q.RetryAt))
	}
	if q.Aside > 0 {
		text += fmt.Sprintf(", aside %s", progress.Count(q.Aside))
	}
	out.line("queues", text)
}

// originLines is how many origins are shown.
const originLines = 6

func (s *DomainStory) originText() (lines []string) {
	for i, o := range s.Origins {
		if i == originLines {
			return append(lines, fmt.Sprintf("... and %s more", plural(int64(len(s.Origins)-i), "origin")))
		}
		lines = append(lines, o.text(clock{s.Now, s.zone}))
	}
	return lines
}

func (o Origin) text(c clock) string {
	var b strings.Builder
	standing := standingText[o.Standing]
	if o.Missing {
		standing = "no such name: " + missingText[o.Standing]
	}
	fmt.Fprintf(&b, "%s  %s", o.Origin, standing)
	if o.Standing == frontier.InForce {
		fmt.Fprintf(&b, ": %s", plural(int64(o.Rules), "rule"))
		if o.CrawlDelayMS > 0 {
			fmt.Fprintf(&b, ", Crawl-delay %s", span(time.Duration(o.CrawlDelayMS)*time.Millisecond))
		}
	}
	if o.Ref != nil {
		fmt.Fprintf(&b, "; %s %s, %s", answerText(o.Status, o.Error), c.when(o.AskedAt), o.Ref)
	}
	switch {
	case o.Standing == frontier.InForce:
		fmt.Fprintf(&b, "; next %s", c.when(o.EndAt))
	case o.Missing && o.Standing != frontier.Unasked:
		fmt.Fprintf(&b, "; next look-up %s", c.when(o.RetryAt))
	case !o.RetryAt.IsZero() && o.Standing != frontier.Unasked:
		fmt.Fprintf(&b, "; %s, next %s", plural(int64(o.Failures), "failure"), c.when(o.RetryAt))
	}
	if !o.WaitAt.IsZero() {
		fmt.Fprintf(&b, "; it waits alone after %s in a row, next request %s", plural(int64(o.Failing), "failure"), c.when(o.WaitAt))
	}
	return b.String()
}

// missingText says what standings mean while the name of a host does not exist.
var missingText = map[frontier.Standing]string{
	frontier.Unasked: "to be looked up again", frontier.Asking: "being looked up again",
	frontier.Waiting: "to be looked up once more, URLs wait", frontier.Refused: "URLs are refused",
}

// standingText says what standings mean.
var standingText = map[frontier.Standing]string{
	frontier.Unasked: "to be asked", frontier.Asking: "being asked", frontier.Referred: "being asked of another domain", frontier.Waiting: "cannot be had, URLs wait",
	frontier.Refused: "cannot be had, URLs are refused", frontier.InForce: "in force",
}

func (s *DomainStory) outcomeText() []string {
	reasons := slices.SortedFunc(maps.Keys(s.Outcomes), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Outcomes[b], s.Outcomes[a]), strings.Compare(a, b))
	})
	var counts []string
	for _, reason := range reasons {
		counts = append(counts, fmt.Sprintf("%s %s", reason, progress.Count(s.Outcomes[reason])))
	}
	if counts == nil {
		return nil
	}
	return []string{strings.Join(counts, ", ")}
}

func (s *DomainStory) attemptText() (lines []string) {
	c := clock{s.Now, s.zone}
	for _, a := range slices.Backward(s.Attempts) {
		lines = append(lines, fmt.Sprintf("%s  %s  %s", c.when(a.At), a.outcome(a.Reason), a.URL))
	}
	return lines
}
