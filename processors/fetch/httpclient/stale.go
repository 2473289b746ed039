package httpclient

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// staleFor is how long an origin is remembered.
	staleFor     = 10 * time.Minute
	staleOrigins = 20_000
)

// stale remembers when it has found that an origin's kept connections are unreliable: a
// request on one got no byte of an answer. These origins are asked on new connections.
// Otherwise, with a server that answers only the first request of each connection, every
// second request would be lost, and a URL could lose all its attempts.
type stale struct{ *lru.Cache[string, time.Time] }

func newStale() stale {
	origins, _ := lru.New[string, time.Time](staleOrigins) // fails only without room
	return stale{origins}
}

func (s stale) has(origin string, now time.Time) bool {
	found, ok := s.Get(origin)
	return ok && now.Sub(found) <= staleFor
}
