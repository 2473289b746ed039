package crawl

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/metrics"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// meter has a process's metrics, and the numbers for the result of a run.
type meter struct {
	*metrics.Set
	bytes  atomic.Int64 // of page bodies
	claims atomic.Int64

	mu       sync.Mutex
	last     *weftpb.Gauges
	outcomes map[int32]map[string]int64
	down     map[int32]map[string]int64
}

func newMeter(registry *prometheus.Registry) *meter {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	return &meter{Set: metrics.New(registry), outcomes: map[int32]map[string]int64{}, down: map[int32]map[string]int64{}}
}

// Page counts a page handed out.
func (m *meter) Page(bytes int) {
	m.bytes.Add(int64(bytes))
	m.Set.Page(bytes)
}

// Ledger also counts claims.
func (m *meter) Ledger(stage topics.Stage, kind string) {
	if kind == ledger.IncidentClaim {
		m.claims.Add(1)
	}
	m.Set.Ledger(stage, kind)
}

// Status notes the crawl's status.
func (m *meter) Status(s status.Status) {
	m.mu.Lock()
	m.last = s.Gauges
	m.mu.Unlock()
	m.Set.Status(s)
}

// Outcomes keeps the last outcomes of a partition.
func (m *meter) Outcomes(partition int32, outcomes map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[partition] = maps.Clone(outcomes)
}

// Down keeps the number of URLs of each host of a partition that is down.
func (m *meter) Down(partition int32, hosts map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down[partition] = maps.Clone(hosts)
}

// total returns the sums over all partitions: settled URLs by outcome, and URLs by host that
// is down.
func (m *meter) total() (outcomes, down map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sum(m.outcomes), sum(m.down)
}

func sum(byPartition map[int32]map[string]int64) map[string]int64 {
	sum := map[string]int64{}
	for _, counts := range byPartition {
		for name, n := range counts {
			sum[name] += n
		}
	}
	return sum
}

// known is the number of URLs of the crawl, 0 before the first status.
func (m *meter) known() int64 { return frontier.Known(m.gauges()) }

// gauges are those of the last status, nil before the first.
func (m *meter) gauges() *weftpb.Gauges {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
