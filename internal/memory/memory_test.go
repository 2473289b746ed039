package memory_test

import (
	"context"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/memory"
)

const mib = 1 << 20

func TestLimit(t *testing.T) {
	o := memory.Options{Floor: 350 * mib, Ceiling: 1000 * mib}
	for _, tc := range []struct{ live, other, want int64 }{
		{0, 0, 350}, {100, 50, 350},
		{200, 50, 450}, // as much garbage as live data
		{475, 50, 1000}, {476, 50, 1000}, {5000, 50, 1000},
	} {
		if got := o.Limit(tc.live*mib, tc.other*mib) / mib; got != tc.want {
			t.Errorf("%d MiB live, %d others: limit of %d MiB, want %d", tc.live, tc.other, got, tc.want)
		}
	}
	if got := memory.Exactly(100*mib).Limit(500*mib, 0); got != 100*mib {
		t.Errorf("a limit that was asked for is %d", got)
	}
}

func TestDefaultFitsThisMachine(t *testing.T) {
	o := memory.Default()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if o.Floor > memory.DefaultFloor || o.Ceiling == 1<<50 {
		t.Errorf("%+v: the memory of this machine is not known", o)
	}
}

func TestValidate(t *testing.T) {
	for _, o := range []memory.Options{{}, memory.Exactly(memory.Least - 1), {Floor: 2 * memory.Least, Ceiling: memory.Least}} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "memory limits of") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What is live moves the limit; the end of the context leaves it.
func TestFollow(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	if before != math.MaxInt64 {
		t.Skip("GOMEMLIMIT is set")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := memory.Follow(ctx, memory.Exactly(123*mib)); err != nil {
		t.Fatal(err)
	}
	if got := debug.SetMemoryLimit(-1); got != 123*mib {
		t.Errorf("the limit of the process is %d", got)
	}
}
