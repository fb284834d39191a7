package database

import (
	"syscall"

	"github.com/millicore/millicore/internal/platform"
)

// attributes are those of a process that runs as a user and ends with this one.
func attributes(u *platform.User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if u != nil {
		a.Credential = &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	}
	return a
}
