// Package testkit holds what the tests of several packages share: waiting for an
// event, processes that end with their test, and which tests are long. It is for
// tests only, and imports only the standard library. Golden files are in
// testkit/golden, control groups in testkit/groups.
//
// The modules maxprocs and internal/cgroup do not require this one, so they have a small
// kit of their own: internal/cgroup/testkit.
package testkit

import (
	"os"
	"sync"
	"testing"
)

// Missing ends a test that lacks something on this machine. The test is skipped; with
// CI=true, where nothing may be missing, it fails.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Long skips a test in short mode. The reason says what takes the time: "100 searches".
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: " + reason)
	}
	if _, before := stated.LoadOrStore(t.Name(), true); !before {
		t.Cleanup(func() { stated.Delete(t.Name()) })
		t.Log("long: " + reason) // test/outcome prints it beside the seconds of the test
	}
}

// stated are the running tests whose reason was logged: a test may call Long for each of
// its measurements.
var stated sync.Map

// Campaign reports whether samples have their full size: MILLICORE_SAMPLES=full, which
// `make test-all` sets.
func Campaign() bool { return os.Getenv("MILLICORE_SAMPLES") == "full" }

// Samples is the size of a sample: few in short mode and with MILLICORE_SAMPLES=few, full
// in a campaign, and otherwise usual.
func Samples(few, usual, full int) int {
	switch {
	case Campaign():
		return full
	case testing.Short(), os.Getenv("MILLICORE_SAMPLES") == "few":
		return few
	}
	return usual
}
