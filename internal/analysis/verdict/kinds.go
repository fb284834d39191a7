package verdict

import "github.com/millicore/millicore/internal/analysis/summary"

// KindsOf are the kinds of request that two cells both have, in the order of the first.
func KindsOf(a, b *summary.Cell) (names []string) {
	for i := range a.Kinds {
		if kindOf(b.Kinds, a.Kinds[i].Name) != nil {
			names = append(names, a.Kinds[i].Name)
		}
	}
	return names
}

func kindOf(all []summary.KindFigures, name string) *summary.KindFigures {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// OfKind is the part of a cell that the requests of one kind have, as a cell: it is compared, and
// left out, as the whole one is. Latencies are those of answered requests.
func OfKind(c *summary.Cell, name string) *summary.Cell {
	part := summary.Cell{Cell: c.Cell, Label: c.Label, Service: c.Service, Limits: c.Limits, Load: c.Load, Trials: c.Trials, Kept: c.Kept,
		Generator: c.Generator, Causes: c.Causes, Disturbance: c.Disturbance, Flags: c.Flags}
	if k := kindOf(c.Kinds, name); k != nil {
		part.Requests, part.Availability, part.LatencyMS = k.Requests, k.Availability, k.Latency
	}
	for i := range c.PerTrial {
		t := &c.PerTrial[i]
		one := summary.TrialFigures{Trial: t.Trial, Attempt: t.Attempt}
		if k := kindOf(t.Kinds, name); k != nil {
			one.Availability, one.CPUPerReqMS = k.Availability, k.CPUMS
			if q := k.Latency; q != nil {
				one.P50, one.P90, one.P95, one.P99, one.P999 = &q.P50, &q.P90, &q.P95, &q.P99, &q.P999
			}
		}
		part.PerTrial = append(part.PerTrial, one)
	}
	return &part
}
