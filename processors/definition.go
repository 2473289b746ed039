package processors

import (
	"fmt"
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
	if err := URLOptions(d).Validate(); err != nil {
		return err
	}
	if err := TrapOptions(d).Validate(); err != nil {
		return err
	}
	if err := ParseOptions(d).Validate(); err != nil {
		return err
	}
	if _, err := VariantOptions(d); err != nil {
		return err
	}
	opts := FrontierOptions(d)
	opts.Allowed = allowed()
	if err := opts.Validate(); err != nil {
		return err
	}
	if err := checkBodies(d); err != nil {
		return err
	}
	if err := checkDuplicates(d); err != nil {
		return err
	}
	return DefaultFetchOptions().For(d).Client.Validate()
}

// MaxBody is the largest body, in bytes, that a crawl may ask for: fetch holds it
// in memory, and so does parse, twice.
const MaxBody int64 = 256 << 20

// checkBodies says which body would find no place.
func checkBodies(d topics.Definition) error {
	most := DefaultFetchOptions().For(d).Client.MaxBodyBytes
	switch {
	case d.MaxBody < 0 || d.MaxBody > MaxBody:
		return fmt.Errorf("the largest body of %d bytes is not between 1 and %d", d.MaxBody, MaxBody)
	case d.BodyThreshold < 0 || d.BodyThreshold > topics.LargestInRecord:
		return fmt.Errorf("bodies up to %d bytes in records are not between 1 and %d", d.BodyThreshold, topics.LargestInRecord)
	case d.Bodies == "" && most > topics.LargestInRecord:
		return fmt.Errorf("bodies up to %d bytes do not fit in records, %d at most: they need a place of their own", most, topics.LargestInRecord)
	}
	return nil
}

// ScopeOptions is the scope that a crawl's definition asks for.
func ScopeOptions(d topics.Definition) scope.Options {
	return scope.Options{Mode: scope.Mode(d.Scope), Include: d.Include, Exclude: d.Exclude, MaxDepth: d.MaxDepth, Limits: shapeLimits(d)}
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
