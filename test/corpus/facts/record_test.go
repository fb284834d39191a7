package facts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// recorded is a record, as its files have it.
type recorded struct {
	Experiment struct {
		Name    string
		Cells   []*cell
		Measure struct {
			Warmup, Duration, Interval time.Duration
			Repeats                    int
			Kept                       bool
		}
		Objective *objective
	}
	Plan    []planned
	Skipped []struct{ Service, Reason string }

	attempts []*trial // in the order in which they began
	finished bool
}

type planned struct{ Number, Cell, Repeat int }

type objective struct {
	Quantile     string
	Latency      time.Duration
	Availability float64 // percent
}

// cell is a cell of the plan with its trials that count.
type cell struct {
	Index   int
	Service struct{ Name string }
	Vary    []vary
	Limits  struct {
		CPUMillis int64 `json:"cpu_millis"`
		Memory    int64
		Replicas  int
	}
	Load struct {
		Rate, Users *struct {
			Value  float64
			Stages []struct {
				Target   float64
				Duration time.Duration
			}
		}
		Find    bool
		Timeout time.Duration
	}

	objective *objective
	trials    []*trial // that count
	warmup    time.Duration

	sum    *part // see all, each and loads
	sums   []*part
	held   []held
	pushed []held // overloads after the answer; known with held
}

type vary struct {
	Name  string
	Value *string
}

// trial is one attempt.
type trial struct {
	number, cell, repeat int
	outcome, why         string
	ended                bool

	frames  []*signals.Frame
	slow    []signals.SlowLine
	windows []signals.Window
	steps   []signals.SearchStep
}

// lines decodes each line of a file of a record.
func lines[T any](t *testing.T, dir, name string, take func(T)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		take(one)
	}
}

// read reads a record.
func read(t *testing.T, dir string) *recorded {
	t.Helper()
	r := &recorded{}
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	type line struct {
		Trial, Cell, Repeat, Attempt int
		Outcome, Why                 string
	}
	lines(t, dir, "trials.ndjson", func(l line) {
		switch l.Outcome {
		case "finished":
			r.finished = true
		case "started":
			r.attempts = append(r.attempts, &trial{number: l.Trial, cell: l.Cell, repeat: l.Repeat, outcome: l.Outcome})
		default:
			if one := r.attempt(l.Trial); one != nil {
				one.outcome, one.why, one.ended = l.Outcome, l.Why, true
			}
		}
	})
	lines(t, dir, "frames.ndjson", func(f *signals.Frame) { one := r.attempt(f.Trial); one.frames = append(one.frames, f) })
	lines(t, dir, "slow.ndjson", func(s signals.SlowLine) { one := r.attempt(s.Trial); one.slow = append(one.slow, s) })
	lines(t, dir, "windows.ndjson", func(w signals.Window) { one := r.attempt(w.Trial); one.windows = append(one.windows, w) })
	lines(t, dir, "steps.ndjson", func(s signals.SearchStep) { one := r.attempt(s.Trial); one.steps = append(one.steps, s) })
	for _, c := range r.Experiment.Cells {
		c.objective, c.warmup = r.Experiment.Objective, r.Experiment.Measure.Warmup
		c.trials = r.counted(c.Index)
	}
	return r
}

func (r *recorded) attempt(number int) *trial {
	for _, a := range r.attempts {
		if a.number == number {
			return a
		}
	}
	return nil
}

// counted are the trials that count: of each repeat the one that ran to its end
// undisturbed, or else the last that was disturbed. One that was cut off counts only if
// its cell has no other.
func (r *recorded) counted(cell int) []*trial {
	best := map[int]*trial{}
	var cut []*trial
	for _, a := range r.attempts {
		switch {
		case a.cell != cell:
		case a.outcome == "done" && (best[a.repeat] == nil || best[a.repeat].outcome != "done"),
			a.outcome == "disturbed" && (best[a.repeat] == nil || best[a.repeat].outcome != "done"):
			best[a.repeat] = a
		case a.outcome == "started" || a.outcome == "interrupted":
			cut = append(cut, a)
		}
	}
	if len(best) == 0 {
		return cut
	}
	var all []*trial
	for _, a := range r.attempts {
		if best[a.repeat] == a {
			all = append(all, a)
		}
	}
	return all
}

func (c *cell) label() string {
	text := c.Service.Name
	for _, v := range c.Vary {
		value := "unset"
		if v.Value != nil {
			value = *v.Value
		}
		text += " " + v.Name + "=" + value
	}
	return text
}

// staged are the levels that the cell held, with their times since the measurement
// began.
func (c *cell) staged() (all []level) {
	target := c.Load.Rate
	if target == nil {
		target = c.Load.Users
	}
	if target == nil {
		return nil
	}
	at, before := c.warmup, 0.0
	for _, s := range target.Stages {
		if s.Target == before && s.Duration > 0 {
			all = append(all, level{s.Target, at, at + s.Duration})
		}
		at, before = at+s.Duration, s.Target
	}
	return all
}

// lasts is when the load of a ramp ends, from the beginning of its warm-up.
func (c *cell) lasts() time.Duration {
	target := c.Load.Rate
	if target == nil {
		target = c.Load.Users
	}
	all := c.warmup
	for _, s := range target.Stages {
		all += s.Duration
	}
	return all
}

type level struct {
	target   float64
	from, to time.Duration
}
