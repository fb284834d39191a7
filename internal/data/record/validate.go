package record

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Bounds of figures in a record. No run comes near them; beyond them the arithmetic of
// the analysis would overflow.
const (
	mostFigure   = 1e15                 // of any unit
	mostTime     = int64(1) << 62       // unix nanoseconds: the year 2116
	mostDuration = 366 * 24 * time.Hour // of any length of time
	mostInterval = time.Minute          // of a frame
	mostSeq      = 100_000_000          // intervals of a trial
	leastLoad    = 1e-6                 // of a search: requests per second, or users
	mostReplicas = 100_000              // indexes of replicas, with those that were replaced
	mostStages   = 1000                 // of a cell's load
)

// fault is the first fault that was found; nil: none.
type fault struct{ err error }

// unless records a fault unless a condition holds.
func (f *fault) unless(holds bool, format string, args ...any) {
	if f.err == nil && !holds {
		f.err = fmt.Errorf(format, args...)
	}
}

// Validate reports why run.json cannot be that of a run. The analysis relies on what it
// checks: figures are finite and not absurdly large, indexes are in range, and a search
// has a load to start with.
func Validate(run *Run) error {
	var f fault
	e := run.Experiment
	f.figures(reflect.ValueOf(run).Elem(), "")
	f.unless(len(e.Cells) > 0, "the experiment has no cells")
	f.unless(len(e.Cells) <= experiment.MostCells, "the experiment has more than %d cells", experiment.MostCells)
	f.unless(len(run.Plan) <= experiment.MostTrials, "the plan has more than %d trials", experiment.MostTrials)
	f.measure(e)
	for i := range e.Cells {
		if f.err != nil {
			return f.err
		}
		if f.cell(e, i); f.err != nil {
			return fmt.Errorf("cell %d: %w", i, f.err)
		}
	}
	for i := range run.Plan {
		t := &run.Plan[i]
		f.unless(t.Cell >= 0 && t.Cell < len(e.Cells), "trial %d of the plan is of cell %d, of %d", i+1, t.Cell, len(e.Cells))
	}
	for i := range e.Claims {
		for _, s := range e.Claims[i].Selectors() {
			f.unless(s.Cell >= experiment.NoCell && s.Cell < len(e.Cells), "claim %d is about cell %d, of %d", i+1, s.Cell, len(e.Cells))
		}
	}
	if o := e.Objective; o != nil {
		f.unless(o.Quantile == "" || o.Latency > 0, "the objective has a %s without a latency", o.Quantile)
		f.unless(o.Availability >= 0 && o.Availability <= 100, "the objective is an availability of %v%%", o.Availability)
	}
	return f.err
}

func (f *fault) measure(e *experiment.Experiment) {
	m := &e.Measure
	f.unless(m.Interval >= 0 && m.Interval <= mostInterval, "measure.interval is %v", m.Interval)
	f.unless(m.Warmup >= 0 && m.Duration >= 0, "measure.warmup is %v, and measure.duration %v", m.Warmup, m.Duration)
	f.unless(m.Repeats >= 0 && m.Repeats <= experiment.MostTrials, "measure.repeats is %d", m.Repeats)
	if c := m.Common; c != nil {
		f.unless(c.Percent > 0 && c.Repeats >= 0 && c.Repeats <= experiment.MostTrials && c.Warmup >= 0 && c.Duration >= 0,
			"measure.common_load has a percent of %v, %d repeats, a warm-up of %v and a duration of %v", c.Percent, c.Repeats, c.Warmup, c.Duration)
	}
}

func (f *fault) cell(e *experiment.Experiment, i int) {
	c := &e.Cells[i]
	l := &c.Load
	f.unless(c.Index == i, "its index is %d", c.Index)
	f.unless(l.Users == nil || l.Rate == nil, "its load has users and a rate")
	f.unless(l.Timeout >= 0 && l.Think >= 0 && l.Agents >= 0 && l.Requests >= 0, "its load has a timeout, a think time, agents or requests below 0")
	if target := l.Target(); target != nil {
		f.unless(target.Value >= 0, "its load is %v", target.Value)
		f.unless(len(target.Stages) <= mostStages, "its load has more than %d stages", mostStages)
		for _, s := range target.Stages {
			f.unless(s.Duration >= 0 && s.Target >= 0, "a stage of its load takes %v and leads to %v", s.Duration, s.Target)
		}
	}
	if l.Find {
		f.unless(l.Target() != nil && l.Target().Value >= leastLoad, "its breaking point is searched, and it has no load to start with")
		f.unless(e.Measure.Interval >= time.Millisecond, "its breaking point is searched in intervals of %v", e.Measure.Interval)
	}
	limits := &c.Limits
	f.unless(limits.CPUMillis >= 0 && limits.BurstMillis >= 0 && limits.RequestMillis >= 0 && limits.Memory >= 0 && limits.Period >= 0 && limits.Replicas >= 0, "a limit is below 0")
}

var (
	durationType  = reflect.TypeFor[time.Duration]()
	timeType      = reflect.TypeFor[time.Time]()
	histogramType = reflect.TypeFor[signals.Histogram]() // validates itself
)

// figures checks the size of every figure in a value. path names it.
func (f *fault) figures(v reflect.Value, path string) {
	if f.err != nil {
		return
	}
	if at, wrong := beyond(v); wrong != "" {
		f.err = fmt.Errorf("%s%s is %s", path, at, wrong)
	}
}

