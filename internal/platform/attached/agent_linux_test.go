package attached

import (
	"io"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// An agent that ends as it is about to be killed was stopped.
func TestAnAgentEndsBeforeItIsKilled(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		out, in := io.Pipe()
		a := &agent{cmd: cmd, in: in, out: out, exited: make(chan struct{})}
		go func() {
			time.Sleep(2 * platform.StopGrace)
			close(a.exited)
		}()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}
