// Package corpus simulates experiments whose true answer is known by construction,
// and writes their records as the lab does. Tests read the records and check what
// the analysis and the reports state about them.
//
// It simulates requests one by one: workers, a CPU limit with its periods, a lock, a
// dependency, a machine that others use, and a generator that stalls. It does not
// simulate a runtime's scheduler. The same seed gives the same record.
package corpus

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Case is an experiment with its truth.
type Case struct {
	Name string
	File string // the experiment's YAML
	// Limit is what limits the services by construction: a value of limited_by, or
	// byLimit. Empty: it is not a search, or the case is not about that.
	Limit string
	// Metastable services stay overloaded at loads that they held before: their searches
	// report hysteresis if they measured the recovery. Others do not.
	Metastable bool
	// Recovers are the loads between which a metastable service recovers.
	Recovers [2]float64
	// Behaves is the truth about one trial. repeat counts from 1.
	Behaves func(c *experiment.Cell, repeat int) Behaviour
	// NoStart has a trial whose service does not start. nil: all start.
	NoStart func(c *experiment.Cell, repeat int) bool
	// Lifts has a trial whose service lifts its CPU limit, so that it is invalid. nil: none
	// does.
	Lifts func(c *experiment.Cell, repeat int) bool
}

// begun is when each simulated experiment begins.
var begun = time.Unix(1_700_000_000, 0).UTC()

