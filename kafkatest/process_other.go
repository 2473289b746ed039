//go:build !linux

package kafkatest

import "syscall"

// attributes: elsewhere a broker outlives tests that are killed.
func attributes() *syscall.SysProcAttr { return nil }
