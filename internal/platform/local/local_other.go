//go:build !linux

package local

import "github.com/millicore/millicore/internal/platform"

// New refuses: there are no control groups here.
func New(Options) (platform.Platform, error) { return nil, errNotLinux }

// Clean finds nothing: nothing can have been started here.
func Clean(Options) (Cleaned, error) { return Cleaned{}, nil }
