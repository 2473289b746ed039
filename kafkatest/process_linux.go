package kafkatest

import "syscall"

// attributes have a broker end when the tests are killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
