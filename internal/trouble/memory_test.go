package trouble_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// The memory of processes is read, and troubles beside it stay what they are.
func TestMemory(t *testing.T) {
	admin := brokers(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	read := func(now time.Time) []trouble.Memory {
		t.Helper()
		all, err := trouble.ReadMemory(t.Context(), names, admin, now)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := read(noon); len(got) > 0 {
		t.Errorf("before anything is told: %v", got)
	}
	var nobody *trouble.Reporter
	nobody.Memory(t.Context(), topics.Parse, trouble.Memory{})

	one, other := trouble.NewReporter(names, admin, "a", 4), trouble.NewReporter(names, admin, "b", 4)
	other.Memory(t.Context(), topics.Parse, trouble.Memory{At: noon, Uses: map[string]int64{"bodies": 7}})
	one.Report(t.Context(), topics.Normalize, trouble.Trouble{Kind: trouble.Disk, Says: "disk: 1 MiB free", Since: noon, At: noon})
	one.Memory(t.Context(), topics.Normalize, trouble.Memory{At: noon, Limit: 100, Uses: map[string]int64{"garbage": 5}})
	want := []trouble.Memory{
		{Kind: trouble.KindMemory, Member: "a", At: noon, Limit: 100, Uses: map[string]int64{"garbage": 5}},
		{Kind: trouble.KindMemory, Member: "b", At: noon, Uses: map[string]int64{"bodies": 7}},
	}
	if diff := cmp.Diff(want, read(noon.Add(trouble.Lasting-time.Second))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := read(noon.Add(trouble.Lasting)); len(got) > 0 {
		t.Errorf("after a while: %v", got)
	}
	if got, want := told(t, admin, noon), "normalize a disk disk: 1 MiB free"; got != want {
		t.Errorf("troubles are %q, want %q", got, want)
	}
	one.End(t.Context(), topics.Normalize, trouble.Disk)
	if got := told(t, admin, noon); got != "" {
		t.Errorf("troubles are %q", got)
	}
	if diff := cmp.Diff(want, read(noon)); diff != "" {
		t.Errorf("after the trouble (-want +got):\n%s", diff)
	}
}

// Two long troubles leave no room for the memory, and are reported.
func TestMemoryYieldsToTroubles(t *testing.T) {
	admin := brokers(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	teller := trouble.NewReporter(names, admin, "a", 4)
	uses := map[string]int64{}
	for _, use := range memory.Uses() {
		uses[string(use)] = 1 << 40
	}
	reportLong(t, teller, now)
	teller.Memory(t.Context(), topics.Fetch, trouble.Memory{At: now, Uses: uses})
	holdsLong(t, admin, now)
	teller.End(context.WithoutCancel(t.Context()), topics.Fetch, trouble.Fails)
	if all, err := trouble.ReadMemory(t.Context(), names, admin, now); err != nil || len(all) != 1 || len(all[0].Uses) != len(uses) {
		t.Errorf("with room the memory is %v, %v", all, err)
	}
}
