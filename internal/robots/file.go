package robots

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jimsmart/grobotstxt"
)

// rule is one Allow or Disallow line with its pattern in normal form.
type rule struct {
	pattern string
	allow   bool
}

// group is what a file says to one agent: all groups with its name, merged.
type group struct {
	rules      []rule
	crawlDelay time.Duration
	usage      []string // lines of a record, see Usage
}

// addressees are the agents that the next lines are for: the agents of the user-agent lines since
// the last line that ended a run of them.
type addressees struct {
	us, everybody bool
	ended         bool
}

func (a *addressees) name(us, everybody bool) {
	if a.ended {
		*a = addressees{}
	}
	a.us = a.us || us
	a.everybody = a.everybody || everybody
}

// file collects what the lines of a robots.txt say to the agent with a token and to all agents. It
// is a grobotstxt.ParseHandler.
//
// A run of user-agent lines is ended by a rule, and by nothing else (RFC 9309
// section 2.2.4: other records must not interfere). For Crawl-delay, which the
// RFC does not know, it is ended by a Crawl-delay too: files that give each of
// several agents its own have no other lines between them. Preferences end it for preferences.
type file struct {
	token string

	forRules, forDelay, forUsage addressees
	// begun: there was a user-agent line.
	begun bool

	// named is set when a group names the agent. Then the group for all agents does not hold for
	// it.
	named         bool
	us, everybody group
	sitemaps      []string
}

var _ grobotstxt.ParseHandler = (*file)(nil)

func (f *file) forAgent() group {
	if f.named {
		return f.us
	}
	return f.everybody
}

func (f *file) HandleRobotsStart() {}
func (f *file) HandleRobotsEnd()   {}

func (f *file) HandleUserAgent(_ int, value string) {
	rest, star := strings.CutPrefix(value, "*")
	everybody := star && (rest == "" || rest[0] == ' ' || rest[0] == '\t' || strings.HasPrefix(rest, "%C2%A0"))
	us := f.token != "" && strings.EqualFold(leadingToken(value), f.token)
	f.forRules.name(us, everybody)
	f.forDelay.name(us, everybody)
	f.forUsage.name(us, everybody)
	f.begun = true
	f.named = f.named || us
}

func (f *file) HandleAllow(_ int, value string)    { f.add(value, true) }
func (f *file) HandleDisallow(_ int, value string) { f.add(value, false) }

func (f *file) add(value string, allow bool) {
	f.forRules.ended = true
	f.forDelay.ended = true
	f.forUsage.ended = true
	if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "*") {
		return // Empty, which says nothing, or without a path to match.
	}
	rule := rule{pattern: normalPattern(value), allow: allow}
	switch {
	case f.forRules.us:
		f.us.rules = append(f.us.rules, rule)
	case f.forRules.everybody:
		f.everybody.rules = append(f.everybody.rules, rule)
	}
}

func (f *file) HandleSitemap(_ int, value string) { f.sitemaps = append(f.sitemaps, value) }

func (f *file) HandleUnknownAction(_ int, action, value string) {
	if name, ok := isUsage(action); ok {
		f.addUsage(preference(name, value))
		return
	}
	if !strings.EqualFold(action, "crawl-delay") && !strings.EqualFold(action, "crawldelay") {
		return
	}
	f.forDelay.ended = true
	delay, ok := parseDelay(value)
	if !ok {
		return
	}
	// Of several delays the longest keeps all of them.
	if f.forDelay.us {
		f.us.crawlDelay = max(f.us.crawlDelay, delay)
	}
	if f.forDelay.everybody {
		f.everybody.crawlDelay = max(f.everybody.crawlDelay, delay)
	}
}

// addUsage takes a preference. In front of all groups it is for all agents.
func (f *file) addUsage(line string) {
	f.forUsage.ended = true
	if line == "" {
		return
	}
	if f.forUsage.us {
		f.us.usage = append(f.us.usage, line)
	}
	if f.forUsage.everybody || !f.begun {
		f.everybody.usage = append(f.everybody.usage, line)
	}
}

// parseDelay reads a decimal number of seconds, fractions allowed.
func parseDelay(value string) (delay time.Duration, ok bool) {
	if strings.Trim(value, "+-.0123456789eE") != "" {
		return 0, false // perhaps a number to Go, such as 0x1p4 or 1_0
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || seconds < 0 {
		return 0, false
	}
	if seconds >= MaxCrawlDelay.Seconds() { // infinite when out of range
		return MaxCrawlDelay, true
	}
	return time.Duration(math.Ceil(seconds*1000)) * time.Millisecond, true
}
