package sample

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/profile"
	"github.com/millicore/millicore/internal/lab/results"
)

// GoProfile is like that of a Go service under a limit of one CPU.
func GoProfile() *profile.Profile {
	return &profile.Profile{
		Runtime: "go", Seconds: 10.1, BusySeconds: 9.86,
		Top: []profile.Function{
			{Name: "github.com/millicore/millicore/workloads/golang.isPrime", File: "golang/prime.go:14", SelfShare: 0.931, CumShare: 0.964, SelfMS: 9180},
			{Name: "runtime.asyncPreempt", File: "runtime/preempt_amd64.s:8", SelfShare: 0.018, CumShare: 0.018, SelfMS: 177},
			{Name: "internal/runtime/syscall/linux.Syscall6", File: "linux/asm_linux_amd64.s:27", SelfShare: 0.0084, CumShare: 0.0084, SelfMS: 83},
			{Name: "encoding/json.(*decodeState).object", SelfShare: 0.0051, CumShare: 0.021, SelfMS: 50},
			{Name: "slices.SortFunc[go.shape.[]internal/x.T,go.shape.struct {}]", File: "slices/sort.go:30", SelfShare: 0.003, CumShare: 0.004, SelfMS: 30},
			{Name: "runtime.futex", File: "runtime/sys_linux_amd64.s:557", SelfShare: 0.0006, CumShare: 0.0006, SelfMS: 6},
			{Name: "net/http.(*conn).serve", File: "http/server.go:1887", CumShare: 0.98},
		},
		Files: []string{profile.CPUFile},
	}
}

// WithProfiles adds profiles to two of the searched cells.
func WithProfiles(d results.Results) results.Results {
	d.Summary.Cells[0].Profile = GoProfile()
	d.Summary.Cells[2].Profile = GoProfile()
	return d
}

func WithNodeProfile(c *summary.Cell) {
	c.Profile = &profile.Profile{Runtime: "node", Seconds: 32, BusySeconds: 27.2, Files: []string{"CPU.4711.cpuprofile"},
		Top: []profile.Function{{Name: "isPrime", File: "server.js:8", SelfShare: 0.9, CumShare: 0.91, SelfMS: 24480}}}
}
