package main

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow to three and a half times what is live before it
// is collected (Go's default: twice). What is live is below 100 MB, whatever
// the size of the frontier; most of what is allocated is the trees of pages,
// which die at once, and collecting less often saves a tenth of the CPU.
const gcPercent = 250

// tuneMemory sets gcPercent unless the environment has a wish of its own.
func tuneMemory() { collectAt(gcPercent) }

// collectAt has the heap collected when it has grown by so many percent, unless
// the environment has a wish of its own.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