// Write simulates a case and writes its record into a new folder.
func (c *Case) Write(dir string, seed uint64) error {
	e, err := file.Parse(c.Name+".yaml", []byte(c.File), nil)
	if err != nil {
		return fmt.Errorf("corpus %s: %w", c.Name, err)
	}
	plan := e.Plan(seed)
	hz := 250
	w, err := record.Create(dir, record.Run{Version: record.Version, Program: "corpus", Experiment: e, Platform: "local", Seed: seed, Plan: plan,
		Started: begun, Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.18.0", HZ: &hz, CPUs: 4, CPUModel: "simulated", Cgroup: "v2", Runtimes: map[string]string{}}})
	if err != nil {
		return err
	}
	defer w.Close()
	at := begun
	for i, planned := range plan {
		r := run{Case: c, writer: w, exp: e, cell: &e.Cells[planned.Cell], planned: planned, number: i + 1, at: at, seed: seed}
		if at, err = r.run(); err != nil {
			return err
		}
	}
	if err := w.Finish(at); err != nil {
		return err
	}
	return w.Close()
}

// run is one trial of a case.
type run struct {
	*Case
	writer  *record.Writer
	exp     *experiment.Experiment
	cell    *experiment.Cell
	planned experiment.Trial
	number  int
	at      time.Time
	seed    uint64

	trial  *trial
	seq    int
	noise  disturbance.Noise
	window *capacity.Observed
}

// run simulates the trial and returns when it ended.
func (r *run) run() (time.Time, error) {
	line := record.Trial{Trial: r.number, Cell: r.cell.Index, Repeat: r.planned.Repeat, Outcome: record.Started, At: r.at.UnixNano()}
	if err := r.writer.Trial(line); err != nil {
		return r.at, err
	}
	line.Outcome = record.Done
	if r.NoStart != nil && r.NoStart(r.cell, r.planned.Repeat) {
		line.Outcome, line.Why = record.Failed, "the service ended with status 1"
	} else {
		b := r.Behaves(r.cell, r.planned.Repeat)
		lifts := r.Lifts != nil && r.Lifts(r.cell, r.planned.Repeat)
		b.Unlimited = b.Unlimited || lifts
		r.trial = newTrial(b, r.cell, r.number, r.at.UnixNano(), r.exp.Measure.Warmup, r.seed)
		if err := r.load(); err != nil {
			return r.at, err
		}
		if why := wording.Others(analysis.WhyDisturbed(r.exp, &r.noise)); why != "" && !r.cell.Load.Find {
			line.Outcome, line.Why = record.Disturbed, why
		}
		if lifts {
			line.Outcome = record.Invalid
			line.Why = fmt.Sprintf("a limit of %s did not hold: its CPU limit was changed from %v to no limit", r.cell.Service.Name, meter.BandwidthOf(r.cell.Limits))
		}
		r.at = r.at.Add(time.Duration(r.trial.now))
	}
	r.at = r.at.Add(time.Second)
	line.At = r.at.UnixNano()
	return r.at, r.writer.Trial(line)
}

// load holds the trial's loads.
func (r *run) load() error {
	cut := r.cut()
	target := r.cell.Load.Target()
	for {
		start, end, phase := cut.At(r.seq)
		switch {
		case phase == signals.Drain:
			r.trial.set(0)
			if r.trial.inFlight == 0 {
				return nil
			}
		case r.cell.Load.Find && phase == signals.Measure:
			return r.search()
		default:
			if load := level(target, start-r.exp.Measure.Warmup, end-r.exp.Measure.Warmup); load != r.trial.load {
				r.trial.set(load)
			}
		}
		if err := r.interval(); err != nil {
			return err
		}
	}
}

func (r *run) cut() signals.Intervals {
	return signals.Intervals{Warmup: r.exp.Measure.Warmup, Measure: r.exp.Measure.Measured(r.cell), Every: r.exp.Measure.Interval}
}

// level is the load of an interval: that of the stage in the interval's middle.
// Before the measured part it is the first one.
func level(t *experiment.Target, from, to time.Duration) float64 {
	if len(t.Stages) == 0 {
		return t.Value
	}
	at := max(0, (from+to)/2)
	before := 0.0
	for _, s := range t.Stages {
		if at < s.Duration {
			return before + (s.Target-before)*at.Seconds()/s.Duration.Seconds()
		}
		at -= s.Duration
		before = s.Target
	}
	return before
}

// interval simulates one interval and writes its frames.
func (r *run) interval() error {
	start, end, phase := r.cut().At(r.seq)
	r.trial.until(int64(end))
	frames, windows := r.trial.frames(r.seq, int64(start), int64(end), phase)
	for i := range windows {
		if err := r.writer.Window(&windows[i]); err != nil {
			return err
		}
	}
	for _, f := range frames {
		r.noise.Add(f)
		if r.window != nil {
			r.window.Add(f)
		}
		if err := r.writer.Frame(f); err != nil {
			return err
		}
	}
	r.seq++
	return nil
}

// search searches the breaking point as the lab does, without waiting longer than
// a drain of 20 s.
func (r *run) search() error {
	s := search.New(capacity.SearchConfig(r.exp, r.cell, nil))
	every := r.exp.Measure.Interval
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		if step.Drain || !r.trial.server.up() {
			r.trial.set(0)
			r.trial.drop()
			until := r.trial.now + int64(20*time.Second+r.cell.Load.Timeout)
			for r.trial.inFlight > 0 || !r.trial.server.up() {
				if r.trial.now > until {
					s.Saw(search.Observation{Gone: "the service died, and did not serve again within 20s"})
					return r.writer.Step(r.line(step, r.seq, r.seq-1, false))
				}
				if err := r.interval(); err != nil {
					return err
				}
			}
		}
		settle := int((step.Settle + every - 1) / every)
		if step.Load != r.trial.load {
			r.trial.set(step.Load)
			settle = max(settle, 1)
		}
		line := r.line(step, r.seq+settle, 0, false)
		for range settle {
			if err := r.interval(); err != nil {
				return err
			}
		}
		r.window = capacity.Observe(r.exp, r.cell, step.Load)
		for n := max(1, int(step.Window/every)); n > 0; n-- {
			if err := r.interval(); err != nil {
				return err
			}
			if n > 1 && s.Hopeless(r.window.Blocks()) {
				line.Cut = true
				break
			}
		}
		line.Last = r.seq - 1
		if err := r.writer.Step(line); err != nil {
			return err
		}
		s.Saw(r.window.Observation())
		r.window = nil
	}
	return nil
}

func (r *run) line(step search.Step, first, last int, cut bool) *signals.SearchStep {
	return &signals.SearchStep{Trial: r.number, Cell: r.cell.Index, Step: step.Number, Stage: string(step.Stage), Load: step.Load,
		Begin: r.at.UnixNano() + r.trial.now, First: first, Last: last, Cut: cut}
}
