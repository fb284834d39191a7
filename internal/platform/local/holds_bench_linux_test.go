package local

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform"
)

// BenchmarkLimitBroken measures the verification of a replica at the end of an interval, by
// the number of processes of the machine. Ten need a pid namespace of their own:
//
//	unshare --pid --fork --mount-proc go test -bench LimitBroken ./internal/platform/local
func BenchmarkLimitBroken(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, err := New(Options{State: b.TempDir()})
			if err != nil {
				b.Skip(err)
			}
			defer p.Close()
			u, err := p.Start(b.Context(), server(b.TempDir()))
			if err != nil {
				b.Fatal(err)
			}
			populate(b, n)
			v, _ := platform.As[platform.LimitVerifier](u.Replicas()[0])
			verify := func() {
				if why := v.LimitBroken(); why != "" {
					b.Fatal(why)
				}
			}
			verify() // reads the processes that are new
			before := cpuUsed(b)
			for b.Loop() {
				verify()
			}
			b.ReportMetric(float64((cpuUsed(b)-before).Microseconds())/float64(b.N), "us-CPU/op")
		})
	}
}

// populate starts processes until the machine has n.
func populate(b *testing.B, n int) {
	b.Helper()
	pids, err := proc.PIDs()
	if err != nil {
		b.Fatal(err)
	}
	if len(pids) > n {
		b.Skipf("this machine has %d processes", len(pids))
	}
	for range n - len(pids) {
		c := exec.Command("sleep", "1d")
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Process.Kill(); c.Wait() })
	}
}

// cpuUsed is the CPU time of this process.
func cpuUsed(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
