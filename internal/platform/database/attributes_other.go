//go:build !linux

package database

import (
	"syscall"

	"github.com/millicore/millicore/internal/platform"
)

// attributes are those of a process that runs as a user.
func attributes(u *platform.User) *syscall.SysProcAttr {
	if u == nil {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}}
}
