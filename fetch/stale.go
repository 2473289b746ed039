package fetch

import (
	"sync"
	"time"
)

const (
	// staleFor is how long an origin is remembered, at least; twice as long at
	// most.
	staleFor = 10 * time.Minute
	// staleOrigins bounds the origins of a generation.
	staleOrigins = 10_000
)

// stale remembers origins whose kept connections are not to be relied on: a
// request on one got no byte of an answer. They are asked on new connections,
// or every second request to a server that answers only the first one of each
// connection would be lost, and a URL could lose all its attempts to it.
//
// It has two generations, as the cache of the resolver: an origin enters the
// young one, which becomes the old one when it is full or older than staleFor.
// The zero value remembers nothing.
type stale struct {
	mu         sync.Mutex
	began      time.Time // of the young generation
	young, old map[string]bool
}

// add remembers an origin.
func (s *stale) add(origin string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age(now)
	if len(s.young) >= staleOrigins {
		s.old, s.young, s.began = s.young, nil, now
	}
	if s.young == nil {
		s.young = map[string]bool{}
	}
	s.young[origin] = true
}

// has tells whether an origin is remembered.
func (s *stale) has(origin string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age(now)
	return s.young[origin] || s.old[origin]
}

// age drops what is too old. The caller holds mu.
func (s *stale) age(now time.Time) {
	switch age := now.Sub(s.began); {
	case age >= 2*staleFor:
		s.old, s.young, s.began = nil, nil, now
	case age >= staleFor:
		s.old, s.young, s.began = s.young, nil, now
	}
}
