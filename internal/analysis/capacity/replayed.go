package capacity

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/millicore/millicore/internal/analysis/awake"
	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Replayed is one trial's search for the breaking point, replayed from the record: the
// same observations lead to the same answer.
type Replayed struct {
	exp         *experiment.Experiment
	plan        *experiment.Cell
	steps       []ReplayedStep // in order
	quiet       awake.Quiet    // after the last step
	Interrupted bool           // the trial was interrupted
	found       search.Result
	ended       bool // found is known
}

// ReplayedStep is a step with what its window showed, and how many replicas died
// between its begin and that of the next step.
type ReplayedStep struct {
	signals.SearchStep
	window     *Observed
	deaths     sums.Server
	Start, End int64           // of the window, as agents saw it; unix nanoseconds
	used       bool            // whether the search learned from it; known with its result
	Causes     *causes.Builder // of the window's frames, if it may have tested the answer
}

func Replay(e *experiment.Experiment, plan *experiment.Cell, steps []signals.SearchStep) *Replayed {
	s := &Replayed{exp: e, plan: plan}
	for _, step := range steps {
		one := ReplayedStep{SearchStep: step, window: Observe(e, plan, step.Load), deaths: sums.NewServer()}
		if step.Stage == string(search.Test) {
			one.Causes = causes.New(plan.Service.Name, plan.Limits.Period)
		}
		s.steps = append(s.steps, one)
	}
	slices.SortFunc(s.steps, func(a, b ReplayedStep) int { return cmp.Compare(a.Step, b.Step) })
	return s
}

// Add takes a frame of the trial.
func (s *Replayed) Add(f *signals.Frame) {
	if step := s.at(f.Seq); step != nil {
		step.window.Add(f)
		if step.Causes != nil {
			step.Causes.Frame(f)
		}
		if f.Client != nil {
			if step.Start == 0 {
				step.Start = f.Start
			}
			step.Start, step.End = min(step.Start, f.Start), max(step.End, f.End)
		}
	} else if n := len(s.steps); n > 0 && f.Seq > s.steps[n-1].Last {
		s.quiet.Add(f, s.plan.Service.Name)
	}
	if f.Server == nil || f.Of != s.plan.Service.Name {
		return
	}
	if i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].Begin >= f.End }); i > 0 {
		s.steps[i-1].deaths.AddDeaths(f)
	}
}

// at returns the step whose window contains an interval; nil: none.
func (s *Replayed) at(seq int) *ReplayedStep {
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].Last >= seq })
	if i < len(s.steps) && s.steps[i].First <= seq {
		return &s.steps[i]
	}
	return nil
}

// Result returns the search's answer.
func (s *Replayed) Result() search.Result {
	if s.ended {
		return s.found
	}
	s.ended = true
	machine := search.New(s.config())
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
	machine.End(s.Interrupted)
	s.found = machine.Result()
	return s.found
}

// config is that of the search, with the bounds that its first step has.
func (s *Replayed) config() search.Config {
	var bounds *signals.SearchBounds
	if len(s.steps) > 0 {
		bounds = s.steps[0].Bounds
	}
	return SearchConfig(s.exp, s.plan, bounds)
}

// taken returns a recorded step in the form that the search would have given.
func (s *Replayed) taken(step *ReplayedStep) search.Step {
	every := s.config().Block
	window := time.Duration(step.Last-step.First+1) * every
	if step.Cut {
		window += every // it would have lasted at least one interval longer
	}
	return search.Step{Number: step.Step, Stage: search.Stage(step.Stage), Load: step.Load, Settle: every, Window: window}
}

func (s *ReplayedStep) measured() bool { return s.Last >= s.First }

// after reports whether a step follows the answer.
func (s *ReplayedStep) after() bool { return search.Stage(s.Stage).After() }

// Tests returns the windows that tested the answer.
func (s *Replayed) Tests() (all []*ReplayedStep) {
	load := s.Result().Tested
	for i := range s.steps {
		if step := &s.steps[i]; load > 0 && step.used && step.Stage == string(search.Test) && step.Load == load {
			all = append(all, step)
		}
	}
	return all
}

// Tested merges the windows that tested the answer; nil if there are none.
func (s *Replayed) Tested() *sums.Total {
	var all *sums.Total
	for _, step := range s.Tests() {
		if all == nil {
			all = sums.New()
		}
		all.Merge(step.window.Sums)
	}
	return all
}

// windows merges the complete windows into one tally per load, and notes the loads of which
// a window had no request that ended.
func (s *Replayed) windows(byLoad map[float64]*sums.Total, unanswered map[float64]bool) {
	s.Result()
	for i := range s.steps {
		step := &s.steps[i]
		if step.Cut || !step.used {
			continue
		}
		if byLoad[step.Load] == nil {
			byLoad[step.Load] = sums.New()
		}
		byLoad[step.Load].Merge(step.window.Sums)
		if step.window.Sums.Client.Requests() == 0 {
			unanswered[step.Load] = true
		}
	}
}

// Sources returns who took CPU in the windows of the search that were left out, or that
// missed the objective.
func (s *Replayed) Sources() (by finding.Source) {
	s.Result()
	for i := range s.steps {
		step := &s.steps[i]
		if who := step.window.Sums.Noise.Sources(); who != 0 && !step.after() && (!step.used || s.misses(step)) {
			by |= who
		}
	}
	return by
}

