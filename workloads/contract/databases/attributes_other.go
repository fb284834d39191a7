//go:build !linux

package databases

import "syscall"

// attributes are none: only Linux ends a process with its parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
