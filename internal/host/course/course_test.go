package course

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A second of a group: periods, throttled periods and milliseconds used.
type second struct{ periods, throttled, used int64 }

// courseOf follows a group through some seconds.
func courseOf(all ...second) Course {
	began := time.Unix(1000, 0)
	var none time.Duration
	c := Record(began, Counts{Used: &none})
	sum := Counts{}
	for i, s := range all {
		used := time.Duration(s.used) * time.Millisecond
		sum = sum.plus(Counts{Length: time.Second, Periods: s.periods, Throttled: s.throttled, Stopped: time.Duration(s.throttled) * 40 * time.Millisecond, Used: &used})
		c.Add(began.Add(time.Duration(i+1)*time.Second), sum)
	}
	return c.Course
}

func repeated(n int, s second) (all []second) {
	for range n {
		all = append(all, s)
	}
	return all
}

func TestCourse(t *testing.T) {
	const idle = 10
	whole := func(periods, throttled int64, used time.Duration) Counts {
		return Counts{Length: 10 * time.Second, Periods: periods, Throttled: throttled, Stopped: time.Duration(throttled) * 40 * time.Millisecond, Used: &used}
	}
	join := func(parts ...[]second) (all []second) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, test := range []struct {
		name string
		of   []second
		want Course
	}{
		{"a job of 100 ms each second, stopped each time", repeated(10, second{3, 1, 100}),
			Course{Highest: 0.1, Seconds: 10, Stopped: 10, Windows: 1, Peak: whole(30, 10, time.Second)}},
		{"nothing", repeated(10, second{}), Course{}},
		{"an hour of which 10 s are too much", join(repeated(idle, second{}), repeated(10, second{5, 0, 10}), repeated(10, second{10, 9, 900}), repeated(10, second{10, 0, 999})),
			Course{Highest: 0.999, Seconds: 30, Stopped: 10, Windows: 3, Pressed: 1, Peak: whole(100, 90, 9*time.Second), PeakAt: 20 * time.Second}},
		{"of windows that are not throttled the one that used most", join(repeated(10, second{10, 0, 300}), repeated(10, second{10, 0, 500}), repeated(10, second{10, 0, 400})),
			Course{Highest: 0.5, Seconds: 30, Windows: 3, Peak: whole(100, 0, 5*time.Second), PeakAt: 10 * time.Second}},
		{"throttled in few periods", repeated(10, second{4, 4, 100}), Course{Highest: 0.1, Seconds: 10, Stopped: 10, Windows: 1, Peak: whole(40, 40, time.Second)}},
		{"less than a window", repeated(9, second{10, 1, 100}), Course{Highest: 0.1, Seconds: 9, Stopped: 9}},
	} {
		if diff := cmp.Diff(test.want, courseOf(test.of...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// A group that is created again begins a new window.
func TestCourseOfANewGroup(t *testing.T) {
	began := time.Unix(1000, 0)
	c := Record(began, Counts{Periods: 100})
	c.Add(began.Add(5*time.Second), Counts{Periods: 150, Throttled: 50})
	c.Add(began.Add(9*time.Second), Counts{Periods: 1})
	c.Add(began.Add(14*time.Second), Counts{Periods: 51})
	if diff := cmp.Diff(Course{Seconds: 2, Stopped: 1}, c.Course); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	c.Add(began.Add(19*time.Second), Counts{Periods: 81})
	if c.Windows != 1 || c.Peak.Periods != 80 || c.Pressed != 0 || c.PeakAt != 9*time.Second {
		t.Errorf("got %+v", c.Course)
	}
}
