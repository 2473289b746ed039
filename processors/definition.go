package processors

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
)

// scopeOptions is the scope that a crawl's definition asks for.
func scopeOptions(d topics.Definition) scope.Options {
	return scope.Options{Mode: scope.Mode(d.Scope), Include: d.Include, Exclude: d.Exclude, MaxDepth: d.MaxDepth}
}

// frontierOptions is the politeness that a crawl's definition asks for.
func frontierOptions(d topics.Definition) frontier.Options {
	opts := frontier.DefaultOptions()
	opts.Delay, opts.PerDomain = time.Duration(d.DelayMS)*time.Millisecond, d.PerDomain
	return opts
}

// product is our product token (RFC 9309 section 2.2.1): the letters, hyphens
// and underscores that the user agent begins with. robots.txt files and robots
// meta elements address us by it.
func product(d topics.Definition) string {
	end := strings.IndexFunc(d.UserAgent, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if end < 0 {
		end = len(d.UserAgent)
	}
	if end == 0 {
		return "weft"
	}
	return d.UserAgent[:end]
}
