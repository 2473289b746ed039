package crawl

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/topics"
)

type meter struct {
	bytes atomic.Int64
	last  drain.Status
}

func newMeter(*prometheus.Registry) *meter { return &meter{} }

func (m *meter) Rejected(topics.Stage, string) {}
func (m *meter) Normalized(string, int)        {}
func (m *meter) Deduped(int, int)              {}
func (m *meter) Ledger(topics.Stage, string)   {}
func (m *meter) Exchange(*fetch.Exchange)      {}
func (m *meter) Page(bytes int)                { m.bytes.Add(int64(bytes)) }
func (m *meter) status(s drain.Status)         { m.last = s }
