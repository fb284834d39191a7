package analysis

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
)

func (b *Builder) findings(cells []summary.Cell) []summary.Finding {
	all := []summary.Finding{}
	for i := range cells {
		if b.skipped[b.exp.Cells[i].Service.Name] != "" {
			continue
		}
		if f, ok := b.objectiveFinding(&cells[i]); ok {
			all = append(all, f)
		}
	}
	if f, ok := b.order(cells); ok {
		all = append(all, f)
	}
	for i := range cells {
		if f, ok := b.growth(&cells[i]); ok {
			all = append(all, f)
		}
	}
	all = append(all, b.skips()...)
	for i := range cells {
		all = append(all, b.failures(&cells[i])...)
	}
	return all
}

func (b *Builder) objectiveFinding(c *summary.Cell) (summary.Finding, bool) {
	if c.Objective == nil {
		return summary.Finding{}, false
	}
	if c.Breaking != nil && (c.Trials > 0 || c.Breaking.Load() != nil) {
		return b.breakingFinding(c), true
	}
	f := summary.Finding{Level: "result", Cell: &c.Cell, What: finding.Finding{Kind: finding.ObjectiveMissed}, Searched: c.Breaking != nil && c.Load.Find}
	f.Why = []finding.Finding{{Kind: finding.ObjectiveIs, Text: c.Objective.Text},
		{Kind: finding.Measured, Because: measured(b.exp.Objective, c.LatencyMS, c.OfAll, c.Availability, verdict.Together(c))},
		verdict.Outlying(c), c.Objective.MissedBy}
	if near := verdict.NearObjective(c); !near.None() {
		f.Why = append(f.Why, finding.Finding{Kind: finding.NotDecided, Because: []finding.Finding{near}})
	}
	switch {
	case c.Objective.Met == nil:
		f.What.Kind = finding.ObjectiveUnknown
	case *c.Objective.Met:
		f.What.Kind = finding.ObjectiveMet
	}
	return f, true
}

// breakingFinding states up to which load a cell meets its objective, with the figures
// at that load. Figures over all loads would mean nothing, because the highest loads
// are meant to miss the objective.
func (b *Builder) breakingFinding(c *summary.Cell) summary.Finding {
	f := summary.Finding{Level: "result", Cell: &c.Cell, What: finding.Finding{Kind: finding.NoLoadMeets}, Searched: c.Load.Find,
		Why: []finding.Finding{{Kind: finding.ObjectiveIs, Text: c.Objective.Text}}}
	load := c.Breaking.Load()
	if load == nil {
		if metSomewhere(c.Steps) {
			f.What.Kind = finding.LoadUnknown
		}
		f.Why = append(f.Why, c.Breaking.Why...)
		return f
	}
	f.What = finding.Finding{Kind: finding.MeetsUpTo, Load: *load, Users: c.Breaking.Users != nil, AtLeast: c.Breaking.AtLeast}
	if c.Breaking.Untested {
		f.What.Kind = finding.EstimatedUpTo
	}
	held := c.Breaking.Held
	if !c.Load.Find { // the levels of a ramp are all tested
		if at := slices.IndexFunc(c.Steps, func(s summary.Step) bool { return s.Target == *load }); at >= 0 {
			held = &c.Steps[at]
		}
	}
	if held != nil && held.LatencyMS != nil {
		f.Why = append(f.Why, finding.Finding{Kind: finding.MeasuredAt, Load: held.Target, Because: measured(b.exp.Objective, held.LatencyMS, held.OfAll, held.Availability, false)})
	}
	if missed := c.Breaking.Missed; missed != nil {
		f.Why = append(f.Why, finding.Finding{Kind: finding.MissedAt, Load: missed.Target})
	}
	return f
}

// kinds are the ways in which attempts ended, worst first.
var kinds = []struct {
	state   State
	counted bool
	what    finding.Kind
}{
	{Invalid, false, finding.TrialsInvalid},
	{Failed, false, finding.TrialsFailed},
	{Partial, true, finding.TrialsCutOff},
	{Partial, false, finding.TrialsLeftOut},
}

// mostReasons is how many reasons of trials one finding has.
const mostReasons = 3

// failures reports the cell's attempts that failed or were cut off. There is one finding
// for each kind, with the reasons. Those that were disturbed are in the cell's
// Disturbance.
func (b *Builder) failures(c *summary.Cell) []summary.Finding {
	var all []summary.Finding
	for _, kind := range kinds {
		named := finding.Finding{Kind: finding.TrialsNamed}
		var reasons []string
		for _, a := range b.attempts {
			if a.Cell != c.Cell || a.State != kind.state || b.counted[a.Trial] != kind.counted {
				continue
			}
			named.Names = append(named.Names, fmt.Sprint(a.Trial))
			if !slices.Contains(reasons, a.Why) {
				reasons = append(reasons, a.Why)
			}
		}
		if len(named.Names) == 0 {
			continue
		}
		few := reasons[:min(len(reasons), mostReasons)]
		for _, reason := range few {
			named.Because = append(named.Because, finding.Finding{Kind: finding.Recorded, Text: reason})
		}
		named.N = len(reasons) - len(few)
		all = append(all, summary.Finding{Level: "warning", Cell: &c.Cell, What: finding.Finding{Kind: kind.what, N: len(named.Names)}, Why: []finding.Finding{named}})
	}
	return all
}

// skips reports each service that was skipped, once for all its cells.
func (b *Builder) skips() []summary.Finding {
	var all []summary.Finding
	var reported []string
	for i := range b.exp.Cells {
		name := b.exp.Cells[i].Service.Name
		if b.skipped[name] == "" || slices.Contains(reported, name) {
			continue
		}
		reported = append(reported, name)
		all = append(all, summary.Finding{Level: "warning", What: finding.Finding{Kind: finding.SkippedService, Text: name},
			Why: []finding.Finding{{Kind: finding.Recorded, Text: b.skipped[name]}}})
	}
	return all
}

// measured returns the measured figures that belong to an objective: q of the answered
// requests, all of all of them. together: it is no median over trials.
func measured(o *experiment.Objective, q *summary.Quantiles, all *summary.AllRequests, availability *float64, together bool) (figures []finding.Finding) {
	if o.Quantile != "" {
		one := finding.Finding{Kind: finding.QuantileOfNoLevel, Text: o.Quantile}
		if q != nil {
			one.Kind = finding.QuantileMeasured
			if one.Value, one.AtLeast = all.Named(o.Quantile, q); together {
				one.Kind = finding.QuantileTogether
			}
		}
		figures = append(figures, one)
	}
	if o.Availability > 0 {
		one := finding.Finding{Kind: finding.AvailabilityOfNone}
		if availability != nil {
			one = finding.Finding{Kind: finding.AvailabilityMeasured, Value: *availability}
		}
		figures = append(figures, one)
	}
	return figures
}
