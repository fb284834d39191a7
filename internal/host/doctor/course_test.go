package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
)

// followed is a Go service of 1 under 0.35 CPUs over a watch of which the course is known.
func followed(length time.Duration, periods, throttled int64, each time.Duration, cpus float64, c inspect.Course) inspect.Process {
	p := goService(1, 0.35)
	used := time.Duration(cpus * float64(length))
	w := inspect.Counts{Length: length, Periods: periods, Throttled: throttled, Stopped: time.Duration(throttled) * each, Used: &used}
	p.Throttling = &inspect.Throttling{Since: w, Watch: &w, Course: &c}
	p.Used = used
	return p
}

// A job that is stopped each time that it runs has few periods.
func TestAJobThatIsStoppedEachTime(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name string
		of   inspect.Process
		want string
	}{
		{"each second", followed(10*time.Second, 36, 12, 65*ms, 0.1, inspect.Course{Seconds: 10, Stopped: 10}), "warning: throttled while using 29% of its limit on average: bursts (12 of 36 periods throttled)"},
		{"once, as at a start", followed(10*time.Second, 36, 12, 65*ms, 0.1, inspect.Course{Seconds: 4, Stopped: 2}), ""},
		{"in less than half of the seconds", followed(10*time.Second, 46, 12, 65*ms, 0.1, inspect.Course{Seconds: 10, Stopped: 4}), ""},
		{"in few of its periods", followed(10*time.Second, 49, 11, 65*ms, 0.1, inspect.Course{Seconds: 10, Stopped: 10}), ""},
		{"for moments", followed(10*time.Second, 36, 12, 9*ms, 0.1, inspect.Course{Seconds: 10, Stopped: 10}), ""},
	} {
		got := titles(examine(test.of))
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || got[0] != test.want) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
	f := examine(followed(10*time.Second, 36, 12, 65*ms, 0.1, inspect.Course{Seconds: 10, Stopped: 10}))[0]
	if !strings.Contains(strings.Join(f.Evidence, "\n"), "stopped in 10 of the 10 seconds in which it ran") || f.Changes[0].Burst == 0 {
		t.Errorf("got %q, %+v", f.Evidence, f.Changes)
	}
}

// The average of a long watch hides its worst windows.
func TestTheWorstWindows(t *testing.T) {
	const day = 24 * time.Hour
	used := 3400 * time.Millisecond
	course := inspect.Course{Windows: 2000, Pressed: 3, PeakAt: 3 * time.Hour,
		Peak: inspect.Counts{Length: 10 * time.Second, Periods: 100, Throttled: 90, Stopped: 90 * 60 * time.Millisecond, Used: &used}}
	less := course
	less.Pressed = 2
	const title = "warning: limit of 350m CPU used up (97% on average): throttled in 90% of 100 periods in the worst 10 s of 24h"
	for _, test := range []struct {
		name      string
		length    time.Duration
		throttled int64
		course    inspect.Course
		want      string
	}{
		{"three of a day", day, 300, course, title},
		{"two of a day", day, 300, less, ""},
		{"a short watch", 50 * time.Second, 300, course, ""},
		{"an average that shows it", day, 60_000, course, "warning: throttled while using 14% of its limit on average: bursts (60,000 of 200,000 periods throttled)"},
	} {
		all := examine(followed(test.length, 200_000, test.throttled, 60*time.Millisecond, 0.05, test.course))
		if got := titles(all); test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || got[0] != test.want) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
	f := examine(followed(day, 200_000, 300, 60*time.Millisecond, 0.05, course))[0]
	const evidence = "this is the worst window of a watch of 24h, 3h after its beginning; 3 of 2000 windows in which it ran were throttled in 5% of the periods or more; " +
		"over the whole watch 300 of 200,000 periods throttled, 14% of the limit used"
	if !strings.Contains(strings.Join(f.Evidence, "\n"), evidence) {
		t.Errorf("got %q", f.Evidence)
	}
	if p := followed(day, 200_000, 300, 60*time.Millisecond, 0.05, course); func() bool {
		p.Info.Parallelism.Value = 8
		f := examine(p)[0]
		return f.Level != Warning || f.Changes[0].CPUs == 0
	}() {
		t.Errorf("rare windows are critical, or advise less parallelism: %q", titles(examine(p)))
	}
}