// beyond finds a figure in a value that is too large: its path and its text; "": there is none.
// It makes the path only of such a figure, because it sees each line of a record.
func beyond(v reflect.Value) (path, wrong string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return beyond(v.Elem())
		}
	case reflect.Struct:
		if t := v.Type(); t != timeType && t != histogramType {
			for i := range v.NumField() {
				if !v.Field(i).CanInterface() { // not exported
					continue
				}
				if path, wrong = beyond(v.Field(i)); wrong != "" {
					return "." + t.Field(i).Name + path, wrong
				}
			}
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && scalar(v.Type().Elem().Kind()) && wrong == ""; i++ {
			path, wrong = beyond(v.Index(i))
		}
	case reflect.Map:
		if scalar(v.Type().Elem().Kind()) {
			for _, of := range v.Seq2() {
				if path, wrong = beyond(of); wrong != "" {
					break
				}
			}
		}
	case reflect.Int, reflect.Int64:
		n := v.Int()
		switch {
		case v.Type() == durationType && (n < -int64(mostDuration) || n > int64(mostDuration)):
			wrong = time.Duration(n).String()
		case n < -mostTime || n > mostTime:
			wrong = strconv.FormatInt(n, 10)
		}
	case reflect.Float64:
		if !(math.Abs(v.Float()) <= mostFigure) {
			wrong = fmt.Sprint(v.Float())
		}
	}
	return path, wrong
}

// scalar reports whether a slice or a map of this kind has figures in it.
func scalar(k reflect.Kind) bool {
	return k == reflect.Int || k == reflect.Int64 || k == reflect.Float64 || k == reflect.Struct || k == reflect.Pointer
}

// line checks what all lines have: the trial and the cell.
func (f *fault) line(r *Record, v any, trial, cell int) {
	f.unless(trial > 0, "it is of trial %d", trial)
	cells := len(r.Run.Experiment.Cells)
	f.unless(cell >= 0 && cell < cells, "it is of cell %d, of %d in the plan", cell, cells)
	f.unless(r.only == nil || cell == *r.only, "it is of two cells")
	f.figures(reflect.ValueOf(v).Elem(), "it")
}

func (r *Record) validTrial(t *Trial) error {
	if t.Outcome == Finished {
		return nil // it is of no trial
	}
	var f fault
	f.line(r, t, t.Trial, t.Cell)
	f.unless(t.Repeat >= 0 && t.Repeat <= experiment.MostTrials && t.Attempt >= 0, "it is attempt %d of repeat %d", t.Attempt, t.Repeat)
	return f.err
}

func (r *Record) validFrame(v *signals.Frame) error {
	var f fault
	f.line(r, v, v.Trial, v.Cell)
	f.unless(v.Seq >= 0 && v.Seq <= mostSeq, "it is interval %d", v.Seq)
	f.replica(v.Index)
	f.span(v.Start, v.End)
	if v.Client != nil {
		f.counts(reflect.ValueOf(v.Client).Elem())
	}
	if v.Waits != nil {
		f.unless(len(v.Waits.Counts) == len(v.Waits.Bounds)+1, "its waits have %d bounds and %d counts", len(v.Waits.Bounds), len(v.Waits.Counts))
	}
	return f.err
}

// counts checks the numbers of requests of an agent, none of which can be negative. Counters
// of the kernel are not among them: one that was reset gives a negative difference.
func (f *fault) counts(client reflect.Value) {
	for i := range client.NumField() {
		switch name, v := client.Type().Field(i).Name, client.Field(i); v.Kind() {
		case reflect.Int64:
			f.unless(v.Int() >= 0, "%s of the agent is %d", name, v.Int())
		case reflect.Map:
			for code, n := range v.Seq2() {
				if n.CanInt() { // the others are texts
					f.unless(n.Int() >= 0, "%s %s of the agent is %d", name, code, n.Int())
				}
			}
		}
	}
}

func (r *Record) validWindow(v *signals.Window) error {
	var f fault
	f.line(r, v, v.Trial, v.Cell)
	f.replica(v.Index)
	f.span(v.Start, v.End)
	return f.err
}

func (f *fault) replica(index int) {
	f.unless(index >= 0 && index <= mostReplicas, "it is of replica %d", index)
}

func (f *fault) span(start, end int64) {
	f.unless(start >= 0 && end >= start && end-start <= int64(mostDuration), "it is from %d to %d", start, end)
}

func (r *Record) validSlow(v *signals.SlowLine) error {
	var f fault
	f.line(r, v, v.Trial, v.Cell)
	f.replica(v.Replica)
	f.unless(v.Intended >= 0 && v.Sent >= 0 && v.Done >= 0, "its request was intended at %d, sent at %d and done at %d", v.Intended, v.Sent, v.Done)
	return f.err
}

func (r *Record) validStep(v *signals.SearchStep) error {
	var f fault
	f.line(r, v, v.Trial, v.Cell)
	f.unless(v.Step >= 0 && v.Step <= mostSeq, "it is step %d", v.Step)
	// Only a search that lost its agent before its first step has none.
	f.unless(v.Load >= leastLoad || v.Load == 0 && v.Lost != "", "it is a step at a load of %v", v.Load)
	// A step that never reached its window ends before it begins.
	f.unless(v.First >= 0 && v.Last >= v.First-1 && v.Last <= mostSeq, "its window is from interval %d to %d", v.First, v.Last)
	return f.err
}

func (r *Record) validBenchmark(v *Benchmark) error {
	var f fault
	f.line(r, v, v.Trial, v.Cell)
	return f.err
}
