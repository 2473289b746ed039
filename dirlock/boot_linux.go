package dirlock

import (
	"os"
	"strings"
)

// Boot names the boot of this machine, which is shared by its containers: what
// ran under another one has ended. Empty: unknown.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
