package analysis

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// replayed is one trial's search for the breaking point, replayed from the record: the
// same observations lead to the same answer.
type replayed struct {
	exp   *experiment.Experiment
	plan  *experiment.Cell
	steps []replayedStep // in order
	cut   bool           // the trial was interrupted
	found search.Result
	ended bool // found is known
}

// replayedStep is a step with what its window showed, and how many replicas died
// between its begin and that of the next step.
type replayedStep struct {
	signals.SearchStep
	window     *Observed
	deaths     sums.Server
	start, end int64           // of the window, as agents saw it; unix nanoseconds
	used       bool            // whether the search learned from it; known with its result
	causes     *causes.Builder // of the window's frames, if it may have tested the answer
}

func newReplayed(e *experiment.Experiment, plan *experiment.Cell, steps []signals.SearchStep) *replayed {
	s := &replayed{exp: e, plan: plan}
	for _, step := range steps {
		one := replayedStep{SearchStep: step, window: Observe(e, plan, step.Load), deaths: sums.NewServer()}
		if step.Stage == string(search.Test) {
			one.causes = causes.New(plan.Service.Name, plan.Limits.Period)
		}
		s.steps = append(s.steps, one)
	}
	slices.SortFunc(s.steps, func(a, b replayedStep) int { return cmp.Compare(a.Step, b.Step) })
	return s
}

// add takes a frame of the trial.
func (s *replayed) add(f *signals.Frame) {
	if step := s.at(f.Seq); step != nil {
		step.window.Add(f)
		if step.causes != nil {
			step.causes.Frame(f)
		}
		if f.Client != nil {
			if step.start == 0 {
				step.start = f.Start
			}
			step.start, step.end = min(step.start, f.Start), max(step.end, f.End)
		}
	}
	if f.Server == nil || f.Of != s.plan.Service.Name {
		return
	}
	if i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].Begin >= f.End }); i > 0 {
		s.steps[i-1].deaths.AddDeaths(f)
	}
}

// at returns the step whose window contains an interval; nil: none.
func (s *replayed) at(seq int) *replayedStep {
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].Last >= seq })
	if i < len(s.steps) && s.steps[i].First <= seq {
		return &s.steps[i]
	}
	return nil
}

// result returns the search's answer.
func (s *replayed) result() search.Result {
	if s.ended {
		return s.found
	}
	s.ended = true
	machine := search.New(SearchConfig(s.exp, s.plan))
	for i := range s.steps {
		step := &s.steps[i]
		if step.Lost != "" {
			machine.Lost(step.Lost)
			break
		}
		if next, ok := machine.Next(); !ok || next.Load != step.Load || string(next.Stage) != step.Stage {
			machine.Took(s.taken(step)) // by another version of the search
		}
		seen := step.window.Observation()
		seen.Gone = step.Gone
		step.used = machine.Saw(seen)
	}
	machine.Next() // a search that has seen enough ends when it is asked for the next step
	why := ""
	if s.cut {
		why = "the search was interrupted"
	}
	machine.End(why)
	s.found = machine.Result()
	return s.found
}

// taken returns a recorded step in the form that the search would have given.
func (s *replayed) taken(step *replayedStep) search.Step {
	every := SearchConfig(s.exp, s.plan).Block
	window := time.Duration(step.Last-step.First+1) * every
	if step.Cut {
		window += every // it would have lasted at least one interval longer
	}
	return search.Step{Number: step.Step, Stage: search.Stage(step.Stage), Load: step.Load, Settle: every, Window: window}
}

func (s *replayedStep) measured() bool { return s.Last >= s.First }

// after reports whether a step follows the answer.
func (s *replayedStep) after() bool { return search.Stage(s.Stage).After() }

// tests returns the windows that tested the answer.
func (s *replayed) tests() (all []*replayedStep) {
	load := s.result().Tested
	for i := range s.steps {
		if step := &s.steps[i]; load > 0 && step.used && step.Stage == string(search.Test) && step.Load == load {
			all = append(all, step)
		}
	}
	return all
}

// tested merges the windows that tested the answer; nil if there are none.
func (s *replayed) tested() *sums.Total {
	var all *sums.Total
	for _, step := range s.tests() {
		if all == nil {
			all = sums.New()
		}
		all.Merge(step.window.sums)
	}
	return all
}

