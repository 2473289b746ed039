package kafkaserver

import (
	"fmt"
	"os"
	"strings"
)

// lastLines is how much of each log a failed test shows.
const lastLines = 15

// keepLogs removes the brokers' data and returns the last lines of their logs,
// and where the rest is.
func (c *Cluster) keepLogs() string {
	var said strings.Builder
	fmt.Fprintf(&said, "brokers' logs are in %s", c.dir)
	for _, n := range c.nodes {
		_ = os.RemoveAll(n.data()) // large, and the logs tell more
		raw, err := os.ReadFile(n.log())
		if err != nil {
			continue // it was never started
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		lines = lines[max(0, len(lines)-lastLines):]
		fmt.Fprintf(&said, "\nbroker %d:\n%s", n.id, strings.Join(lines, "\n"))
	}
	return said.String()
}
