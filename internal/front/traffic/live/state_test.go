package live

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

func TestAgentsOfAnIntervalAreMerged(t *testing.T) {
	s := New(plan())
	for agent := range 2 {
		f := answered(0, 300, 4*time.Millisecond)
		f.Agent = &agent
		s.Add(f)
	}
	if s.all.rate() != 600 || s.last.rate() != 600 || s.users != 40 || s.inFlight != 40 || len(s.trend.rate) != 1 || s.trend.rate[0] != 600 {
		t.Errorf("two agents with 300/s and 20 users each: %v/s, last %v/s, %v users, %v in flight, over time %v", s.all.rate(), s.last.rate(), s.users, s.inFlight, s.trend.rate)
	}
	s.Add(answered(1, 100, 4*time.Millisecond))
	late := answered(0, 300, 4*time.Millisecond)
	s.Add(late)
	if s.last.rate() != 100 || s.all.good != 1000 || s.all.seconds != 2 {
		t.Errorf("a late frame: last %v/s, %d in all in %v s", s.last.rate(), s.all.good, s.all.seconds)
	}
}

func TestTheWarmupDoesNotCount(t *testing.T) {
	s := warmingUp()
	if s.last.rate() != 800 || s.all.requests() != 0 || len(s.trend.rate) != 0 {
		t.Errorf("warming up: last %v/s, %d in all, %d intervals", s.last.rate(), s.all.requests(), len(s.trend.rate))
	}
	f := answered(1, 90, 4*time.Millisecond)
	f.Client.Carried = 10 // intended in the warm-up: they count in the rate only, as in the report
	s.Add(f)
	if s.all.rate() != 100 || s.all.requests() != 90 {
		t.Errorf("measuring: %v/s, %d requests", s.all.rate(), s.all.requests())
	}
}

func TestTheDrainDoesNotCountAsLoad(t *testing.T) {
	s := draining()
	if s.last.rate() != 900 || s.all.seconds != 8 || len(s.trend.rate) != 8 || s.inFlight != 15 {
		t.Errorf("last %v/s, %v s, %d intervals, %d in flight", s.last.rate(), s.all.seconds, len(s.trend.rate), s.inFlight)
	}
	if s.all.highest < time.Second {
		t.Errorf("highest %v: the slow answers were left out", s.all.highest)
	}
}

func TestAcceptedStatusesAreNoErrors(t *testing.T) {
	s := after(plan(), second(0, signals.Measure, signals.Client{Good: 5, Failed: 1, Dropped: 2,
		Status: map[string]int64{"200": 2, "404": 4}, Wanted: map[string]int64{"404": 4}}))
	if d := cmp.Diff(map[string]int64{"failed check": 1, "dropped": 2}, s.errors); d != "" {
		t.Error(d)
	}
	if s.all.bad != 3 {
		t.Errorf("%d bad", s.all.bad)
	}
}

func TestFramesOfAnEndedTargetAreIgnored(t *testing.T) {
	s := targetEnded()
	if len(s.trend.cpu) != 6 || !math.IsNaN(s.last.used.cpu()) || *s.all.used.periods != 60 {
		t.Errorf("%d intervals, last %v, %d periods", len(s.trend.cpu), s.last.used.cpu(), *s.all.used.periods)
	}
}

