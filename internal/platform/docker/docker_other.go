//go:build !linux

package docker

import (
	"context"

	"github.com/millicore/millicore/internal/platform"
)

// New refuses: the daemon's containers run in a machine of their own.
func New(Options) (platform.Platform, error) { return nil, errNotLinux }

// Clean refuses, as New does.
func Clean(context.Context, Options) (Cleaned, error) { return Cleaned{}, errNotLinux }
