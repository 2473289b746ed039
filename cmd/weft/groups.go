package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// groupFlags are about this process as a member of consumer groups.
type groupFlags struct {
	SessionTimeout time.Duration `placeholder:"DUR" default:"10s" help:"How long a process may be silent before its partitions are given to others."`
}

// Bounds of the session time-out: what Kafka's brokers permit unless
// group.min.session.timeout.ms and group.max.session.timeout.ms say otherwise.
const (
	minSession = 6 * time.Second
	maxSession = 30 * time.Minute
)

func (f groupFlags) check() error {
	if f.SessionTimeout < minSession || f.SessionTimeout > maxSession {
		return usagef("--session-timeout %v is not between %v and %v", f.SessionTimeout, minSession, maxSession)
	}
	return nil
}

// fetchOptions are those of the stage fetch in this process. What depends on
// the crawl comes from its definition.
func (f groupFlags) fetchOptions() processors.FetchOptions {
	options := fetchOptions()
	options.SessionTimeout = f.SessionTimeout
	return options
}

// members counts the processes of stages.
func members(ctx context.Context, admin *kadm.Client, names topics.Names, stages []topics.Stage) (map[topics.Stage]int, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var groups []string
	for _, s := range stages {
		groups = append(groups, names.Group(s))
	}
	described, err := admin.DescribeGroups(ctx, groups...)
	if err != nil {
		return nil, fmt.Errorf("describe the groups of %s: %w", names.Crawl, err)
	}
	count := map[topics.Stage]int{}
	for _, s := range stages {
		group := described[names.Group(s)]
		if err := group.Err; err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return nil, fmt.Errorf("describe group %s: %w", names.Group(s), err)
		}
		count[s] = len(group.Members)
	}
	return count, nil
}
