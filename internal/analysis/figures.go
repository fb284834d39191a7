package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// minTrials is the fewest trials that give a 95% interval of a median: with n trials,
// the range from the lowest to the highest contains it with probability 1 - 2^(1-n),
// which is 0.969 for six.
const minTrials = 6

// medianInterval returns the ranks, from 0, between which the median of the population
// lies with at least 95%, for n ordered trials. ok is false for fewer than six. It is
// the order-statistic (sign test) interval: the rank k is the largest with 2
// P(Binomial(n, 1/2) <= k) <= 0.05.
func medianInterval(n int) (low, high int, ok bool) {
	if n < minTrials {
		return 0, 0, false
	}
	tail, p := 0.0, math.Pow(0.5, float64(n))
	k := -1
	for i := 0; i < n/2; i++ {
		tail += p
		if 2*tail > 0.05 {
			break
		}
		k = i
		p = p * float64(n-i) / float64(i+1)
	}
	return k, n - 1 - k, true
}

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
		if low, high, ok := medianInterval(len(v)); ok {
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

// load is the load at which the cell's figures were measured. For a search it is the
// load that was tested last.
func (c *cell) load() LoadSummary {
	s := loadOf(c.plan)
	if !c.plan.Load.Find {
		return s
	}
	s.Find, s.Rate, s.Users = true, nil, nil
	var tested []float64
	for _, t := range c.trials {
		if load := t.search.result().Tested; load > 0 {
			tested = append(tested, load)
		}
	}
	if len(tested) == 0 {
		return s
	}
	slices.Sort(tested)
	middle := &tested[len(tested)/2]
	if c.plan.Load.Users != nil {
		s.Users = middle
	} else {
		s.Rate = middle
	}
	return s
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

func errorsOf(c *clientSums) ErrorCounts {
	return ErrorCounts{Timeouts: c.timeouts, Refused: c.refused, Cut: c.cut, Malformed: c.malformed, Failed: c.failed, Status: c.status, Dropped: c.dropped}
}

func cpuOf(s *serverSums) CPUSummary {
	out := CPUSummary{Cores: s.cores(), OfLimit: s.ofLimit(), Periods: s.periods, ThrottledPeriods: s.throttledPeriods, Limit: s.limitCores()}
	if s.throttled != nil {
		out.ThrottledMS = ptr(*s.throttled * 1000)
	}
	return out
}

func memoryOf(s *serverSums) MemorySummary {
	out := MemorySummary{PeakBytes: s.memoryPeak, OOMKills: s.oomKills}
	if s.memoryPeak != nil && s.memoryLimit != nil {
		out.OfLimit = ptr(float64(*s.memoryPeak) / float64(*s.memoryLimit))
	}
	return out
}

func generatorOf(t *tally, limited bool) GeneratorSummary {
	out := GeneratorSummary{Cores: t.client.cores(), Limited: limited}
	if t.noise.lag.Count() > 0 {
		out.SendLagP99US = ptr(ms(t.noise.lag.Quantile(0.99)) * 1000)
	}
	if t.client.mostOpen > 0 {
		out.OpenConnections = &t.client.mostOpen
	}
	if t.noise.runWaitKnown {
		out.RunWaitCores = over(&t.noise.runWait, ptr(t.client.seconds()))
	}
	if t.noise.throttledKnown {
		out.ThrottledShare = over(&t.noise.throttled, &t.noise.clientSeconds)
	}
	return out
}

func hostOf(n *Noise) HostSummary {
	m := n.machines
	return HostSummary{IdleCores: m.total((*machineSums).idleCores), ForeignCores: m.total((*machineSums).foreignCores), StealCores: m.total((*machineSums).stealCores)}
}

// peakTogether is the highest memory of all replicas at one time. The kernel keeps the
// peak of each replica but not its time. For one replica that peak is the answer. For
// several it is the highest sum at the end of an interval, and at least the highest
// peak of one.
func (s *serverSums) peakTogether() *int64 { return higher(s.memoryPeak, s.memoryTogether) }

// dependenciesOf takes rates from the sums of the result, and counts and peaks from
// the whole trials.
func dependenciesOf(all, whole *tally) []DependencySummary {
	var list []DependencySummary
	for _, name := range slices.Sorted(maps.Keys(whole.deps)) {
		d := DependencySummary{Name: name, PeakBytes: whole.deps[name].peakTogether(),
			Restarts: whole.deps[name].restarts, OOMKills: whole.deps[name].oomKills}
		if sums := all.deps[name]; sums != nil {
			d.Cores, d.Periods, d.ThrottledPeriods = sums.cores(), sums.periods, sums.throttledPeriods
		}
		list = append(list, d)
	}
	return list
}
