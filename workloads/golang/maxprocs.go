package golang

import (
	"fmt"
	"net/http"
	"runtime"
)

// maxMaxProcs bounds what POST /maxProcs/{n} may ask for: the runtime
// allocates for each processor, used or not.
const maxMaxProcs = 1024

// getMaxProcs answers with GOMAXPROCS and the number of CPUs in the affinity mask, which
// a CPU quota does not change.
func getMaxProcs(w http.ResponseWriter, _ *http.Request) error {
	return answerText(w, "Go is using %d CPUs and there are %d CPUs available\n",
		runtime.GOMAXPROCS(0), runtime.NumCPU())
}

// setMaxProcs sets GOMAXPROCS. Any value, the present one too, ends the
// runtime's own updates from the cgroup until the process ends.
func setMaxProcs(w http.ResponseWriter, r *http.Request) error {
	n, err := pathNumber(r, 1, maxMaxProcs)
	if err != nil {
		return err
	}
	previous := runtime.GOMAXPROCS(int(n))
	return answerText(w, "Go is now using %d CPUs, previously it was using %d CPUs\n", n, previous)
}

func answerText(w http.ResponseWriter, format string, args ...any) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// A failed write means that the client is gone: nobody would see an error.
	_, _ = fmt.Fprintf(w, format, args...)
	return nil
}
