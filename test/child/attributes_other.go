//go:build !linux

package child

import "syscall"

// attributes: elsewhere a child outlives a process that is killed.
func attributes() *syscall.SysProcAttr { return nil }
