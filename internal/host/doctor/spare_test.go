package doctor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/inspect"
)

// What was never used is said of a long watch without throttling.
func TestCPUToSpare(t *testing.T) {
	const day = 24 * time.Hour
	of := func(length time.Duration, throttled int64, highest, limit float64, requests ...float64) []string {
		p := followed(length, 5000, throttled, time.Millisecond, 0.1, inspect.Course{Highest: highest})
		p.CPU.CPUs, p.CPU.Own, p.Requests = limit, limit, requests
		return titles(examine(p))
	}
	for _, test := range []struct {
		name      string
		got, want []string
	}{
		{"a request", of(day, 0, 0.3, 4, 2), []string{"info: CPU request of 2 CPUs: its busiest second of 24h used 0.30 CPUs; a request of 400m CPU would free 1.6 CPUs of the node"}},
		{"a limit", of(day, 0, 0.3, 4), []string{"info: CPU limit of 4 CPUs: its busiest second of 24h used 0.30 CPUs; a limit of 400m CPU would have held all of them"}},
		{"a request that is used", of(day, 0, 1, 4, 2), []string{"info: CPU limit of 4 CPUs: its busiest second of 24h used 1.00 CPUs; a limit of 1.3 CPUs would have held all of them"}},
		{"too little to free", of(day, 0, 0.05, 0.25), nil},
		{"a peak near the limit", of(day, 0, 1.7, 4), nil},
		{"throttled", of(day, 1, 0.3, 4), nil},
		{"a short watch", of(time.Minute, 0, 0.3, 4), nil},
		{"idle, and not measured", of(day, 0, 0, 4), nil},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

func TestMemoryToSpare(t *testing.T) {
	of := func(watched time.Duration, limit, peak int64) []string {
		p, used := short(), peak
		p.Memory.Limit, p.Memory.Peak, p.Memory.Unreclaimable = limit, &peak, &used
		other := p // under the same limit
		other.PID = 77
		host := inspect.Host{Online: 4, Watched: watched, Processes: []inspect.Process{p, other}}
		return titles(Examine(host))
	}
	const mib = 1 << 20
	for _, test := range []struct {
		name      string
		got, want []string
	}{
		{"far above", of(time.Hour, 1024*mib, 100*mib), []string{"info: memory limit of 1 GiB: since the group was created it used at most 100 MiB, page cache included; a limit of 130 MiB would free 894 MiB"}},
		{"near", of(time.Hour, 240*mib, 100*mib), nil},
		{"little to free", of(time.Hour, 80*mib, 20*mib), nil},
		{"a short watch", of(time.Minute, 1024*mib, 100*mib), nil},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}
