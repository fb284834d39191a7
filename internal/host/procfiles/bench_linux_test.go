package procfiles

import (
	"os"
	"testing"
	"time"
)

// BenchmarkRead reports what the bounds cost: the time of Read over that of os.ReadFile, for
// the file environ of this process.
func BenchmarkRead(b *testing.B) {
	h := New("/proc")
	pid := os.Getpid()
	name := h.Path(pid, "environ")
	var bounded, plain time.Duration
	for b.Loop() {
		h.Begin()
		began := time.Now()
		if _, err := h.Read(pid, "environ"); err != nil {
			b.Fatal(err)
		}
		bounded += time.Since(began)
		began = time.Now()
		if _, err := os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(began)
	}
	b.ReportMetric(bounded.Seconds()/plain.Seconds(), "ratio")
}
