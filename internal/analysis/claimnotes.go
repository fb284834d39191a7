package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
)

// notes are what a verdict does not show and its readers must know: of what was
// measured once only, what may have touched it, and what was not as it is
// written.
//
// Where nothing could be judged, only the last is told: the reason is there.
func (j *judge) notes(c *experiment.Claim, figures []figure, verdict Verdict) (all []string) {
	untold := verdict == CannotTell && slices.ContainsFunc(figures, func(f figure) bool { return f.why != "" })
	if !untold {
		all = append(all, rampsText(figures))
		for i := range figures {
			all = append(all, figures[i].bounded())
		}
		all = append(all, touchedText(figures))
	}
	if !untold && j.exp.Measure.StaysUp() && len(figures) > 1 && c.Metric != memoryGrowthMetric {
		all = append(all, "not restarted between runs: what grew in earlier runs is in later ones")
	}
	if len(c.Set) > 0 {
		all = append(all, "with "+listed(c.Set)+" as set on the command line")
	}
	return all
}

// rampsText says of which breaking points one ramp each is all that is known.
func rampsText(figures []figure) string {
	var who []string
	var steps []float64
	unit := "requests/s"
	for i := range figures {
		f := &figures[i]
		if f.of != ByLevels {
			continue
		}
		who = append(who, f.label)
		if step := f.high - f.low; !math.IsInf(step, 1) && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
		if f.cell.Breaking.Users != nil {
			unit = "users"
		}
	}
	if len(who) == 0 {
		return ""
	}
	text := "from one ramp"
	switch {
	case len(who) < len(figures):
		text += " of " + listed(who)
	case len(who) > 1:
		text += " each"
	}
	if len(steps) > 0 {
		slices.Sort(steps)
		var sizes []string
		for _, step := range steps {
			sizes = append(sizes, number(step))
		}
		text += ", read to within steps of " + listed(sizes) + " " + unit
	}
	return text + "; no spread between runs is known"
}

// bounded says why only a lower bound of a breaking point is known.
func (f *figure) bounded() string {
	if f.metric != BreakingPointMetric || f.why != "" || !math.IsInf(f.high, 1) || f.cell.Breaking.Reason == "" {
		return ""
	}
	return "only a lower bound is known of " + f.label + ": " + f.cell.Breaking.Reason
}

// touchedText is what may have touched the figures and does not forbid a verdict.
func touchedText(figures []figure) string {
	var parts []string
	for _, note := range []struct{ flag, words string }{
		{"busy_neighbour", "other processes took CPU beside "},
		{"busy_hypervisor", "the hypervisor took CPU beside "},
		{"cpu_stolen", "the hypervisor took CPU from "},
		{"low_idle", "the host had hardly an idle CPU beside "},
		{"search_disturbed", "others, or the hypervisor, took CPU while the breaking point was searched of "},
		{"incomplete_trial", "a trial was cut off of "},
	} {
		var who []string
		for i := range figures {
			f := &figures[i]
			if f.cell != nil && f.touched(note.flag) && !slices.Contains(who, f.label) {
				who = append(who, f.label)
			}
		}
		if len(who) > 0 {
			parts = append(parts, note.words+strings.Join(who, " and "))
		}
	}
	return strings.Join(parts, "; ")
}

// touched reports whether a flag of the cell says something of the figure.
func (f *figure) touched(flag string) bool {
	if f.why != "" && f.of == "" || ofMemory(f.metric) {
		return false
	}
	has := func(flag string) bool { return slices.Contains(f.cell.Flags, flag) }
	breaks := f.metric == BreakingPointMetric
	switch flag {
	case "search_disturbed": // of a ramp the reason of its bound tells
		return breaks && has(flag) && (f.cell.Load.Find || f.bounded() == "")
	case "busy_neighbour", "busy_hypervisor": // they forbid a verdict on all else
		return breaks && has(flag) && !has("search_disturbed")
	case "cpu_stolen":
		return has(flag) && !has("busy_hypervisor") // which says it all
	case "low_idle":
		return has(flag) && f.beside() == "" // which says it all
	}
	return has(flag)
}

// happened judges how often something happened, by each trial alone: what
// happened once is no chance of the measuring, so that one trial tells, and no
// median could.
func (c *Claim) happened(m Metric, f *figure) {
	if f.trials == 1 { // too few for an interval, and enough here
		f.why = ""
		f.disturbed(m)
	}
	one := f.claimed()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if f.why != "" {
		c.Verdict, c.Reason = CannotTell, f.why
		return
	}
	least := 0.0 // that makes a trial one of those that count
	if c.Above != nil {
		least = math.Floor(*c.Above) + 1
	} else {
		least = math.Ceil(*c.Below)
	}
	times := 0
	for _, v := range f.values {
		if v >= least {
			times++
		}
	}
	what := fmt.Sprintf("at least %s %s", number(least), m.Words)
	if least == 1 {
		what = "at least one " + strings.TrimSuffix(m.Words, "s")
	}
	c.Reason = fmt.Sprintf("%s in %d of %s", what, times, plural(f.trials, "trial"))
	all, none := times == f.trials, times == 0
	switch {
	case !all && math.IsInf(f.high, 1):
		c.Verdict = CannotTell
		c.Reason += "; the generator was the limit, and under more load there may be more"
	case c.Above != nil:
		c.Verdict = side(all, none)
	case none && f.trials == 1:
		c.Verdict = CannotTell
		c.Reason += ", and one without is no proof; repeat it"
	default:
		c.Verdict = side(none, all)
	}
}
