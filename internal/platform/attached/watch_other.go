//go:build !linux

package attached

import "errors"

// Process is a process that is watched for its end.
type Process struct{}

// Watch starts to watch a process.
func Watch(int) (*Process, error) { return nil, errors.New("a process can be watched on Linux only") }

// Ended reports whether the process has ended.
func (*Process) Ended() bool { return false }

// Close stops watching.
func (*Process) Close() error { return nil }
