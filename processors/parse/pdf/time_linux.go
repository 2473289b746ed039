package pdf

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the clock of the CPU time of the calling thread, which any thread may read
// (clock_gettime(2), and CPUCLOCK_SCHED and CPUCLOCK_PERTHREAD_MASK in the kernel's posix-timers.h).
func threadTime() func() (time.Duration, bool) {
	clock := int32(^unix.Gettid())<<3 | 4 | 2
	return func() (time.Duration, bool) {
		var ts unix.Timespec
		err := unix.ClockGettime(clock, &ts)
		return time.Duration(ts.Nano()), err == nil
	}
}
