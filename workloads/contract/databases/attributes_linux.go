package databases

import "syscall"

// attributes are those of a process that ends with the test's, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
