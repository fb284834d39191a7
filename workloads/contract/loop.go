package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// maxWorkers is the most that WORKERS takes.
const maxWorkers = 1024

// loopAnswer is what GET /loop answers.
type loopAnswer struct {
	N       uint64 `json:"n"`
	Workers uint64 `json:"workers"`
	Check   uint32 `json:"check"`
}

// checkOf is the check value of n iterations by so many workers.
func checkOf(n, workers uint64) uint32 {
	check := uint32(0)
	for i := range workers {
		x := uint32(i + 1)
		for range n*(i+1)/workers - n*i/workers {
			x = x*1664525 + 1013904223
		}
		check ^= x
	}
	return check
}

// runLoop requests a loop and checks its answer byte for byte; 0 workers accepts any
// allowed number. It returns the number of workers in the answer.
func (s service) runLoop(t *testing.T, n, workers uint64) uint64 {
	t.Helper()
	return s.get(t, fmt.Sprintf("/loop?n=%d", n)).wantLoop(t, n, workers)
}

func (r reply) wantLoop(t *testing.T, n, workers uint64) uint64 {
	t.Helper()
	r.wantJSONHeaders(t, http.StatusOK)
	var got loopAnswer
	strictly(t, r.body, &got)
	if got.Workers < 1 || got.Workers > maxWorkers || workers != 0 && got.Workers != workers {
		t.Fatalf("n %d: %d workers, want %d (0: 1 to %d)", n, got.Workers, workers, maxWorkers)
	}
	r.wantJSON(t, http.StatusOK, fmt.Sprintf(`{"n":%d,"workers":%d,"check":%d}`, n, got.Workers, checkOf(n, got.Workers)))
	return got.Workers
}

// runsLoop has loops of fewer iterations than workers, of shares that are not
// even, and of some that take a while.
func (s service) runsLoop(t *testing.T) {
	workers := s.workers
	for _, n := range []uint64{1, 2, 3, 5, 7, 1000, 1001, 65_537, 3_000_017} {
		workers = s.runLoop(t, n, workers)
	}
	s.get(t, "/loop?n=007").wantLoop(t, 7, workers)
	s.get(t, "/loop?page=2&n=7&N=8").wantLoop(t, 7, workers)
}

// runsLoopsAtOnce has workers that are busy with one loop asked for others.
func (s service) runsLoopsAtOnce(t *testing.T) {
	const loops = 24
	size := func(i int) uint64 { return 1 + uint64(i)*uint64(i)*1237 }
	requests := make([]request, loops)
	for i := range requests {
		requests[i] = request{method: http.MethodGet, path: fmt.Sprintf("/loop?n=%d", size(i))}
	}
	for i, r := range s.atOnce(t, requests) {
		r.wantLoop(t, size(i), s.workers)
	}
}

// badLoops are queries whose n is refused, by /loop and by POST /counter/{key}.
var badLoops = map[string]string{
	"missing":           "",
	"of another name":   "?N=7",
	"empty":             "?n=",
	"without a sign =":  "?n",
	"zero":              "?n=0",
	"over its bound":    "?n=100000000001",
	"2 to the 64th":     "?n=18446744073709551616",
	"of 1,000 digits":   "?n=" + strings.Repeat("9", 1000),
	"a word":            "?n=seven",
	"negative":          "?n=-7",
	"signed":            "?n=%2B7",
	"a fraction":        "?n=7.0",
	"an exponent":       "?n=1e3",
	"hexadecimal":       "?n=0x7",
	"an underscore":     "?n=1_000",
	"a space before it": "?n=%207",
	"a space behind it": "?n=7%20",
	"digits not ASCII":  "?n=%D9%A7",
	"letters behind it": "?n=7n",
}

func (s service) refusesLoop(t *testing.T) {
	for name, query := range badLoops {
		t.Run(name, func(t *testing.T) {
			s.get(t, "/loop"+query).wantRefusal(t, http.StatusBadRequest)
		})
	}
}
