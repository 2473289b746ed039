package processors

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/lease"
)

// heartbeats tells lease.Heartbeats of the group's answers: to the SyncGroup
// that began the membership, and to each heartbeat. It is a kgo.HookBrokerE2E.
type heartbeats struct{ *lease.Heartbeats }

// The keys of the requests in the Kafka protocol.
const (
	heartbeatKey = 12
	syncGroupKey = 14
)

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h heartbeats) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	switch {
	case e2e.Err() != nil:
	case key == syncGroupKey:
		h.Joined(e2e.DurationE2E())
	case key == heartbeatKey:
		h.Answered(e2e.DurationE2E())
	}
}