func TestLines(t *testing.T) {
	// lines are the lines after each frame, and at the end.
	lines := func(p Plan, frames ...*signals.Frame) string {
		s := New(p)
		var all []string
		for _, f := range frames {
			s.Add(f)
			if text, ok := s.Line(false, 0); ok {
				all = append(all, text)
			}
		}
		if text, ok := s.Line(true, 0); ok {
			all = append(all, "end "+text)
		}
		return "\n" + strings.Join(all, "\n")
	}
	stages := plan()
	stages.Stages = true
	rates := stages
	rates.Open = true
	looked := plan()
	looked.Target = "process 4711"
	slow := plan()
	slow.Length = 2 * time.Minute
	warm := plan()
	warm.Warmup = time.Second
	warming := answered(0, 10, time.Second)
	warming.Phase = signals.Warmup
	asked := answered(0, 100, time.Second)
	asked.Client.Rate, asked.Client.Waiting = 1500, 3
	for name, c := range map[string]struct{ got, want string }{
		"one an interval": {lines(plan(), answered(0, 1000, 4*time.Millisecond), second(1, signals.Measure, signals.Client{Refused: 1234})), `
   0:01    1,000/s  p50  4.00 ms  p99  40.2 ms  highest   107 ms  errors     0  in flight    20
   0:02        0/s  p50        –  p99        –  highest        –  errors 1,234  in flight     0`},
		"one in five seconds": {lines(slow, answered(0, 10, time.Second), answered(1, 20, time.Second), answered(2, 30, time.Second), answered(3, 40, time.Second),
			answered(4, 50, time.Second), answered(5, 60, time.Second)), `
   0:05     30.0/s  p50   975 ms  p99   9.41 s  highest   10.2 s  errors     0  in flight    20
end    0:06     60.0/s  p50   979 ms  p99   7.10 s  highest   11.0 s  errors     0  in flight    20`},
		"users over time": {lines(stages, answered(0, 100, time.Second)), `
   0:01      100/s  p50   988 ms  p99   8.77 s  highest   13.1 s  errors     0  in flight    20  users    20`},
		"a rate over time": {lines(rates, asked), `
   0:01      100/s  p50   988 ms  p99   8.77 s  highest   13.1 s  errors     0  in flight    20  waiting     3  target rate  1,500/s`},
		"a target": {lines(looked, used(0, 0.5, 3), answered(0, 100, time.Second)), `
   0:01      100/s  p50   988 ms  p99   8.77 s  highest   13.1 s  errors     0  in flight    20  CPU   50%  throttled   30%  memory   20 MiB`},
		"a warm-up": {lines(warm, warming, answered(1, 100, time.Second)), `
   0:01     10.0/s  p50   882 ms  p99   5.18 s  highest   5.18 s  errors     0  in flight    20  warm-up
   0:02      100/s  p50   988 ms  p99   8.77 s  highest   13.1 s  errors     0  in flight    20`},
		"nothing": {lines(plan()), "\n"},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestNarrowLines: whole fields are left out, and the columns stay below one another.
func TestNarrowLines(t *testing.T) {
	stages, looked := plan(), plan()
	stages.Stages, looked.Target = true, "process 4711"
	line := func(p Plan, width int, frames ...*signals.Frame) string {
		s := New(p)
		for _, f := range frames {
			s.Add(f)
		}
		text, _ := s.Line(true, width)
		return text
	}
	for name, c := range map[string]struct{ got, want string }{
		"a load":          {line(plan(), 80, answered(0, 100, time.Second)), "   0:01      100/s  p50   988 ms  p99   8.77 s  errors     0  in flight    20"},
		"users over time": {line(stages, 80, answered(0, 100, time.Second)), "   0:01      100/s  p99   8.77 s  errors     0  in flight    20  users    20"},
		"a target":        {line(looked, 80, used(0, 0.5, 3), answered(0, 100, time.Second)), "   0:01      100/s  p99   8.77 s  errors     0  CPU   50%  throttled   30%"},
		"very narrow":     {line(plan(), 10, answered(0, 100, time.Second)), "   0:01      100/s  p99   8.77 s  errors     0"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, c.got, c.want)
		}
	}
}

func TestNumberOfLines(t *testing.T) {
	for length, want := range map[time.Duration]time.Duration{
		10 * time.Second: time.Second, 30 * time.Second: time.Second, time.Minute: 2 * time.Second, 10 * time.Minute: 30 * time.Second, 10 * time.Hour: 5 * time.Minute,
	} {
		if got := (&Plan{Length: length}).step(); got != want {
			t.Errorf("of %v: one in %v, want %v", length, got, want)
		}
	}
	if got := (&Plan{Requests: 5}).step(); got != unknownStep {
		t.Errorf("of a number of requests: one in %v", got)
	}
}
