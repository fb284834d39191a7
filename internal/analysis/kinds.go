package analysis

import (
	"maps"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// kindFrames are the frames of a trial whose requests are counted by kind, by their number.
type kindFrames map[int]*kindFrame

type kindFrame struct {
	cpu     float64
	servers int // frames of replicas that have their CPU time
	unknown bool
	varied  bool // kinds are left out on purpose
	ended   map[string]int64
	grown   map[string]int64 // requests that were sent less those that ended
	waits   int64            // requests in flight at the end of the frame
}

func (k *kindFrames) add(f *signals.Frame, service string, m *experiment.Measure) {
	client, server := f.Client != nil && f.Client.Kinds != nil, f.Server != nil && f.Of == service
	varied := f.Phase == signals.Vary || f.Phase == signals.Warmup && m.Vary > 0 && time.Duration(f.Seq)*m.Interval >= m.Warmup-m.Vary
	if f.Phase != signals.Measure && !varied || !client && !server {
		return
	}
	if *k == nil {
		*k = kindFrames{}
	}
	one := (*k)[f.Seq]
	if one == nil {
		one = &kindFrame{ended: map[string]int64{}, grown: map[string]int64{}, varied: varied}
		(*k)[f.Seq] = one
	}
	if server {
		if f.Server.CPU == nil || !f.Server.Up || f.Server.Restarts > 0 {
			one.unknown = true
			return
		}
		one.cpu, one.servers = one.cpu+*f.Server.CPU, one.servers+1
		return
	}
	for name, of := range f.Client.Kinds {
		one.ended[name] += of.Ended
		one.grown[name] += of.Sent - of.Ended
	}
	one.waits += f.Client.InFlight
}

// mostInFlight are shares of the requests of a frame that may be in flight at its start and at its
// end; the second, if the first leaves too few frames, as of requests that wait for a database. Of
// more, the CPU time is largely in another frame than their end.
var mostInFlight = []float64{0.1, 0.3}

// joined are how many frames are an interval, the most that leave enough: CPU time in another frame
// than the end of its request, by throttling or a late reading, is then a smaller part.
var joined = []int{4, 2, 1}

// intervals are so many successive frames each, in which at most this share of the requests was in
// flight at the start and at the end. By the end alone, those would be chosen in which more requests
// ended than the CPU time is of.
func (k kindFrames) intervals(names []string, most float64, frames int, varied bool) (all []endpoints.Interval) {
	var i endpoints.Interval
	var sum, start int64
	joined := 0
	for _, seq := range slices.Sorted(maps.Keys(k)) {
		one, before := k[seq], k[seq-1]
		if before == nil || one.servers == 0 || one.unknown || one.varied != varied {
			joined = 0
			continue
		}
		if joined == 0 {
			i, sum, start = endpoints.Interval{Ended: make([]float64, len(names)), Grown: make([]float64, len(names))}, 0, before.waits
		}
		i.CPU += one.cpu
		for n, name := range names {
			i.Ended[n], i.Grown[n], sum = i.Ended[n]+float64(one.ended[name]), i.Grown[n]+float64(one.grown[name]), sum+one.ended[name]
		}
		if joined++; joined < frames {
			continue
		}
		if joined = 0; (sum > 0 || varied) && float64(max(start, one.waits)) <= most*float64(sum) {
			all = append(all, i)
		}
	}
	return all
}

// kindsOf are the figures of the requests of some trials by kind, those with most CPU time first;
// nil: the load has one kind. Fewest is how many intervals for each kind show its cost.
func kindsOf(all *sums.Total, trials []*trial, fewest int, varied bool) []summary.KindFigures {
	if len(all.Client.Kinds) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(all.Client.Kinds))
	var costs []endpoints.Cost
	if varied {
		costs = variedCosts(names, trials)
	}
	for _, most := range mostInFlight {
		for _, frames := range joined {
			need, intervals := fewest, []endpoints.Interval(nil)
			for _, t := range trials {
				intervals = append(intervals, t.kinds.intervals(names, most, frames, false)...)
			}
			if frames > 1 {
				need = 2 * endpoints.Enough
			}
			if costs == nil {
				costs = endpoints.Costs(intervals, need)
			}
		}
	}
	figures := make([]summary.KindFigures, len(names))
	ended := 0.0
	for i, name := range names {
		k := all.Client.Kinds[name]
		f := summary.KindFigures{Name: name, Requests: k.Ended, Latency: summary.QuantilesOf(k.Latency)}
		f.RateRPS = sums.Over(new(float64(k.Good)), new(all.Client.Seconds()))
		if k.Ended > 0 {
			f.Availability = new(100 * float64(k.Good) / float64(k.Ended))
		}
		if costs != nil {
			f.Cost(costs[i])
		}
		ended += float64(k.Ended)
		figures[i] = f
	}
	for i := range figures {
		figures[i].Share = float64(figures[i].Requests) / max(1, ended)
	}
	slices.SortStableFunc(figures, func(a, b summary.KindFigures) int { return a.Compare(&b) })
	return figures
}

// variedCosts are those by the frames in which the mix varied on purpose; nil: there are none, or
// too few in which not too many requests were in flight. A single trial of a cell has them.
func variedCosts(names []string, trials []*trial) []endpoints.Cost {
	var all []endpoints.Interval
	for _, t := range trials {
		all = append(all, t.kinds.intervals(names, mostInFlight[len(mostInFlight)-1], 1, true)...)
	}
	return endpoints.Varied(all)
}

// kindsOfTrial are those of one trial. How far their costs are from the truth is shown by those of
// other trials, of which only the first has a varied mix.
func kindsOfTrial(of *sums.Total, t *trial, alone bool) []summary.KindFigures {
	all := kindsOf(of, []*trial{t}, endpoints.Few, alone)
	for i := range all {
		all[i].CPULow, all[i].CPUHigh = nil, nil
	}
	return all
}

// inSteps sets the places of the requests of a session.
func inSteps(kinds []summary.KindFigures, load *experiment.Load) []summary.KindFigures {
	if load.Session {
		names := load.Kinds()
		for i := range kinds {
			kinds[i].Step = slices.Index(names, kinds[i].Name) + 1
		}
	}
	return kinds
}

// sessionsOf are the sessions of some trials.
func sessionsOf(c *sums.Client) *summary.Sessions {
	if c.Sessions == nil {
		return nil
	}
	return &summary.Sessions{Sessions: *c.Sessions, RatePS: sums.Over(new(float64(c.Sessions.Whole)), new(c.Seconds()))}
}
