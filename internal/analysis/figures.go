package analysis

import (
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
)

// intervals returns the 95% interval of the median over trials for each figure that at
// least six trials measured.
func intervals(trials []map[string]float64) map[string][2]float64 {
	all := map[string][]float64{}
	for _, t := range trials {
		for path, v := range t {
			all[path] = append(all[path], v)
		}
	}
	out := map[string][2]float64{}
	for path, v := range all {
		slices.Sort(v)
		if low, high, ok := stats.MedianInterval(len(v)); ok {
			out[path] = [2]float64{v[low], v[high]}
		}
	}
	return out
}

func limitsOf(c *experiment.Cell) summary.Limits {
	some := func(v int64) *int64 {
		if v == 0 {
			return nil
		}
		return &v
	}
	return summary.Limits{CPUMillis: some(c.Limits.CPUMillis), MemoryBytes: some(c.Limits.Memory),
		BurstMillis: some(c.Limits.BurstMillis), RequestMillis: some(c.Limits.RequestMillis), Replicas: c.Limits.Replicas, MostReplicas: mostReplicas(c)}
}

// mostReplicas is the highest number of replicas; 0: their number is fixed.
func mostReplicas(c *experiment.Cell) int {
	if c.Service.Autoscale == nil {
		return 0
	}
	return c.Service.Autoscale.Max
}

func loadOf(c *experiment.Cell) summary.Load {
	s := summary.Load{Kind: "open", Replay: c.Load.Replay != ""}
	if c.Load.Benchmark {
		s.Kind = "benchmark"
	}
	target := c.Load.Target()
	if target == nil {
		return s
	}
	highest := target.Highest()
	s.Stages = len(target.Stages) > 0
	if c.Load.Users != nil {
		s.Kind, s.Users = "closed", &highest
	} else {
		s.Rate = &highest
	}
	if c.Load.Requests > 0 {
		s.Requests = &c.Load.Requests
	}
	return s
}

func cpuOf(s *sums.Server) summary.CPU {
	out := summary.CPU{Cores: s.Cores(), OfLimit: s.OfLimit(), Periods: s.Periods, ThrottledPeriods: s.ThrottledPeriods, Limit: s.LimitCores()}
	if s.Throttled != nil {
		out.ThrottledMS = new(*s.Throttled * 1000)
	}
	return out
}

func memoryOf(s *sums.Server) summary.Memory {
	return summary.Memory{PeakBytes: s.MemoryPeak, OOMKills: s.OOMKills, OfLimit: sums.Over(float(s.MemoryPeak), float(s.MemoryLimit))}
}

// replicasOf returns nil if the service was not scaled.
func replicasOf(s *sums.Scaled) *summary.Replicas {
	mean := s.Mean()
	if mean == nil {
		return nil
	}
	return &summary.Replicas{Least: s.Least, Most: s.Most, Mean: *mean}
}

// waitsOf returns nil if nothing waited, or nothing was reported.
func waitsOf(w *sums.Waits) *summary.Waits {
	mean := w.Mean()
	if mean == nil {
		return nil
	}
	return &summary.Waits{P50: w.Quantile(0.5), P99: w.Quantile(0.99), Mean: *mean}
}

func generatorOf(t *sums.Total) summary.Generator {
	out := summary.Generator{SentLate: t.Client.Latency.Count() > 0 && t.Noise.SentLate(), DueRPS: t.Client.Due(), SentRPS: t.Client.Sent(), Cores: t.Client.Cores(), OpenConnections: t.Client.OpenConnections(), Resent: t.Client.Resent, Stray: t.Client.Stray, NoPorts: t.Client.NoPorts, OtherSources: t.Client.OtherSources, ThrottledShare: t.Noise.ThrottledShare(),
		RunWaitCores: sums.Over(t.Noise.RunWait(), new(t.Client.Seconds()))}
	if lag := t.Noise.SendLag(); lag.Count() > 0 {
		out.SendLagP99US = new(summary.MS(lag.Quantile(0.99)) * 1000)
	}
	return out
}

func hostOf(m disturbance.Machines) summary.Host {
	return summary.Host{IdleCores: m.Total((*disturbance.Machine).IdleCores), ForeignCores: m.Total((*disturbance.Machine).ForeignCores),
		StealCores: m.Total((*disturbance.Machine).StealCores)}
}

// dependenciesOf takes rates from the sums of the figures, and counts and peaks from
// the whole trials.
func dependenciesOf(all, whole *sums.Total) []summary.Dependency {
	var list []summary.Dependency
	for _, name := range slices.Sorted(maps.Keys(whole.Deps)) {
		d := summary.Dependency{Name: name, PeakBytes: whole.Deps[name].PeakTogether(),
			Restarts: whole.Deps[name].Restarts, OOMKills: whole.Deps[name].OOMKills}
		if s := all.Deps[name]; s != nil {
			d.Cores, d.Periods, d.ThrottledPeriods = s.Cores(), s.Periods, s.ThrottledPeriods
		}
		list = append(list, d)
	}
	return list
}

// isNeighbour reports whether a dependency is a busy neighbour, which its limit throttles on
// purpose.
func (c *cell) isNeighbour(name string) bool {
	n := c.plan.Service.Neighbour()
	return n != nil && n.Name == name
}

// beside is how the service and a neighbour divided the CPUs; nil: there is none. all are the
// sums of the cell.
func (c *cell) beside(all *sums.Total) *summary.Beside {
	n := c.plan.Service.Neighbour()
	if n == nil {
		return nil
	}
	b := &summary.Beside{Wanted: float64(n.Limits.CPUMillis) / 1000}
	if c.plan.Load.Find {
		s := c.searches()
		all = s.Overloaded()
	}
	if all != nil && all.Deps[n.Name] != nil {
		b.Neighbour, b.Service, b.Generator = all.Deps[n.Name].Cores(), all.Server.Cores(), all.Client.Cores()
	}
	return b
}

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return new(float64(*v))
}
