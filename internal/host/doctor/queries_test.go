package doctor

import (
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Workers of parallel queries are too many only where clients use the limit up without them.
func TestParallelQueries(t *testing.T) {
	const option = "max_parallel_workers_per_gather=4"
	for _, test := range []struct {
		name             string
		clients, workers int
		each             time.Duration // of CPU time, of 65 s that the group used; of 10 s under 0.2 CPUs
		options          []string
		living           bool // the workers, which then use half of the rest
		setting          string
		command          []string
	}{
		{"in its file", 8, 4, 4 * time.Second, nil, false, "max_parallel_workers_per_gather", nil},
		{"in its command", 8, 4, 4 * time.Second, []string{"-c", option}, false, "max_parallel_workers_per_gather", []string{"/pg/bin/postgres", "-c", "max_parallel_workers_per_gather=0"}},
		{"under a low limit", 8, 4, 600 * time.Millisecond, nil, false, "max_parallel_workers_per_gather", nil},
		{"that live as long as the watch", 3, 4, 600 * time.Millisecond, nil, true, "max_parallel_workers_per_gather", nil},
		{"of one client, that live", 1, 4, 600 * time.Millisecond, nil, true, "", nil},
		{"without them", 8, 0, 4 * time.Second, nil, false, "", nil},
		{"of one client", 1, 4, 20 * time.Second, nil, false, "", nil},
		{"that do little", 8, 4, 8 * time.Second, nil, false, "", nil},
	} {
		limit := 1.3
		if test.each < time.Second {
			limit = 0.2
		}
		server := watched(goService(2, limit), 98, 100, 1)
		server.Info = runtimes.Info{Runtime: runtimes.Postgres, Affinity: 8}
		server.Command, server.Used = append([]string{"/pg/bin/postgres"}, test.options...), 0
		all := []inspect.Process{server}
		for i := range test.clients {
			all = append(all, also(server, func(p *inspect.Process) {
				p.PID, p.Parent, p.Used, p.Command = 100+i, server.PID, test.each, []string{"postgres: u d 127.0.0.1(4) SELECT"}
			}))
		}
		var workers []int
		for i := range test.workers {
			workers = append(workers, 200+i)
			if test.living {
				all = append(all, also(server, func(p *inspect.Process) { p.PID, p.Parent, p.Used = 200+i, server.PID, 1500*time.Millisecond }))
			}
		}
		found := Examine(inspect.Host{Online: 8, Processes: all, QueryWorkers: map[int][]int{server.PID: workers}})
		if len(found) == 0 || len(found[0].Changes) == 0 {
			t.Errorf("%s: nothing is changed: %v", test.name, titles(found))
			continue
		}
		c := found[0].Changes[0]
		if c.Setting != test.setting || !slices.Equal(c.Command, test.command) || test.setting != "" && c.NewValue() != "0" {
			t.Errorf("%s: %+v", test.name, c)
		}
	}
}
