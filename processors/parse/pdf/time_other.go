//go:build !linux

package pdf

import "time"

// threadTime: the CPU time of a thread is not known here.
func threadTime() func() (time.Duration, bool) {
	begun := time.Now()
	return func() (time.Duration, bool) { return time.Since(begun), true }
}
