//go:build !linux

package shim

// Main does nothing: there are no control groups here.
func Main([]string) {}
