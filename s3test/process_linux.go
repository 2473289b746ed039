package s3test

import "syscall"

// attributes have a server end when the tests are killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
