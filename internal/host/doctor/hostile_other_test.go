//go:build !linux

package doctor_test

import "errors"

// mapFile is not supported: there is no /proc.
func mapFile(string) error { return errors.New("needs Linux") }

// readFile is not supported: there are no control groups.
func readFile(string, bool) error { return errors.New("needs Linux") }

// grow is not supported: there are no control groups.
func grow(string) error { return errors.New("needs Linux") }
