package attached

import (
	"os"
	"runtime"
	"testing"
)

func TestThisProcessIsObserved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	c, err := processCounters(os.Getpid())
	if err != nil || *c.Memory < 1<<20 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := processCounters(1 << 30); err == nil {
		t.Error("a process that is none is there")
	}
}
