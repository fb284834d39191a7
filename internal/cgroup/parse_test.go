package cgroup

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseNumber(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       int64
		bad        bool
	}{
		{"zero", "0\n", 0, false},
		{"largest", "9223372036854775807\n", math.MaxInt64, false},
		{"one above the largest", "9223372036854775808\n", 0, true},
		{"cut short before the newline", "12", 0, true},
		{"two lines", "1\n2\n", 0, true},
		{"negative", "-1\n", 0, true},
		{"empty file", "", 0, true},
		{"empty line", "\n", 0, true},
		{"spaces", " 1\n", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseNumber([]byte(tt.file))
			check(t, got, tt.want, err, tt.bad)
		})
	}
}

// check compares a parser's answer; a bad file must give ErrMalformed.
func check[T comparable](t *testing.T, got, want T, err error, bad bool) {
	t.Helper()
	switch {
	case bad && !errors.Is(err, ErrMalformed):
		t.Errorf("got %v, %v; want ErrMalformed", got, err)
	case !bad && (err != nil || got != want):
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestParseMax(t *testing.T) {
	type answer struct {
		n         int64
		unlimited bool
	}
	for _, tt := range []struct {
		name, file string
		want       answer
		bad        bool
	}{
		{"limited", "268435456\n", answer{268435456, false}, false},
		{"limited to nothing", "0\n", answer{0, false}, false},
		{"unlimited", "max\n", answer{0, true}, false},
		{"cut short", "max", answer{}, true},
		{"another word", "maximum\n", answer{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, unlimited, err := parseMax([]byte(tt.file))
			check(t, answer{n, unlimited}, tt.want, err, tt.bad)
		})
	}
}

type quotaPeriod struct{ quota, period time.Duration }

func TestParseCPUMax(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       quotaPeriod
		bad        bool
	}{
		{"limited", "50000 100000\n", quotaPeriod{50 * time.Millisecond, 100 * time.Millisecond}, false},
		{"unlimited", "max 100000\n", quotaPeriod{0, 100 * time.Millisecond}, false},
		{"quota 0", "0 100000\n", quotaPeriod{}, true},
		{"quota negative", "-1 100000\n", quotaPeriod{}, true},
		{"period 0", "50000 0\n", quotaPeriod{}, true},
		{"period 0 and unlimited", "max 0\n", quotaPeriod{}, true},
		{"no period", "50000\n", quotaPeriod{}, true},
		{"a third number", "50000 100000 1\n", quotaPeriod{}, true},
		{"a second line", "50000 100000\nmax 100000\n", quotaPeriod{}, true},
		{"microseconds beyond nanoseconds", "9223372036854775 9223372036854776\n", quotaPeriod{}, true},
		{"empty", "", quotaPeriod{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			quota, period, err := parseCPUMax([]byte(tt.file))
			check(t, quotaPeriod{quota, period}, tt.want, err, tt.bad)
		})
	}
}

func TestParseV1Quota(t *testing.T) {
	for _, tt := range []struct {
		name, quota, period string
		want                quotaPeriod
		bad                 bool
	}{
		{"limited", "50000\n", "100000\n", quotaPeriod{50 * time.Millisecond, 100 * time.Millisecond}, false},
		{"unlimited", "-1\n", "100000\n", quotaPeriod{0, 100 * time.Millisecond}, false},
		{"quota 0", "0\n", "100000\n", quotaPeriod{}, true},
		{"another negative quota", "-2\n", "100000\n", quotaPeriod{}, true},
		{"period 0", "50000\n", "0\n", quotaPeriod{}, true},
		{"period 0 and unlimited", "-1\n", "0\n", quotaPeriod{}, true},
		{"quota of v2", "max\n", "100000\n", quotaPeriod{}, true},
		{"empty quota", "", "100000\n", quotaPeriod{}, true},
		{"empty period", "50000\n", "", quotaPeriod{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			quota, period, err := parseV1Quota([]byte(tt.quota), []byte(tt.period))
			check(t, quotaPeriod{quota, period}, tt.want, err, tt.bad)
		})
	}
}

func TestParseCPUList(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       int
		bad        bool
	}{
		{"one", "0\n", 1, false},
		{"range", "0-3\n", 4, false},
		{"mixed", "0-4,6,8-10\n", 9, false},
		{"none", "\n", 0, false},
		{"range of one", "7-7\n", 1, false},
		{"falling range", "3-1\n", 0, true},
		{"twice", "0,0\n", 0, true},
		{"overlap", "0-3,2-5\n", 0, true},
		{"comma at the end", "0,\n", 0, true},
		{"open range", "0-\n", 0, true},
		{"three ends", "0-1-2\n", 0, true},
		{"enormous", "0-9223372036854775807\n", 0, true},
		{"cut short", "0-1", 0, true},
		{"two lines", "0\n1\n", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseCPUList([]byte(tt.file))
			check(t, got, tt.want, err, tt.bad)
		})
	}
}

