package expvars

import (
	"encoding/json"
	"errors"
	"expvar"
	"runtime"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
)

const noPressure = `"pressure_cpu_stalled_seconds":null,"pressure_cpu_waiting_seconds":null,"pressure_io_stalled_seconds":null,` +
	`"pressure_io_waiting_seconds":null,"pressure_memory_stalled_seconds":null,"pressure_memory_waiting_seconds":null`

func nothing(state string) string {
	return `{"cpu_seconds":null,"cpu_wait_seconds":null,"gomaxprocs":8,"limit_cpus":null,"limit_state":"` + state + `","memory_limit_bytes":null,` +
		`"memory_working_set_bytes":null,"oom_kills":null,"periods":null,` + noPressure + `,"throttled_periods":null,"throttled_seconds":null}`
}

func TestFigures(t *testing.T) {
	mebibyte := int64(1 << 20)
	for _, tt := range []struct {
		name  string
		stats maxprocs.Stats
		want  string
	}{
		{"limited", maxprocs.Stats{
			GOMAXPROCS: 2,
			Limit:      maxprocs.CPULimit{State: maxprocs.Limited, CPUs: 1.5, Dir: "/sys/fs/cgroup/a"},
			Throttling: &maxprocs.Throttling{Periods: 10, Throttled: 1500 * time.Millisecond},
			Memory:     maxprocs.Memory{Limit: &mebibyte},
		}, `{"cpu_seconds":null,"cpu_wait_seconds":null,"gomaxprocs":2,"limit_by":"/sys/fs/cgroup/a","limit_cpus":1.5,"limit_state":"limited",` +
			`"memory_limit_bytes":1048576,"memory_working_set_bytes":null,"oom_kills":null,"periods":10,` + noPressure + `,"throttled_periods":0,"throttled_seconds":1.5}`},
		{"unlimited, and nothing measured", maxprocs.Stats{
			GOMAXPROCS: 8,
			Limit:      maxprocs.CPULimit{State: maxprocs.Unlimited},
		}, nothing("unlimited")},
		{"not known", maxprocs.Stats{
			GOMAXPROCS: 8,
			Limit:      maxprocs.CPULimit{State: maxprocs.Unknown, Err: errors.New("refused")},
			Err:        errors.New("refused"),
		}, nothing("unknown")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(figuresOf(tt.stats))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestPublished(t *testing.T) {
	v := expvar.Get("maxprocs")
	if v == nil {
		t.Fatal("it is not published")
	}
	var f struct {
		GOMAXPROCS int    `json:"gomaxprocs"`
		LimitState string `json:"limit_state"`
	}
	if err := json.Unmarshal([]byte(v.String()), &f); err != nil || f.GOMAXPROCS != runtime.GOMAXPROCS(0) || f.LimitState == "" {
		t.Errorf("got %s, %v", v, err)
	}
}
