//go:build !linux

package docker

import (
	"context"

	"github.com/millicore/millicore/internal/platform"
)

// New always fails: the daemon's containers run in a virtual machine.
func New(Options) (platform.Platform, error) { return nil, errNotLinux }

// Clean always fails, as New does.
func Clean(context.Context, Options) (Cleaned, error) { return Cleaned{}, errNotLinux }
