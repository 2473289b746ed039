package scope

import (
	"fmt"
	"regexp"
)

// Mode says how far from its referrer a link may lead.
type Mode string

const (
	// Host keeps to the same host and port.
	Host Mode = "host"
	// Domain keeps to the same registrable domain.
	Domain Mode = "domain"
	// Prefix keeps below the directory of the seed.
	Prefix Mode = "prefix"
	// Any goes anywhere.
	Any Mode = "any"
)

// NoDepthLimit as MaxDepth lets a crawl follow links to any depth.
const NoDepthLimit = -1

// Options define a Policy.
type Options struct {
	Mode Mode
	// Include, if there are any, are regular expressions (RE2 syntax, not
	// anchored) of which a canonical URL must match one. Seeds need not.
	Include []string
	// Exclude are regular expressions of which a canonical URL may match none.
	Exclude []string
	// MaxDepth is the largest number of links between a seed and a page; 0
	// fetches seeds only, NoDepthLimit sets no limit.
	MaxDepth int
	// Limits bound the shape of URLs that are no seeds.
	Limits Limits
}

// DefaultOptions keep to the host of each seed, at any depth.
func DefaultOptions() Options { return Options{Mode: Host, MaxDepth: NoDepthLimit} }

// Validate says what is wrong with the options, if anything.
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
		return nil, fmt.Errorf("depth limit %d is negative; %d means none", o.MaxDepth, NoDepthLimit)
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