// windows merges the complete windows into one tally per load, and notes the loads of which
// a window had no request that ended.
func (s *replayed) windows(byLoad map[float64]*sums.Total, unanswered map[float64]bool) {
	s.result()
	for i := range s.steps {
		step := &s.steps[i]
		if step.Cut || !step.used {
			continue
		}
		if byLoad[step.Load] == nil {
			byLoad[step.Load] = sums.New()
		}
		byLoad[step.Load].Merge(step.window.sums)
		if step.window.sums.Client.Requests() == 0 {
			unanswered[step.Load] = true
		}
	}
}

// sources returns who took CPU in the windows of the search that were left out, or that
// missed the objective.
func (s *replayed) sources() (by disturbance.Source) {
	s.result()
	for i := range s.steps {
		step := &s.steps[i]
		if who := step.window.sums.Noise.Sources(); who != 0 && !step.after() && (!step.used || s.misses(step)) {
			by |= who
		}
	}
	return by
}

// disturbed returns how many windows were measured, in how many of them others took CPU,
// and who. Those that missed the objective were left out. One that met it counts: others
// did not make it meet the objective.
func (s *replayed) disturbed() (windows, disturbed int, by disturbance.Source) {
	s.result()
	for i := range s.steps {
		if !s.steps[i].measured() || s.steps[i].after() {
			continue
		}
		windows++
		if who := s.steps[i].window.sums.Noise.Sources(); who != 0 {
			disturbed++
			by |= who
		}
	}
	return windows, disturbed, by
}

// missed returns the windows nearest above the answer that missed the objective,
// including the replicas' deaths there. They show why the service breaks.
func (s *replayed) missed() (all *sums.Total, bad []search.Block) {
	var kills, restarts *int64
	for _, step := range s.missedSteps() {
		if all == nil {
			all = sums.New()
		}
		all.Merge(step.window.sums)
		kills, restarts = signals.Plus(kills, step.deaths.OOMKills), signals.Plus(restarts, step.deaths.Restarts)
		bad = append(bad, step.window.Blocks()...)
	}
	if all != nil { // includes those of the windows
		all.Server.OOMKills, all.Server.Restarts = kills, restarts
	}
	return all, bad
}

// overloads returns the windows above the answer that missed the objective, each with
// its load.
func (s *replayed) overloads() (all []overload) {
	answer := s.result().Load
	for i := range s.steps {
		if step := &s.steps[i]; step.measured() && step.Load > answer*0.98 && s.misses(step) {
			all = append(all, overload{step.Load, step.window.sums})
		}
	}
	return all
}

// missedSteps are the steps of these windows.
func (s *replayed) missedSteps() (all []*replayedStep) {
	nearest := math.Inf(1)
	answer := s.result().Load
	for i := range s.steps {
		if step := &s.steps[i]; step.Load > answer*0.98 && s.misses(step) {
			nearest = min(nearest, step.Load)
		}
	}
	for i := range s.steps {
		if step := &s.steps[i]; step.Load >= nearest && step.Load <= nearest*nearby && s.misses(step) {
			all = append(all, step)
		}
	}
	return all
}

// nearby is how much higher than the nearest missed load a load may be for its window
// to show the same limit.
const nearby = 1.25

// misses reports whether a step missed the objective because of the service. It
// ignores windows that the search left out because others took CPU or the generator
// was the limit.
func (s *replayed) misses(step *replayedStep) bool {
	if step.Stage == string(search.Recover) && step.Gone == "" || step.after() { // at a load that it handles, or an overload on purpose
		return false
	}
	if step.Gone != "" {
		return true
	}
	if !step.measured() || !step.used && (step.window.sums.Noise.Sources() != 0 || step.window.outside() != "") {
		return false
	}
	return SearchConfig(s.exp, s.plan).Missed(step.window.Blocks())
}

// bounded returns what kept a search from higher loads, the generator or the host, and
// the figures that show it. It uses the windows that were left out for that reason.
func (s *replayed) bounded() (by, evidence string) {
	s.result()
	var all *Observed
	for i := range s.steps {
		step := &s.steps[i]
		word := ""
		if step.measured() && !step.used && step.Stage != string(search.Recover) && !step.after() {
			word = step.window.outside()
		}
		switch {
		case word == "" || !SearchConfig(s.exp, s.plan).Missed(step.window.Blocks()):
		case word != by: // the last ones are nearest to the answer
			by, all = word, Observe(s.exp, s.plan, step.Load)
			fallthrough
		default:
			all.sums.Merge(step.window.sums)
		}
	}
	if n := len(s.steps); n > 0 && s.steps[n-1].Lost != "" { // this ended the search, whatever else there was
		return summary.ByGenerator, s.steps[n-1].Lost
	}
	if by == "" {
		return "", ""
	}
	return by, all.outsideText(by)
}
