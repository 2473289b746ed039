package sim

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Where names are enough the budget of their address is used, by one process or by two, and
// whatever happens to them.
func TestBudgetOfAnAddressIsUsed(t *testing.T) {
	for name, c := range map[string]struct {
		processes int
		faults    []Fault
		least     float64
	}{
		"one process":   {processes: 1, least: 0.95},
		"two processes": {processes: 2, least: 0.9},
		"a kill":        {processes: 2, least: 0.75, faults: []Fault{{At: 30 * time.Second, Kind: KillProcess, For: time.Second}}},
	} {
		t.Run(name, func(t *testing.T) {
			sum, seeds := 0.0, []uint64{2, 3, 4}
			for _, seed := range seeds {
				w := newWorld(Case{
					Seed: seed, Sites: 20, Pages: 6, Addresses: 1, AddressDelay: time.Second, Processes: c.processes, Faults: c.faults,
				}, nil)
				if w.run(); w.violated != nil {
					t.Fatalf("seed %d: %v", seed, w.violated)
				}
				if told, asked := w.toldAddresses(t), len(w.web.log); c.faults == nil && told < asked {
					t.Errorf("seed %d: %d requests, and %d attempts tell their address", seed, asked, told)
				}
				sum += w.web.used(time.Second)
				t.Logf("seed %d: %.2f of the budget, %d visits given back", seed, w.web.used(time.Second), w.counts["crowded"])
			}
			if used := sum / float64(len(seeds)); used < c.least {
				t.Errorf("%.2f of the budget was used, want %.2f", used, c.least)
			}
		})
	}
}

// toldAddresses counts the attempts in scheduled that tell the address whose budget they took.
func (w *world) toldAddresses(t *testing.T) (n int) {
	t.Helper()
	for p := range w.partitions {
		err := w.events(w.names.Scheduled, p, func(body []byte) error {
			var s weftpb.Scheduled
			err := proto.Unmarshal(body, &s)
			for _, done := range s.Settled {
				if a, ok := netip.AddrFromSlice(done.Attempt.GetAddress()); ok && w.budget.Limits(a) {
					n++
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// used is the part of the budget of the one address that was used from the time on at which
// all names were known, until most requests were made.
func (b *web) used(delay time.Duration) float64 {
	log := slices.Collect(func(yield func(*access) bool) {
		for _, a := range b.log {
			if a.start > 20*time.Second && !yield(a) {
				return
			}
		}
	})
	log = log[:len(log)/2]
	return float64(len(log)-1) * float64(delay) / float64(log[len(log)-1].start-log[0].start)
}