// Disturbed returns how many windows were measured, in how many of them others took CPU,
// and who. Those that missed the objective were left out. One that met it counts: others
// did not make it meet the objective.
func (s *Replayed) Disturbed() (windows, disturbed int, by finding.Source) {
	s.Result()
	for i := range s.steps {
		if !s.steps[i].measured() || s.steps[i].after() {
			continue
		}
		windows++
		if who := s.steps[i].window.Sums.Noise.Sources(); who != 0 {
			disturbed++
			by |= who
		}
	}
	return windows, disturbed, by
}

// missed returns the windows nearest above the answer that missed the objective,
// including the replicas' deaths there. They show why the service breaks.
func (s *Replayed) missed() (all *sums.Total, bad []search.Block) {
	var kills, restarts *int64
	for _, step := range s.missedSteps() {
		if all == nil {
			all = sums.New()
		}
		all.Merge(step.window.Sums)
		kills, restarts = signals.Plus(kills, step.deaths.OOMKills), signals.Plus(restarts, step.deaths.Restarts)
		bad = append(bad, step.window.Blocks()...)
	}
	if all != nil { // includes those of the windows
		all.Server.OOMKills, all.Server.Restarts = kills, restarts
	}
	return all, bad
}

// overloads returns the windows above the answer that missed the objective, each with
// its load, and the overloads that followed it.
func (s *Replayed) overloads() (all []overload) {
	answer := s.Result().Load
	for i := range s.steps {
		if step := &s.steps[i]; step.measured() && step.Load > answer*0.98 && (s.misses(step) || s.pushed(step)) {
			all = append(all, overload{step.Load, step.window.Sums})
		}
	}
	return all
}

// light merges the windows that met the objective at clearly lower loads than the lowest
// that missed it; nil if there are none.
func (s *Replayed) light() (all *sums.Total) {
	nearest := math.Inf(1)
	for _, step := range s.missedSteps() {
		nearest = min(nearest, step.Load)
	}
	for i := range s.steps {
		step := &s.steps[i]
		if !step.measured() || !step.used || step.after() || step.Stage == string(search.Recover) || step.Load > lightly*nearest || s.misses(step) {
			continue
		}
		if all == nil {
			all = sums.New()
		}
		all.Merge(step.window.Sums)
	}
	return all
}

// pushed reports whether a step is an overload on purpose that missed the objective because
// of the service.
func (s *Replayed) pushed(step *ReplayedStep) bool {
	return step.Stage == string(search.Overload) && step.Gone == "" && step.window.Sums.Noise.Sources() == 0 &&
		step.window.outside() == "" && s.config().Missed(step.window.Blocks())
}

// Above are the windows that show what limits the service.
func (s *Replayed) Above() []*ReplayedStep { return s.missedSteps() }

// missedSteps are the steps of these windows.
func (s *Replayed) missedSteps() (all []*ReplayedStep) {
	nearest := math.Inf(1)
	answer := s.Result().Load
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
	return beforeKills(all)
}

// beforeKills returns those steps at lower loads than the lowest with an OOM kill, if their
// requests were only late: a queue in memory that grows above the breaking point ends with a
// kill, which is not why it grows. It returns all if there are none.
func beforeKills(all []*ReplayedStep) (before []*ReplayedStep) {
	deadly := math.Inf(1)
	for _, step := range all {
		if sums.Value(step.deaths.OOMKills) > 0 {
			deadly = min(deadly, step.Load)
		}
	}
	for _, step := range all {
		failed := slices.ContainsFunc(step.window.Blocks(), func(b search.Block) bool { return b.Bad > 0 })
		if step.Load < deadly && step.Gone == "" && !failed {
			before = append(before, step)
		}
	}
	if math.IsInf(deadly, 1) || len(before) == 0 {
		return all
	}
	return before
}

// nearby is how much higher than the nearest missed load a load may be for its window
// to show the same limit.
const nearby = 1.25

// misses reports whether a step missed the objective because of the service. It
// ignores windows that the search left out because others took CPU or the generator
// was the limit.
func (s *Replayed) misses(step *ReplayedStep) bool {
	if step.Stage == string(search.Recover) && step.Gone == "" || step.after() { // at a load that it handles, or an overload on purpose
		return false
	}
	if step.Gone != "" {
		return true
	}
	if !step.measured() || !step.used && (step.window.Sums.Noise.Sources() != 0 || step.window.outside() != "") {
		return false
	}
	return s.config().Missed(step.window.Blocks())
}

// bounded returns what kept a search from higher loads, the generator or the host, and
// the figures that show it. It uses the windows that were left out for that reason.
func (s *Replayed) bounded() (by string, shown []finding.Finding) {
	s.Result()
	var all *Observed
	for i := range s.steps {
		step := &s.steps[i]
		word := ""
		if step.measured() && !step.used && step.Stage != string(search.Recover) && !step.after() {
			word = step.window.outside()
		}
		switch {
		case word == "" || !s.config().Missed(step.window.Blocks()):
		case word != by: // the last ones are nearest to the answer
			by, all = word, Observe(s.exp, s.plan, step.Load)
			fallthrough
		default:
			all.Sums.Merge(step.window.Sums)
		}
	}
	if n := len(s.steps); n > 0 && s.steps[n-1].Lost != "" { // this ended the search, whatever else there was
		return summary.ByGenerator, []finding.Finding{{Kind: finding.Recorded, Text: s.steps[n-1].Lost}}
	}
	if by == "" {
		return "", nil
	}
	return by, []finding.Finding{all.shownOutside(by)}
}
