package kafkatest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is a cluster that is started for the first test that asks for it and
// serves all of its package. Tests must keep to topics and groups of their own.
// The zero value is of the default options. It is safe for concurrent use.
//
// Whoever makes one calls End in TestMain.
type Shared struct {
	Options Options

	mu      sync.Mutex
	cluster *Cluster
	err     error
}

// On returns the cluster, for a test that does not break it.
func (s *Shared) On(t testing.TB) *Cluster {
	t.Helper()
	if err := s.Options.Validate(); err != nil {
		t.Fatal(err)
	}
	o := s.Options.withDefaults()
	Need(t, o.Version)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster == nil && s.err == nil {
		s.cluster, s.err = open(o)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

// End ends the cluster, if there is one. When tests have failed it says on
// standard error where the brokers' logs are.
func (s *Shared) End(failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster == nil {
		return
	}
	if said := s.cluster.close(failed); said != "" {
		fmt.Fprintln(os.Stderr, said)
	}
	s.cluster = nil
}
