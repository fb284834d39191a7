package requests

import (
	"cmp"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/protocol"
)

// OpenEnded is a load that lasts until another one replaces it, as during a search.
func OpenEnded(load float64) protocol.Load {
	return protocol.Load{Stages: []protocol.Stage{{Duration: protocol.Duration(24 * time.Hour), From: load, To: load}}}
}

// Stages converts a load over time for an agent.
func Stages(t *experiment.Target, measured time.Duration) []protocol.Stage {
	if len(t.Stages) == 0 {
		return []protocol.Stage{{Duration: protocol.Duration(measured), From: t.Value, To: t.Value}}
	}
	var all []protocol.Stage
	from := 0.0
	for _, s := range t.Stages {
		if s.Duration > 0 {
			all = append(all, protocol.Stage{Duration: protocol.Duration(s.Duration), From: from, To: s.Target})
		}
		from = s.Target
	}
	return all
}

const (
	// leftOutFor is how long a kind is left out at a time, or a frame if that is longer. Many short
	// times are better than few long ones: the speed of a machine drifts.
	leftOutFor = time.Second
	// mostVaried bounds the time in which the mix varies, but for the fewest rounds of a search.
	mostVaried = 20 * time.Second
	// leastFrames is in how many frames each kind is left out.
	leastFrames = 4
	// mostKinds can be left out in turn in this time.
	mostKinds = 10
)

// Varied is a load in which each kind of request is left out in turn, so that the CPU time
// differs by what this kind uses: by chance alone a mix at a high rate hardly varies. The others
// are sent as often as in the whole mix at a rate. Then nothing is sent, which
// shows the CPU time beside the requests. It takes at most half of the
// time of the measurement, and then sends nothing. Length is 0 if there is nothing to vary: users
// wait for each other's kinds, and sessions and recordings have an order. Nor does it vary before a
// measurement that is too short. Of one server in several settings, the first shows the costs; a server
// and the one before a change both do.
func Varied(e *experiment.Experiment, c *experiment.Cell, rate float64) (load protocol.Load, length time.Duration) {
	l := &c.Load
	if l.Users != nil || l.Session || l.Recording != nil || e.SearchesOneServer() && c.Index > 0 && e.Server.Against() == "" {
		return load, 0
	}
	weights, sum := map[string]float64{}, 0.0
	var kinds []string
	for _, r := range Of(l) {
		w := float64(cmp.Or(r.Weight, 1))
		if sum += w; weights[r.Kind] == 0 && r.Kind != "" {
			kinds = append(kinds, r.Kind)
		}
		weights[r.Kind] += w
	}
	if len(kinds) < 2 || len(kinds) > mostKinds {
		return load, 0
	}
	slot := max(leftOutFor, e.Measure.Interval)
	each, round := protocol.Duration(slot), time.Duration(len(kinds)+1)*slot
	rounds, fewest := min(mostVaried, e.Measure.Duration/2)/round, (leastFrames*e.Measure.Interval+slot-1)/slot
	switch {
	case l.Find:
		rounds = max(rounds, fewest)
	case rounds < fewest:
		return load, 0
	}
	for range rounds {
		for _, name := range kinds {
			others := rate * (1 - weights[name]/sum)
			load.Stages = append(load.Stages, protocol.Stage{Duration: each, From: others, To: others, Omits: name})
		}
		load.Stages = append(load.Stages, protocol.Stage{Duration: each})
		length += round
	}
	load.Stages = append(load.Stages, OpenEnded(0).Stages...)
	return load, length
}
