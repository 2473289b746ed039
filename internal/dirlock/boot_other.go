//go:build !linux

package dirlock

// Boot names the boot of this machine. Empty: unknown.
func Boot() string { return "" }
