package testkit

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a test that fails as the function under test fails.
type failing struct {
	testing.TB
	said string
}

func (*failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// fails returns what a function says that fails its test.
func fails(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); do(f) }()
	<-done
	if f.said == "" {
		t.Error("it did not fail")
	}
	return f.said
}

func TestUntilEndsWithTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		Until(t, "a second has passed", func() bool { return time.Since(began) >= time.Second })
		if took := time.Since(began); took > 1020*time.Millisecond {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestUntilSaysWhatDidNotHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := fails(t, func(t testing.TB) { Until(t, "the service is up", func() bool { return false }) })
		if want := "not within 2m0s: the service is up"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
		said = fails(t, func(t testing.TB) { Value(t, "a file", func() (int, error) { return 0, errors.New("no such file") }) })
		if want := "not within 2m0s: a file: no such file"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
	})
}

// A machine can stand still for longer than a wait may take.
func TestUntilLooksOnceMoreAfterTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		Until(t, "the second look", func() bool {
			if looks++; looks == 1 {
				time.Sleep(2 * Patience)
			}
			return looks == 2
		})
	})
}

func TestAProgramEndsWithItsTest(t *testing.T) {
	var cmd *exec.Cmd
	t.Run("a test", func(t *testing.T) {
		cmd = exec.Command("sh", "-c", "echo starting; echo ready at 80; exec sleep 600")
		if line := StartReady(t, cmd, "ready"); line != "ready at 80" {
			t.Errorf("got %q", line)
		}
	})
	if err := syscall.Kill(cmd.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("it was not reaped: %v", err)
	}
}

func TestAProgramThatEndsBeforeItIsReady(t *testing.T) {
	said := fails(t, func(f testing.TB) { StartReady(f, exec.Command("sh", "-c", "echo other"), "ready") })
	if !strings.Contains(said, `ended before it wrote a line that begins with "ready"`) {
		t.Errorf("got %q", said)
	}
}

func TestSamples(t *testing.T) {
	t.Setenv("MILLICORE_SAMPLES", "full")
	if n := Samples(1, 2, 3); n != 3 {
		t.Errorf("%d in a campaign, want 3", n)
	}
	t.Setenv("MILLICORE_SAMPLES", "few")
	if n := Samples(1, 2, 3); n != 1 {
		t.Errorf("%d of few, want 1", n)
	}
	t.Setenv("MILLICORE_SAMPLES", "")
	if n := Samples(1, 2, 3); n != 2 && !testing.Short() || n != 1 && testing.Short() {
		t.Errorf("got %d", n)
	}
}
