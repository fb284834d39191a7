// Package testkit holds what the tests of this module and of maxprocs share: waiting for
// an event, and directories of control groups. It imports only the standard library. The
// root module has a kit of its own, test/testkit, which these modules do not require.
package testkit

import (
	"errors"
	"os"
	"testing"
	"time"
)

// patience bounds each wait. No machine needs that long.
const patience = 2 * time.Minute

// Until looks until a condition holds. what states the condition, such as "following
// ends"; a failure quotes it, and what was seen last.
func Until(t testing.TB, what string, look func() (holds bool, seen any)) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		late := time.Now().After(deadline)
		holds, seen := look()
		if holds {
			return
		}
		if late {
			t.Fatalf("not within %v: %s; seen last: %v", patience, what, seen)
		}
	}
}

// MakeGroup makes the directory of a control group. It is removed after the test.
func MakeGroup(t testing.TB, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		t.Skipf("needs control groups that can be written: %v", err)
	}
	t.Cleanup(func() { RemoveGroup(t, dir) })
}

// RemoveGroup removes the directory of a control group, when the kernel has let go of
// the last process in it.
func RemoveGroup(t testing.TB, dir string) {
	t.Helper()
	Until(t, "the control group is removed", func() (bool, any) {
		err := os.Remove(dir)
		return err == nil || errors.Is(err, os.ErrNotExist), err
	})
}
