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

func TestFigures(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stats maxprocs.Stats
		want  string
	}{
		{"limited", maxprocs.Stats{
			GOMAXPROCS: 2,
			Limit:      maxprocs.CPULimit{State: maxprocs.Limited, CPUs: 1.5, Dir: "/sys/fs/cgroup/a"},
			Throttling: &maxprocs.Throttling{Periods: 10, Throttled: 1500 * time.Millisecond},
		}, `{"gomaxprocs":2,"limit_state":"limited","limit_cpus":1.5,"limit_by":"/sys/fs/cgroup/a","periods":10,"throttled_periods":0,"throttled_seconds":1.5}`},
		{"unlimited, and nothing measured", maxprocs.Stats{
			GOMAXPROCS: 8,
			Limit:      maxprocs.CPULimit{State: maxprocs.Unlimited},
		}, `{"gomaxprocs":8,"limit_state":"unlimited","limit_cpus":null,"periods":null,"throttled_periods":null,"throttled_seconds":null}`},
		{"not known", maxprocs.Stats{
			GOMAXPROCS: 8,
			Limit:      maxprocs.CPULimit{State: maxprocs.Unknown, Err: errors.New("refused")},
			Err:        errors.New("refused"),
		}, `{"gomaxprocs":8,"limit_state":"unknown","limit_cpus":null,"periods":null,"throttled_periods":null,"throttled_seconds":null}`},
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
	var f figures
	if err := json.Unmarshal([]byte(v.String()), &f); err != nil || f.GOMAXPROCS != runtime.GOMAXPROCS(0) || f.LimitState == "" {
		t.Errorf("got %s, %v", v, err)
	}
}
