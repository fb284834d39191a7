package analysis

import (
	"maps"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// minTrials is the fewest trials that give a 95% interval of a median: with n trials,
// the range from the lowest to the highest contains it with probability 1 - 2^(1-n),
// which is 0.969 for six.
const minTrials = 6

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

// quantiles returns nil if nothing was recorded.
func quantiles(h *signals.Histogram) *Quantiles {
	if h.Count() == 0 {
		return nil
	}
	return &Quantiles{
		P50: ms(h.Quantile(0.50)), P90: ms(h.Quantile(0.90)), P95: ms(h.Quantile(0.95)),
		P99: ms(h.Quantile(0.99)), P999: ms(h.Quantile(0.999)), Max: ms(h.Max()), Mean: ms(h.Mean()), Min: ms(h.Min()),
		Beyond: h.Beyond(),
	}
}

func limitsOf(c *experiment.Cell) LimitsSummary {
	some := func(v int64) *int64 {
		if v == 0 {
			return nil
		}
		return &v
	}
	return LimitsSummary{CPUMillis: some(c.Limits.CPUMillis), MemoryBytes: some(c.Limits.Memory),
		BurstMillis: some(c.Limits.BurstMillis), Replicas: c.Limits.Replicas, MostReplicas: mostReplicas(c)}
}

// mostReplicas is the highest number of replicas; 0: their number is fixed.
func mostReplicas(c *experiment.Cell) int {
	if c.Service.Autoscale == nil {
		return 0
	}
	return c.Service.Autoscale.Max
}

func loadOf(c *experiment.Cell) LoadSummary {
	s := LoadSummary{Kind: "open"}
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

func cpuOf(s *sums.Server) CPUSummary {
	out := CPUSummary{Cores: s.Cores(), OfLimit: s.OfLimit(), Periods: s.Periods, ThrottledPeriods: s.ThrottledPeriods, Limit: s.LimitCores()}
	if s.Throttled != nil {
		out.ThrottledMS = ptr(*s.Throttled * 1000)
	}
	return out
}

func memoryOf(s *sums.Server) MemorySummary {
	return MemorySummary{PeakBytes: s.MemoryPeak, OOMKills: s.OOMKills, OfLimit: sums.Over(float(s.MemoryPeak), float(s.MemoryLimit))}
}

// replicasOf returns nil if the service was not scaled.
func replicasOf(s *sums.Scaled) *ReplicasSummary {
	mean := s.Mean()
	if mean == nil {
		return nil
	}
	return &ReplicasSummary{Least: s.Least, Most: s.Most, Mean: *mean}
}

// waitsOf returns nil if nothing waited, or nothing was reported.
func waitsOf(w *sums.Waits) *WaitsSummary {
	mean := w.Mean()
	if mean == nil {
		return nil
	}
	return &WaitsSummary{P50: w.Quantile(0.5), P99: w.Quantile(0.99), Mean: *mean}
}

func generatorOf(t *sums.Total) GeneratorSummary {
	out := GeneratorSummary{SentLate: t.Client.Latency.Count() > 0 && t.Noise.SentLate(), DueRPS: t.Client.Due(), SentRPS: t.Client.Sent(), Cores: t.Client.Cores(), OpenConnections: t.Client.OpenConnections(), Resent: t.Client.Resent, Stray: t.Client.Stray, NoPorts: t.Client.NoPorts, ThrottledShare: t.Noise.ThrottledShare(),
		RunWaitCores: sums.Over(t.Noise.RunWait(), ptr(t.Client.Seconds()))}
	if lag := t.Noise.SendLag(); lag.Count() > 0 {
		out.SendLagP99US = ptr(ms(lag.Quantile(0.99)) * 1000)
	}
	return out
}

func hostOf(m disturbance.Machines) HostSummary {
	return HostSummary{IdleCores: m.Total((*disturbance.Machine).IdleCores), ForeignCores: m.Total((*disturbance.Machine).ForeignCores),
		StealCores: m.Total((*disturbance.Machine).StealCores)}
}

// dependenciesOf takes rates from the sums of the figures, and counts and peaks from
// the whole trials.
func dependenciesOf(all, whole *sums.Total) []DependencySummary {
	var list []DependencySummary
	for _, name := range slices.Sorted(maps.Keys(whole.Deps)) {
		d := DependencySummary{Name: name, PeakBytes: whole.Deps[name].PeakTogether(),
			Restarts: whole.Deps[name].Restarts, OOMKills: whole.Deps[name].OOMKills}
		if s := all.Deps[name]; s != nil {
			d.Cores, d.Periods, d.ThrottledPeriods = s.Cores(), s.Periods, s.ThrottledPeriods
		}
		list = append(list, d)
	}
	return list
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ptr[T any](v T) *T { return &v }

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return ptr(float64(*v))
}

// deref returns 0 for a figure that was not measured.
func deref[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}
