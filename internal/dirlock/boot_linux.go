package dirlock

import (
	"os"
	"strings"
)

// Boot identifies the boot of this machine and its containers: processes of another boot have
// ended. Empty: unknown.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
