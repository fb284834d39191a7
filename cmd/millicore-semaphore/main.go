// Command millicore-semaphore runs the benchmarks of workloads/semaphore with the testing
// package, as `go test -bench` does: with its flags (-test.bench, -test.benchtime,
// -test.count, -test.cpu), its choice of b.N and its output. It needs no Go toolchain
// where it runs.
//
// The lab starts a sample workload without arguments. Then the environment sets the two
// that an experiment varies: BENCH (-test.bench; default: all) and BENCHTIME
// (-test.benchtime).
package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/millicore/millicore/workloads/semaphore"
)

func main() {
	os.Args = append(os.Args[:1], arguments(os.Args[1:], os.Getenv)...)
	// Main exists for programs that replace `go test`. It ends the process.
	testing.Main(regexp.MatchString, nil, semaphore.Benchmarks(), nil)
}

// arguments returns args or, if there are none, those of the environment.
func arguments(args []string, getenv func(string) string) []string {
	if len(args) > 0 {
		return args
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
