package why

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
)

// WriteText prints the story as one screen.
func (s *URLStory) WriteText(w io.Writer) error {
	out := &screen{width: 9, head: fmt.Sprintf("%s\n  %s", cmp.Or(s.URL, s.Given), s.Summary)}
	if s.URL == "" {
		return out.flush(w)
	}
	if s.Given != s.URL {
		out.line("given as", append([]string{s.Given}, s.Changes...)...)
	}
	out.line("domain", fmt.Sprintf("%s, partition %d", s.Domain, s.Partition))
	if s.Scope != nil {
		in := "out, " + s.Scope.Rule
		if s.Scope.In {
			in = "in, " + s.Scope.Rule
		}
		out.line("scope", fmt.Sprintf("%s: %s", in, s.Scope.Text))
	}
	out.line("found", s.foundText()...)
	if s.Transit != nil {
		out.line("named by", fmt.Sprintf("%s in %s, read next by %s", s.Transit.by(), s.Transit.Ref, s.Transit.Stage))
	}
	out.line("history", s.historyText()...)
	if s.Robots != nil {
		out.line("robots", s.Robots.text())
	}
	s.placeText(out)
	for _, p := range s.Pages {
		if p.Ref != nil {
			out.line("page", fmt.Sprintf("%s at %s, %s", p.ID, p.Ref, clock{s.Now, s.zone}.when(p.At)))
			continue
		}
		out.line("page", p.Missing)
	}
	out.line("not known", s.Unknown...)
	return out.flush(w)
}

// foundHops is how many hops of a chain are shown; those in the middle of a
// longer one are counted.
const foundHops = 6

func (s *URLStory) foundText() (lines []string) {
	c := clock{s.Now, s.zone}
	for i, f := range s.Found {
		if left := len(s.Found) - i; left > 1 && i == foundHops-1 {
			lines = append(lines, fmt.Sprintf("... %d hops ...", left-1))
		} else if i >= foundHops && left > 1 {
			continue
		}
		var line string
		switch {
		case f.Source == "":
			line = fmt.Sprintf("%s is a seed", f.URL)
		case i == 0:
			line = fmt.Sprintf("by %s (%s, depth %d)", f.Source, f.via(), f.Depth)
		default:
			line = fmt.Sprintf("which was found by %s (%s, depth %d)", f.Source, f.via(), f.Depth)
		}
		if i < foundHops-1 || i == len(s.Found)-1 {
			lines = append(lines, fmt.Sprintf("%s, %s, %s", line, c.when(f.At), f.Ref))
		}
	}
	if s.Cut != "" {
		lines = append(lines, "and no further: "+s.Cut)
	}
	return lines
}

// via is the way in words: what a seed redirects to is a seed, too.
func (f Find) via() string {
	if f.Via == vias[weftpb.Via_VIA_SEED] {
		return "redirect of a seed"
	}
	return f.Via
}

// historySteps is how many steps are shown; those in the middle are counted.
const historySteps = 20

func (s *URLStory) historyText() (lines []string) {
	c := clock{s.Now, s.zone}
	omitted := len(s.History) - historySteps
	for i, step := range s.History {
		if omitted > 0 && i > 0 && i <= omitted {
			if i == 1 {
				lines = append(lines, fmt.Sprintf("... %d more ...", omitted))
			}
			continue
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s", c.at(step.At), step.text(c), step.Ref))
	}
	return lines
}

func (s Step) text(c clock) string {
	again := ""
	if !s.RetryAt.IsZero() {
		again = fmt.Sprintf(", again not before %s", c.at(s.RetryAt))
	}
	switch s.What {
	case Admitted:
		return fmt.Sprintf("admitted with priority %d, %s", *s.Priority, priorityText[s.Reason])
	case Released:
		return fmt.Sprintf("out in visit %s of %s, %s apart", s.Visit, plural(int64(s.Requests), "URL"), span(time.Duration(s.DelayMS)*time.Millisecond))
	case Attempted:
		if s.Attempt == nil {
			return s.Reason + again
		}
		return fmt.Sprintf("asked at %s: %s%s", c.at(s.Attempt.At), s.Attempt.outcome(s.Reason), again)
	case Returned:
		return fmt.Sprintf("back from visit %s without a request, to the front", s.Visit)
	case Expired:
		return fmt.Sprintf("the lease of visit %s ran out: to the front", s.Visit)
	case Withdrawn:
		return "withdrawn: its group is not fetched"
	case Back:
		return "back: its group is fetched after all"
	case Recalled:
		return "recalled: what it waited for has no page, or a seed or a redirect names it"
	case PutOff:
		return "put off: " + putOffText[s.Reason] + again
	}
	text := "refused: " + s.Reason
	if s.Rule != "" {
		text += fmt.Sprintf(" (%s)", s.Rule)
	}
	return text
}

// putOffText explains why a URL is put off.
var putOffText = map[string]string{
	"":             "robots.txt cannot be had",
	waitsForName:   "the name of its host was not found, and is looked up once more",
	waitsForOrigin: "its origin failed, and waits while the rest of the domain goes on",
}

// priorityText explains the reasons of frontier.Priority.
var priorityText = map[string]string{
	"seed":    "seed: somebody asked for it, or a seed redirects to it",
	"sitemap": "sitemap: its owner lists it",
	"shallow": "shallow: at most three links away from a seed",
	"deep":    "deep: more than three links away from a seed",
}

func (v Verdict) text() string {
	if v.Missing {
		return fmt.Sprintf("the name of the host of %s does not exist", v.Origin)
	}
	switch v.Standing {
	case frontier.Unasked:
		return fmt.Sprintf("robots.txt of %s has to be had first", v.Origin)
	case frontier.Asking:
		return fmt.Sprintf("robots.txt of %s is being asked for", v.Origin)
	case frontier.Referred:
		return fmt.Sprintf("robots.txt of %s redirects to another domain, which is being asked for it", v.Origin)
	case frontier.Waiting, frontier.Refused:
		return fmt.Sprintf("robots.txt of %s cannot be had, which forbids everything", v.Origin)
	}
	verdict := "forbids it"
	if v.Allowed {
		verdict = "allows it"
	}
	if v.Rule == "" && !v.Allowed {
		return fmt.Sprintf("%s has more rules in its robots.txt than are held, or it is no UTF-8, which forbids everything", v.Origin)
	}
	if v.Rule == "" {
		return fmt.Sprintf("%s %s: no rule is about it", v.Origin, verdict)
	}
	return fmt.Sprintf("%s %s: %s", v.Origin, verdict, v.Rule)
}

func (s *URLStory) placeText(out *screen) {
	c := clock{s.Now, s.zone}
	if v := s.Visit; v != nil {
		out.line("visit", fmt.Sprintf("%s, number %d of %d, released %s, lease until %s", v.ID, v.Place, v.Requests, c.when(v.ReleasedAt), c.when(v.LeaseAt)))
	}
	if q := s.Queue; q != nil {
		out.line("queue", fmt.Sprintf("%s: %s of it, %s pending in the domain", q.Name, ahead(q.Ahead), plural(q.Pending, "URL")))
	}
	if s.Hold != nil {
		out.line("held by", s.Hold.short(c))
	}
}

func ahead(n int64) string {
	if n == 0 {
		return "at the front"
	}
	return plural(n, "URL") + " ahead"
}