func TestParseAffinity(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       int
		bad        bool
	}{
		{"among others", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-2\nMems_allowed_list:\t0\n", 3, false},
		{"a process named so", "Name:\tCpus_allowed_list:\nCpus_allowed_list:\t1\n", 1, false},
		{"no such line", "Name:\tx\n", 0, true},
		{"no CPU", "Cpus_allowed_list:\t\n", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseAffinity([]byte(tt.file))
			check(t, got, tt.want, err, tt.bad)
		})
	}
}

func TestParseCPUStatUnits(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		throttled  Value[time.Duration]
		burst      Value[time.Duration]
		bad        bool
	}{
		{"v1 counts nanoseconds", "throttled_time 1500\nburst_time 7\n", ValueOf[time.Duration](1500), ValueOf[time.Duration](7), false},
		{"v2 counts microseconds", "throttled_usec 1500\nburst_usec 7\n", ValueOf(1500 * time.Microsecond), ValueOf(7 * time.Microsecond), false},
		{"before bursts", "nr_periods 1\nthrottled_usec 0\n", ValueOf[time.Duration](0), Value[time.Duration]{}, false},
		{"unknown keys of any form", "new a b c\nnewer \nthrottled_usec 1\n", ValueOf(time.Microsecond), Value[time.Duration]{}, false},
		{"microseconds beyond nanoseconds", "throttled_usec 9223372036854776\n", Value[time.Duration]{}, Value[time.Duration]{}, true},
		{"key without value", "throttled_usec\n", Value[time.Duration]{}, Value[time.Duration]{}, true},
		{"cut short in a number", "nr_periods 10\nthrottled_usec 12", Value[time.Duration]{}, Value[time.Duration]{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s CPUStat
			err := parseCPUStat([]byte(tt.file), &s)
			check(t, [2]Value[time.Duration]{s.Throttled, s.Burst}, [2]Value[time.Duration]{tt.throttled, tt.burst}, err, tt.bad)
		})
	}
}

func TestParsePressure(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       PSI
		bad        bool
	}{
		{
			"both lines",
			"some avg10=0.09 avg60=0.91 avg300=1.11 total=6472344\nfull avg10=100.00 avg60=0.00 avg300=0.00 total=1\n",
			PSI{ValueOf(Stall{0.09, 6472344 * time.Microsecond}), ValueOf(Stall{100, time.Microsecond})}, false,
		},
		{"CPU before 5.13", "some avg10=1.50 avg60=0.00 avg300=0.00 total=2\n", PSI{Some: ValueOf(Stall{1.5, 2 * time.Microsecond})}, false},
		{"no total", "some avg10=1.50 avg60=0.00 avg300=0.00\n", PSI{}, true},
		{"no average", "some total=1\n", PSI{}, true},
		{"no fields", "some \n", PSI{}, true},
		{"average without decimals", "some avg10=1 total=1\n", PSI{}, true},
		{"average above 100", "some avg10=100.01 total=1\n", PSI{}, true},
		{"field without =", "some avg10 total=1\n", PSI{}, true},
		{"cut short", "some avg10=1.50 avg60=0.00 avg300=0.00 total=6", PSI{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got PSI
			err := parsePressure([]byte(tt.file), &got)
			check(t, got, tt.want, err, tt.bad)
		})
	}
}

func TestHierarchicalLimit(t *testing.T) {
	n, err := parseHierarchicalLimit([]byte("cache 0\nhierarchical_memory_limit 134217728\nhierarchical_memsw_limit 5\n"))
	check(t, n, 134217728, err, false)
	n, err = parseHierarchicalLimit([]byte("cache 0\n"))
	check(t, n, 0, err, true)
}

func TestErrorsShowLittleOfALongLine(t *testing.T) {
	_, err := parseNumber([]byte(strings.Repeat("9", 1<<20) + "\n"))
	if !errors.Is(err, ErrMalformed) || len(err.Error()) > 200 {
		t.Errorf("got an error of %d bytes: %.200v", len(err.Error()), err)
	}
}

