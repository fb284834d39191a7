package file_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
)

const searching = `
name: searching
services:
  given: {command: [./server, "${port}"]}
  fixed: {command: [./server], port: 8080, limits: {cpu: "${cpu}"}}
  found: {command: [./server], port: find, metrics: {dependency: db_wait_seconds}, limits: {cpu: null}}
limits: {cpu: 500m, memory: 64Mi}
vary: {cpu: ["1", null]}
load: {request: {path: /}, find: breaking-point}
objective: {p99: 100ms, availability: 99.9}
profile: true
`

func TestWhereASearchBegins(t *testing.T) {
	for _, c := range []struct {
		name, load string
		want       experiment.Load
	}{
		{"nothing said", "", experiment.Load{Rate: &experiment.Target{Value: 50}}},
		{"a rate", ", rate: 12.5", experiment.Load{Rate: &experiment.Target{Value: 12.5}}},
		{"users", ", users: 7", experiment.Load{Users: &experiment.Target{Value: 7}}},
		{"a rate that is null", ", rate: null, users: null", experiment.Load{Rate: &experiment.Target{Value: 50}}},
		{"even arrivals", ", spacing: even", experiment.Load{Rate: &experiment.Target{Value: 50}, Even: true}},
		{"no requests to end after", ", requests: null", experiment.Load{Rate: &experiment.Target{Value: 50}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parse(t, strings.Replace(searching, ", find:", c.load+", find:", 1))
			want := c.want
			want.Find = true
			want.Request = experiment.Request{Method: "GET", Path: "/"}
			want.Agents, want.Threads, want.Timeout = 1, 1, 2*time.Second
			if diff := cmp.Diff(want, e.Cells[0].Load); diff != "" {
				t.Errorf("load (-want +got):\n%s", diff)
			}
			if got := e.Measure.Measured(&e.Cells[0]); got != 0 {
				t.Errorf("a search has no measured part, got %v", got)
			}
		})
	}
}

func TestAVariedBeginningOfASearch(t *testing.T) {
	e := parse(t, `
name: x
services: {s: {command: [./server]}}
vary: {rate: [10, null]}
load: {request: {path: /}, rate: "${rate}", find: breaking-point}
objective: {availability: 99}
`)
	if a, b := e.Cells[0].Load.Rate.Value, e.Cells[1].Load.Rate.Value; a != 10 || b != 50 {
		t.Errorf("the searches begin at %v and %v, want 10 and 50", a, b)
	}
}

func TestHowASearchIsMeasured(t *testing.T) {
	for _, c := range []struct {
		name, measure string
		want          experiment.Measure
	}{
		{"nothing said", "", experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 500 * time.Millisecond}},
		{"nulls", "measure: {warmup: null, duration: null, repeats: null, interval: null}",
			experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 500 * time.Millisecond}},
		{"all said", "measure: {warmup: 0s, duration: 10s, repeats: 5, interval: 2s}",
			experiment.Measure{Warmup: 0, Duration: 10 * time.Second, Repeats: 5, Interval: 2 * time.Second}},
		{"whole periods of another length", "measure: {interval: 450ms}\nvary: {p: [150ms, 90ms]}\nlimits: {cpu: 1, period: '${p}'}",
			experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 450 * time.Millisecond}},
		{"no periods without a limit", "measure: {interval: 250ms}",
			experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 250 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parse(t, "name: x\nservices: {s: {command: [./server]}}\nload: {request: {path: /}, find: breaking-point}\nobjective: {p90: 1s}\n"+c.measure)
			if diff := cmp.Diff(c.want, e.Measure); diff != "" {
				t.Errorf("measure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsOfAServiceStandInThePlaceOfTheExperiments(t *testing.T) {
	type cell struct {
		Label  string
		CPU    int64
		Memory int64
		Port   int
		Find   bool
	}
	var got []cell
	for _, c := range parse(t, searching).Cells {
		got = append(got, cell{c.Label(), c.Limits.CPUMillis, c.Limits.Memory, c.Service.Port, c.Service.FindPort})
	}
	want := []cell{
		{"given", 500, 64 << 20, 0, false},
		{"fixed cpu=1", 1000, 64 << 20, 8080, false},
		{"fixed cpu=unset", 0, 64 << 20, 8080, false},
		{"found", 0, 64 << 20, 0, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestAServiceWithItsOwnLimitHasNoCellsForTheExperiments(t *testing.T) {
	e := parse(t, `
name: x
services:
  limited: {command: [./server]}
  own: {command: [./server], limits: {cpu: 2}}
  free: {command: [./server], limits: {cpu: null, period: null}}
limits: {cpu: "${cpu}", period: 50ms}
vary: {cpu: [500m, "1"]}
load: {request: {path: /}, users: 1}
`)
	type cell struct {
		Label  string
		CPU    int64
		Period time.Duration
	}
	var got []cell
	for _, c := range e.Cells {
		got = append(got, cell{c.Label(), c.Limits.CPUMillis, c.Limits.Period})
	}
	want := []cell{
		{"limited cpu=500m", 500, 50 * time.Millisecond},
		{"limited cpu=1", 1000, 50 * time.Millisecond},
		{"own", 2000, 50 * time.Millisecond},
		{"free", 0, 100 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// What no service takes over need not fit.
func TestAVariedLimitInWhosePlaceIsAnOwn(t *testing.T) {
	e := parse(t, `
name: x
services: {s: {command: [./server], env: {GOGC: "${v}"}, limits: {memory: 64Mi}}}
limits: {memory: "${v}Mi"}
vary: {v: ["off", null]}
load: {request: {path: /}, users: 1}
`)
	for _, c := range e.Cells {
		if c.Limits.Memory != 64<<20 {
			t.Errorf("%s has a limit of %d bytes, want its own of 64Mi", c.Label(), c.Limits.Memory)
		}
	}
}

func TestLettersOfANameInAFieldWithoutNames(t *testing.T) {
	s := parse(t, "name: x\nservices: {s: {command: [./server], dir: '/srv/$${x}', ready: '/$${y}'}}\nload: {request: {path: /}, users: 1}\n").Cells[0].Service
	if s.Dir != "/srv/${x}" || s.Ready.Path != "/${y}" {
		t.Errorf("got dir %q and ready %q", s.Dir, s.Ready.Path)
	}
}

// A record keeps its experiment as JSON.
func TestAnExperimentComesBackFromJSON(t *testing.T) {
	for name, text := range map[string]string{"everything": everything, "least": least, "searching": searching, "ramping": ramping} {
		t.Run(name, func(t *testing.T) {
			want := parse(t, text, "measure.repeats=2")
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got := new(experiment.Experiment)
			if err := json.Unmarshal(data, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("experiment (-want +got):\n%s", diff)
			}
		})
	}
}
