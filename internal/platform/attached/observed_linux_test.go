package attached

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// The CPU time of a master is that of its workers, too.
func TestChildrenAreObserved(t *testing.T) {
	master := exec.Command("sh", "-c", "(while :; do :; done) & wait")
	master.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := master.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-master.Process.Pid, syscall.SIGKILL)
		_ = master.Wait()
	}()
	o, err := Observe(master.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	first := -1.0 // the worker counts from the reading that sees it
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := o.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if first < 0 {
			first = *c.CPU
		}
		if *c.CPU-first >= 0.1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%.2f s of CPU time after half a minute of a busy child", *c.CPU)
		}
	}
}
