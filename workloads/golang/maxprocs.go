package golang

import (
	"fmt"
	"runtime"
)

// maxMaxProcs bounds what POST /maxProcs/{n} may ask for: the runtime
// allocates for each processor, used or not.
const maxMaxProcs = 1024

// getMaxProcs answers with GOMAXPROCS and the number of CPUs in the affinity mask, which
// a CPU quota does not change.
func getMaxProcs(call) (content, error) {
	return text("Go is using %d CPUs and there are %d CPUs available\n",
		runtime.GOMAXPROCS(0), runtime.NumCPU())
}

// setMaxProcs sets GOMAXPROCS. Any value, the present one too, ends the
// runtime's own updates from the cgroup until the process ends.
func setMaxProcs(c call) (content, error) {
	n, err := number(c.parameter(), 1, maxMaxProcs)
	if err != nil {
		return content{}, err
	}
	previous := runtime.GOMAXPROCS(int(n))
	return text("Go is now using %d CPUs, previously it was using %d CPUs\n", n, previous)
}

func text(format string, args ...any) (content, error) {
	return content{"text/plain; charset=utf-8", fmt.Appendf(nil, format, args...)}, nil
}
