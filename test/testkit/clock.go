package testkit

import (
	"testing"
	"time"
	"unsafe"
)

// AfterClockSet returns a time of time.Now as it would be if the machine's clock had been
// set ahead by whole seconds: with another wall time and the same monotonic time. Package
// time does not offer that. The seconds of a time with a monotonic reading are in the bits
// 30 to 62 of its first word (type Time in Go's time.go). Times in a bubble of
// testing/synctest have no monotonic reading.
func AfterClockSet(t testing.TB, at time.Time, ahead time.Duration) time.Time {
	t.Helper()
	seconds := int64(ahead / time.Second)
	set := at
	*(*uint64)(unsafe.Pointer(&set)) += uint64(seconds) << 30
	if set.Sub(at) != 0 || set.Unix()-at.Unix() != seconds {
		t.Fatal("this time has no monotonic reading, or the layout of time.Time is another one")
	}
	return set
}
