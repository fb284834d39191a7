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

// BenchmarkLimitBroken measures the verification of all replicas at the end of an interval,
// by the number of processes of the machine and of replicas. Few processes need a pid
// namespace of their own:
//
//	unshare --pid --fork --mount-proc go test -run xxx -bench LimitBroken ./internal/platform/local
func BenchmarkLimitBroken(b *testing.B) {
	for _, c := range []struct{ processes, replicas int }{{10, 1}, {100, 1}, {1000, 1}, {1000, 10}, {10_000, 1}} {
		b.Run(fmt.Sprintf("processes=%d/replicas=%d", c.processes, c.replicas), func(b *testing.B) {
			p, err := New(Options{State: b.TempDir()})
			if err != nil {
				b.Skip(err)
			}
			defer p.Close()
			unit := server(b.TempDir())
			unit.Limits.Replicas = c.replicas
			u, err := p.Start(b.Context(), unit)
			if err != nil {
				b.Fatal(err)
			}
			populate(b, c.processes)
			verify := func() {
				since := time.Now()
				for _, r := range u.Replicas() {
					v, _ := platform.As[platform.LimitVerifier](r)
					if why := v.LimitBroken(since); why != "" {
						b.Fatal(why)
					}
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
