package plan_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/inspect/plan"
)

// A file of costs is a model or refused. One that is taken is the same when it is
// written and read again, and whatever crawl is planned by it, the plan is made
// of numbers that JSON can hold, none of them negative.
func FuzzParseModel(f *testing.F) {
	text, err := json.Marshal(plan.Default())
	if err != nil {
		f.Fatal(err)
	}
	large := plan.Default()
	large.BloomBits = 1e12
	large.Stages["fetch"] = plan.Stage{CPU: plan.Cost{Page: 1e12}, Idle: 1e12, PeakMiB: 1e12}
	costly, err := json.Marshal(large)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, int64(1e9), int64(2e7), 30.0, 60.0, 4.0, 0.6, int64(time.Second))
	f.Add(costly, int64(1e12), int64(1), 1e-4, 1e6, 1e6, 0.001, int64(time.Hour))
	f.Add(append(text, "{}"...), int64(1), int64(1), 1.0, 0.0, 1.0, 1.0, int64(1))
	f.Add([]byte(`{"stages":{}}`), int64(1), int64(1), 1.0, 0.0, 1.0, 1.0, int64(0))
	f.Fuzz(func(t *testing.T, text []byte, pages, domains int64, days, links, known, load float64, delay int64) {
		m, err := plan.ParseModel(text)
		if err != nil {
			m = plan.Default()
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("a model that was read cannot be written: %v", err)
		}
		if again, err := plan.ParseModel(written); err != nil || !cmp.Equal(m, again) {
			t.Fatalf("%s\nwritten again: %v %s", written, err, cmp.Diff(m, again))
		}
		if err := m.Rounded().Validate(); err != nil {
			t.Fatalf("rounded it is none: %v", err)
		}
		c := plan.DefaultCrawl()
		c.Pages, c.Domains, c.Days, c.Links, c.Known, c.Load, c.Delay = pages, domains, days, links, known, load, time.Duration(delay)
		if c.Validate() != nil {
			return
		}
		p := plan.For(c, m)
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
		for name, v := range figures(p) {
			if v < 0 {
				t.Errorf("%s is %v", name, v)
			}
		}
		if p.Workers.Count < 1 || p.Brokers.Count < c.Replication || p.Partitions < 1 {
			t.Errorf("%d workers, %d brokers, %d partitions", p.Workers.Count, p.Brokers.Count, p.Partitions)
		}
	})
}
