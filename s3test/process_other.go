//go:build !linux

package s3test

import "syscall"

// attributes: elsewhere a server outlives tests that are killed.
func attributes() *syscall.SysProcAttr { return nil }
