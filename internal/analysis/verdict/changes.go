package verdict

import (
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Changed compares two services of a run of searches, the one before a change and the one after
// it, by the breaking point and the start-up, and by the objective's latency, the CPU time per request and
// the peak of memory at the common load. Its tests are one family: Holm's correction goes over the
// figures, so that a change that changes nothing has a significant one in at most 5% of runs.
// Figures that neither has are left out.
func Changed(s *summary.Summary, before, after string) (all []Difference) {
	add := func(of *summary.Summary, metric string) {
		m, known := MetricOf(metric)
		a, b := cellOf(of, before), cellOf(of, after)
		if !known || a == nil || b == nil {
			return
		}
		if d := difference(m, a, b); d.A != nil || d.B != nil {
			all = append(all, d)
		}
	}
	add(s, BreakingPointMetric)
	if s.Common != nil {
		for _, metric := range []string{s.Common.Quantile(), "cpu_per_request", "memory_peak"} {
			add(s.Common, metric)
		}
	}
	add(s, startMetric)
	correct(all)
	return all
}

// cellOf is the cell of a service; nil: there is none.
func cellOf(s *summary.Summary, service string) *summary.Cell {
	for i := range s.Cells {
		if s.Cells[i].Service == service {
			return &s.Cells[i]
		}
	}
	return nil
}

// correct judges differences whose tests are one family, by Holm's correction.
func correct(all []Difference) {
	var tested, measured []*Difference
	var p []float64
	for i := range all {
		d := &all[i]
		if d.Verdict != OneSided {
			measured = append(measured, d)
		}
		if d.P != nil {
			tested, p = append(tested, d), append(p, *d.P)
		}
	}
	for _, d := range measured {
		d.Family = len(measured)
	}
	for i, corrected := range stats.Holm(p) {
		tested[i].judge(corrected, len(tested))
	}
}
