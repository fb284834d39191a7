//go:build !linux

package safefile

import (
	"iter"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// controls is not supported: rights belong to the whole program here.
func controls(string) (Rights, bool, error) { return Rights{}, false, nil }

func prefixes(string) iter.Seq[string] { return func(func(string) bool) {} }

// Do runs f with the caller's rights.
func (r Rights) Do(f func() error) error { return f() }

// Credential is none: the caller stays the user.
func (r Rights) Credential() *syscall.Credential { return nil }
