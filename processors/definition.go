package processors

import (
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
)

// CheckDefinition says what no stage could work with in a crawl's definition.
func CheckDefinition(d topics.Definition) error {
	if err := ScopeOptions(d).Validate(); err != nil {
		return err
	}
	opts := FrontierOptions(d)
	opts.Allowed = allowed()
	if err := opts.Validate(); err != nil {
		return err
	}
	return DefaultFetchOptions().For(d).Client.Validate()
}

// ScopeOptions is the scope that a crawl's definition asks for.
func ScopeOptions(d topics.Definition) scope.Options {
	return scope.Options{Mode: scope.Mode(d.Scope), Include: d.Include, Exclude: d.Exclude, MaxDepth: d.MaxDepth}
}

// FrontierOptions is the politeness that a crawl's definition asks for; the
// owner of a partition adds Partition and Allowed.
func FrontierOptions(d topics.Definition) frontier.Options {
	opts := frontier.DefaultOptions()
	opts.Delay, opts.PerDomain = time.Duration(d.DelayMS)*time.Millisecond, d.PerDomain
	return opts
}

// product is our product token (RFC 9309 section 2.2.1), by which robots.txt
// files and robots meta elements address us.
func product(d topics.Definition) string {
	if d.UserAgent == "" {
		return fetch.DefaultOptions().Product
	}
	return robots.ProductToken(d.UserAgent)
}
