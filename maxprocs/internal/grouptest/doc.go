//go:build !linux

// Package grouptest makes control groups of the running kernel for tests, on
// Linux.
package grouptest
