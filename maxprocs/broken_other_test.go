//go:build !linux

package maxprocs

import "testing"

// systemBreaks are what else can stand in a file's place on Linux.
var systemBreaks map[string]func(t *testing.T, name string)
