package scope

import (
	"fmt"
	"regexp"
)

// Mode says how far a link may lead from the page that has it.
type Mode string

const (
	// Host allows links to the same host and port.
	Host Mode = "host"
	// Domain allows links within the same registrable domain.
	Domain Mode = "domain"
	// Prefix allows links below the directory of the seed.
	Prefix Mode = "prefix"
	// Any allows all links.
	Any Mode = "any"
)

// NoDepthLimit as MaxDepth lets a crawl follow links to any depth.
const NoDepthLimit = -1

// Options define a Policy.
type Options struct {
	Mode Mode
	// Include are regular expressions (RE2 syntax, not anchored). If there are any, a
	// canonical URL must match one of them. Seeds need not.
	Include []string
	// Exclude are regular expressions. A canonical URL may not match any of them.
	Exclude []string
	// MaxDepth is the largest number of links between a seed and a page. With 0 only
	// seeds are fetched; NoDepthLimit: there is no limit.
	MaxDepth int
	// Limits bound the shape of URLs other than seeds.
	Limits Limits
}

// DefaultOptions are the host of each seed, at any depth.
func DefaultOptions() Options { return Options{Mode: Host, MaxDepth: NoDepthLimit} }

// Validate reports an option that New would refuse.
func (o Options) Validate() error {
	_, err := New(o)
	return err
}

// New compiles a policy.
func New(o Options) (*Policy, error) {
	switch o.Mode {
	case Host, Domain, Prefix, Any:
	default:
		return nil, fmt.Errorf("scope %q is not one of host, domain, prefix, any", o.Mode)
	}
	if o.MaxDepth < NoDepthLimit {
		return nil, fmt.Errorf("depth limit %d is negative; %d means no limit", o.MaxDepth, NoDepthLimit)
	}
	if err := o.Limits.Validate(); err != nil {
		return nil, err
	}
	include, err := compile(o.Include)
	if err != nil {
		return nil, fmt.Errorf("compile include pattern: %w", err)
	}
	exclude, err := compile(o.Exclude)
	if err != nil {
		return nil, fmt.Errorf("compile exclude pattern: %w", err)
	}
	return &Policy{mode: o.Mode, include: include, exclude: exclude, maxDepth: o.MaxDepth, limits: o.Limits.WithDefaults()}, nil
}

func compile(patterns []string) ([]*regexp.Regexp, error) {
	compiled := make([]*regexp.Regexp, 0, len(patterns))
	for _, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, re)
	}
	return compiled, nil
}
