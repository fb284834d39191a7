package prometheus

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestCollector(t *testing.T) {
	used, limit, inUse, kills := 2500*time.Millisecond, int64(4096), int64(1024), int64(0)
	for _, tt := range []struct {
		name  string
		stats maxprocs.Stats
		want  string
	}{
		{"limited", maxprocs.Stats{
			GOMAXPROCS: 2,
			Limit:      maxprocs.CPULimit{State: maxprocs.Limited, CPUs: 1.5},
			Throttling: &maxprocs.Throttling{Periods: 10, Throttled: 1500 * time.Millisecond},
			CPUTime:    &used,
			Memory:     maxprocs.Memory{Limit: &limit, WorkingSet: &inUse, OOMKills: &kills},
			Pressure:   maxprocs.Pressure{Memory: maxprocs.Stall{Some: &used}},
		}, `
# HELP maxprocs_cpu_seconds_total CPU time that the group used.
# TYPE maxprocs_cpu_seconds_total counter
maxprocs_cpu_seconds_total 2.5
# HELP maxprocs_gomaxprocs GOMAXPROCS.
# TYPE maxprocs_gomaxprocs gauge
maxprocs_gomaxprocs 2
# HELP maxprocs_limit_cpus CPU limit in effect, in CPUs; absent if there is none or it is not known.
# TYPE maxprocs_limit_cpus gauge
maxprocs_limit_cpus 1.5
# HELP maxprocs_memory_limit_bytes Memory limit in effect; absent if there is none or it is not known.
# TYPE maxprocs_memory_limit_bytes gauge
maxprocs_memory_limit_bytes 4096
# HELP maxprocs_memory_working_set_bytes Memory in use under that limit, without page cache that can be dropped first.
# TYPE maxprocs_memory_working_set_bytes gauge
maxprocs_memory_working_set_bytes 1024
# HELP maxprocs_oom_kills_total Processes of this process's group that the kernel killed for a lack of memory.
# TYPE maxprocs_oom_kills_total counter
maxprocs_oom_kills_total 0
# HELP maxprocs_periods_total Periods of the CPU limit in which the group ran.
# TYPE maxprocs_periods_total counter
maxprocs_periods_total 10
# HELP maxprocs_pressure_memory_waiting_seconds_total Time for which a task of this process's group waited for memory (PSI, some).
# TYPE maxprocs_pressure_memory_waiting_seconds_total counter
maxprocs_pressure_memory_waiting_seconds_total 2.5
# HELP maxprocs_throttled_periods_total Periods in which the group was throttled.
# TYPE maxprocs_throttled_periods_total counter
maxprocs_throttled_periods_total 0
# HELP maxprocs_throttled_seconds_total Time for which the group was throttled, summed over CPUs.
# TYPE maxprocs_throttled_seconds_total counter
maxprocs_throttled_seconds_total 1.5
`},
		{"not measured", maxprocs.Stats{GOMAXPROCS: 8}, `
# HELP maxprocs_gomaxprocs GOMAXPROCS.
# TYPE maxprocs_gomaxprocs gauge
maxprocs_gomaxprocs 8
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry() // checks what is collected against what is described
			registry.MustRegister(newCollector(func() maxprocs.Stats { return tt.stats }))
			if err := testutil.GatherAndCompare(registry, strings.NewReader(tt.want)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCollectorOfThisProcess(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "maxprocs_gomaxprocs" {
			if got := family.GetMetric()[0].GetGauge().GetValue(); got != float64(runtime.GOMAXPROCS(0)) {
				t.Errorf("got %v, want %d", got, runtime.GOMAXPROCS(0))
			}
			return
		}
	}
	t.Errorf("got %v, want GOMAXPROCS", families)
}
