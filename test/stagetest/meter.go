package stagetest

import (
	"sync"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// Counter is a Meter that counts rejected records.
type Counter struct {
	stage.NoMeter
	mu sync.Mutex
	// Reasons counts by "stage reason".
	Reasons map[string]int
}

// Rejected counts a record.
func (c *Counter) Rejected(stage topics.Stage, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Reasons[string(stage)+" "+reason]++
}
