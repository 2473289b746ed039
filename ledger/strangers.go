package ledger

import (
	"log/slog"
	"sync"
	"time"
)

// complainer says that records are no events, once a minute at most: a client
// that writes to a ledger by mistake may write a lot.
type complainer struct {
	mu     sync.Mutex
	next   time.Time
	silent int64 // since it said something
}

// complainEvery is the least time between two lines.
const complainEvery = time.Minute

// tell returns what a partition calls for each record that it passes over.
func (c *complainer) tell(log *slog.Logger, partition int32, clock func() time.Time) func(topic string, offset int64) {
	return func(topic string, offset int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := clock()
		if now.Before(c.next) {
			c.silent++
			return
		}
		log.Warn("a record of a ledger is no event and is passed over: another program wrote it",
			"topic", topic, "partition", partition, "offset", offset, "others", c.silent)
		c.next, c.silent = now.Add(complainEvery), 0
	}
}
