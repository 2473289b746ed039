package processors

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, meters, connections) }

// meters is the one goroutine that sarama's metrics library starts with its
// first meter, for all meters of the process and for good.
var meters = goleak.IgnoreTopFunction("github.com/rcrowley/go-metrics.(*meterArbiter).tick")

// connections are those that sarama v1.46 forgets: a client does not close a
// connection that one refresh of metadata opens again while another gives its
// broker up. A client that is forgotten itself shows by its other goroutines.
var connections = goleak.IgnoreTopFunction("github.com/IBM/sarama.(*Broker).responseReceiver")
