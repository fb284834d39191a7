//go:build !linux

package doctor_test

import "errors"

// mapFile is not supported: there is no /proc.
func mapFile(string) error { return errors.New("needs Linux") }
