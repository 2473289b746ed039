// Package memory keeps the memory of a process near what is live.
//
// Go's collector lets the heap grow by a share of what is live (GOGC). A crawl makes so
// much garbage that a large share saves CPU while little is live, and wastes memory once
// much is. So a soft limit (runtime/debug.SetMemoryLimit) bounds the growth, and the limit
// follows what is live:
//
//	live data   small ──────────────────────────────────────────▶ large
//	limit       Floor                    twice the live data      Ceiling
//	collector   by GOGC, up to Floor     as with GOGC=100         at most half of the CPU
//
// The limit counts what the Go runtime has mapped: heap, stacks, and its own data. The
// program's code, some 50 MiB, comes on top.
package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/weftcrawl/weft/internal/supervise"
)

// Options bound the memory of a process, in bytes.
type Options struct {
	// Floor is the limit while little is live.
	Floor int64
	// Ceiling is the largest limit. A process that has more live data than that spends up
	// to half of its CPU on collections, and goes on.
	Ceiling int64
}

// DefaultFloor keeps a crawl of 2,000 domains with 700,000 queued URLs below 400 MB. Such a
// crawl has 95 to 125 MiB of live data, 30 MiB of stacks, and some 60 MiB in gaps of the heap, and
// makes 0.6 MB of garbage for each page. The rest of the limit is room for garbage
// (docs/decisions/0050-a-limit-of-335-mib.md has the measurements).
const DefaultFloor = 335 << 20

// Default returns the bounds for this machine, or for the container of the process: a
// tenth of its memory is left to others.
func Default() Options {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit == 0 {
		return Options{Floor: DefaultFloor, Ceiling: 1 << 50} // not known
	}
	ceiling := int64(min(limit, 1<<50) / 10 * 9)
	return Options{Floor: min(DefaultFloor, ceiling), Ceiling: ceiling}
}

// Exactly returns bounds with one limit.
func Exactly(limit int64) Options { return Options{Floor: limit, Ceiling: limit} }

// Least is the smallest limit that lets a crawl work.
const Least = 64 << 20

// Validate says what is wrong with the options, if anything.
func (o Options) Validate() error {
	if o.Floor < Least || o.Ceiling < o.Floor {
		return fmt.Errorf("memory limits of %d to %d bytes: the first is at least %d, and the second is not below it", o.Floor, o.Ceiling, Least)
	}
	return nil
}

// Limit returns the limit for a process with live bytes in its heap, and other bytes in
// stacks and in the runtime's own data.
func (o Options) Limit(live, other int64) int64 {
	return min(max(o.Floor, 2*live+other), o.Ceiling)
}

// Follow sets the limit of this process, at once and then each second, until ctx ends.
func Follow(ctx context.Context, o Options) error {
	adjust := func() error {
		debug.SetMemoryLimit(o.Limit(used()))
		return nil
	}
	return errors.Join(adjust(), supervise.Every(ctx, time.Second, adjust))
}

// used returns what the last collection found live, and what is mapped outside of the
// heap, in bytes.
func used() (live, other int64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	other = int64(samples[1].Value.Uint64())
	for _, heap := range samples[2:] {
		other -= int64(heap.Value.Uint64())
	}
	return int64(samples[0].Value.Uint64()), max(other, 0)
}
