// Command millicore-semaphore runs the benchmarks of workloads/semaphore, as
// `go test -bench` runs them: by the testing package itself, with its flags
// (-test.bench, -test.benchtime, -test.count, -test.cpu), its way to choose b.N
// and its output. So it is built like every other program, and needs no Go
// toolchain where it runs.
//
// A sample workload is given no arguments, so the two that an experiment varies
// are taken from the environment where there are none: BENCH (-test.bench; all
// where it is absent) and BENCHTIME (-test.benchtime).
package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/millicore/millicore/workloads/semaphore"
)

func main() {
	os.Args = append(os.Args[:1], arguments(os.Args[1:], os.Getenv)...)
	// Main is what the testing package keeps for programs that stand in for
	// `go test`; it ends the process.
	testing.Main(regexp.MatchString, nil, semaphore.Benchmarks(), nil)
}

// arguments are those that were given or, where none were, the environment's.
func arguments(given []string, getenv func(string) string) []string {
	if len(given) > 0 {
		return given
	}
	bench := getenv("BENCH")
	if bench == "" {
		bench = "."
	}
	all := []string{"-test.bench=" + bench}
	if benchtime := getenv("BENCHTIME"); benchtime != "" {
		all = append(all, "-test.benchtime="+benchtime)
	}
	return all
}