func TestValue(t *testing.T) {
	cause := errors.New("cause")
	for _, tt := range []struct {
		name  string
		v     Value[int]
		state State
		err   error
		text  string
	}{
		{"zero Value", Value[int]{}, Absent, nil, "absent"},
		{"measured 0", ValueOf(0), Measured, nil, "0"},
		{"unreadable", UnreadableValue[int](cause), Unreadable, cause, "unreadable: cause"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.v.State() != tt.state || tt.v.Err() != tt.err || tt.v.String() != tt.text {
				t.Errorf("got %v, %v, %q", tt.v.State(), tt.v.Err(), tt.v)
			}
			if _, ok := tt.v.Get(); ok != (tt.state == Measured) {
				t.Errorf("Get says %v", ok)
			}
		})
	}
	if v := UnreadableValue[int](nil); v.Err() == nil {
		t.Error("unreadable without a reason")
	}
}

func TestRefaultsAreOfBothKinds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version Version
		text    string
		want    Value[int64]
	}{
		{"v2", V2, "anon 1\nworkingset_refault_anon 3\nworkingset_refault_file 4\nworkingset_activate_file 9\n", ValueOf[int64](7)},
		{"v1 has descendants in total_", V1, "rss 1\nworkingset_refault_file 2\ntotal_workingset_refault_anon 3\ntotal_workingset_refault_file 4\n", ValueOf[int64](7)},
		{"an old kernel", V2, "anon 1\nworkingset_refault 5\n", Value[int64]{}},
	} {
		var s MemoryStat
		if err := parseMemoryStat(tt.version, []byte(tt.text), &s); err != nil || s.Refaults != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.name, s.Refaults, err, tt.want)
		}
	}
}

func TestWorkingSet(t *testing.T) {
	unreadable := UnreadableValue[int64](errors.New("cause"))
	for _, tt := range []struct {
		name string
		s    MemoryStat
		want Value[int64]
	}{
		{"less what can be dropped", MemoryStat{Current: ValueOf[int64](10), InactiveFile: ValueOf[int64](3)}, ValueOf[int64](7)},
		{"never below 0", MemoryStat{Current: ValueOf[int64](1), InactiveFile: ValueOf[int64](3)}, ValueOf[int64](0)},
		{"use unreadable", MemoryStat{Current: unreadable, InactiveFile: ValueOf[int64](3)}, unreadable},
		{"cache absent", MemoryStat{Current: ValueOf[int64](1)}, Value[int64]{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.WorkingSet(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// What the kernel cannot drop is in use without page cache and its caches of names.
func TestUnreclaimable(t *testing.T) {
	unreadable := UnreadableValue[int64](ErrMalformed)
	of := func(current, inactive, active, slab int64) MemoryStat {
		return MemoryStat{Current: ValueOf(current), InactiveFile: ValueOf(inactive), ActiveFile: ValueOf(active), SlabReclaimable: ValueOf(slab)}
	}
	for _, tt := range []struct {
		s    MemoryStat
		want Value[int64]
	}{
		{of(10, 3, 2, 1), ValueOf[int64](4)},
		{of(10, 8, 2, 1), ValueOf[int64](0)},
		{MemoryStat{Current: ValueOf[int64](10), InactiveFile: ValueOf[int64](3)}, ValueOf[int64](7)}, // v1 has no slab
		{MemoryStat{Current: unreadable, InactiveFile: ValueOf[int64](3)}, unreadable},
		{MemoryStat{Current: ValueOf[int64](10)}, Value[int64]{}},
	} {
		if got := tt.s.Unreclaimable(); got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt.s, got, tt.want)
		}
	}
	var v1, v2 MemoryStat
	if err := parseMemoryStat(V1, []byte("active_file 1\npgmajfault 1\ntotal_active_file 7\ntotal_pgmajfault 8\n"), &v1); err != nil || v1.ActiveFile != ValueOf[int64](7) || v1.MajorFaults != ValueOf[int64](8) {
		t.Errorf("v1: %+v, %v", v1, err)
	}
	if err := parseMemoryStat(V2, []byte("active_file 5\nslab_reclaimable 6\npgmajfault 9\n"), &v2); err != nil ||
		v2.ActiveFile != ValueOf[int64](5) || v2.SlabReclaimable != ValueOf[int64](6) || v2.MajorFaults != ValueOf[int64](9) {
		t.Errorf("v2: %+v, %v", v2, err)
	}
}

func TestParseFreezerState(t *testing.T) {
	for text, want := range map[string]int64{"THAWED\n": 0, "FREEZING\n": 1, "FROZEN\n": 1} {
		if got, err := parseFreezerState([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "THAWED", "thawed\n", "\n"} {
		if got, err := parseFreezerState([]byte(text)); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestParsePopulated(t *testing.T) {
	for text, want := range map[string]int64{"populated 1\nfrozen 0\n": 1, "populated 0\nfrozen 0\n": 0} {
		if got, err := parseEvent([]byte(text), "populated"); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "frozen 0\n", "populated\n", "populated x\n", "populated 1"} {
		if got, err := parseEvent([]byte(text), "populated"); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}
