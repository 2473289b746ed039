package lease

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// BootTime is CLOCK_BOOTTIME (clock_gettime(2)).
func BootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("lease: boot-time clock: %v", err)) // Linux has it since 2.6.39
	}
	return time.Duration(ts.Nano())
}
