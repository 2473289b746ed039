package main

import (
	"time"

	"github.com/weftcrawl/weft/processors"
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
