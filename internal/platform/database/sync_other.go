//go:build !linux

package database

// flush leaves it to the system when what was written comes to its disk.
func flush(string) error { return nil }
