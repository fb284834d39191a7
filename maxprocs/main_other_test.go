//go:build !linux

package maxprocs

func inGroup() {}
