package processors

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, meters) }

// meters is the one goroutine that sarama's metrics library starts with its
// first meter, for all meters of the process and for good.
var meters = goleak.IgnoreTopFunction("github.com/rcrowley/go-metrics.(*meterArbiter).tick")
