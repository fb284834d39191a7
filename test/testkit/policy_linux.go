package testkit

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// UnderPolicy runs a function on a thread of its own that has a real-time scheduling
// policy, and waits for it. It skips the test if this process may not set the policy.
func UnderPolicy(t testing.TB, policy uint32, run func()) {
	t.Helper()
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: 1}
		err := unix.SchedSetAttr(0, &attr, 0)
		if err == nil {
			run()
		}
		refused <- err
	}()
	if err := <-refused; err != nil {
		t.Skip("setting a real-time policy needs CAP_SYS_NICE and a control group that allows it:", err)
	}
}
