package search

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// After the answer is known, the search tests what the answer hides, because it drains
// a backlog before most windows: whether the service holds a load without that, and
// from which load on it recovers from an overload. A service whose backlog makes its
// work more expensive (retries, stale requests, thrashing) may stay overloaded at a
// load that it held before. This is a metastable failure (N. Bronson et al.,
// "Metastable Failures in Distributed Systems", HotOS 2021).
//
//  1. Sustain: a window a little below the tested load, without draining; if that misses, one
//     at the first load of the descent, after draining.
//  2. Overload: loads above the answer, until most requests fail.
//  3. Descend: lower and lower loads, without draining, until a window meets the
//     objective again. Only if a test window met the objective, and a load was sustained:
//     otherwise the load before the overload was too high as well.
//
// A service without hysteresis needs time for its backlog, too. With the capacity C and
// B requests left over, a load x needs B/(C-x). The reference R, the tested load, is a
// lower bound of C, and B is at most what was offered above C. At the first load of the
// descent the search waits patience times as long before it concludes that the service
// does not recover. The lower loads follow faster: a service that gets there has
// hysteresis, and they only show how far down it reaches.

const (
	// sustained is the load of the window without draining, as a share of the tested
	// load. Nearer to it, chance decides whether a window meets the objective.
	sustained = 0.95
	// pushed is the first overload, as a multiple of the tested load, and of the
	// overload before; mostPushes is the number of overloads.
	pushed     = 1.5
	mostPushes = 3
	// leastPush is the lowest load that counts as an overload, as a multiple.
	leastPush = 1.15
	// patience multiplies the time that a backlog needs. The tested load may be some
	// percent above the true capacity.
	patience = 1.5
	// longestPush bounds the window of an overload, s.
	longestPush = 4
	// longestTimeout bounds the allowance for requests that the clients give up.
	longestTimeout = 10 * time.Second
)

// descents are the loads tried after the overload, as shares of the tested load.
var descents = []float64{0.85, 0.7, 0.5, 0.35, 0.25}

var (
	ofSustain = lengths{settle: 500 * time.Millisecond, window: 5 * time.Second}
	ofPush    = lengths{settle: 500 * time.Millisecond, window: 2 * time.Second} // and twice the objective's latency
	ofDescent = lengths{settle: 500 * time.Millisecond, window: 2 * time.Second}
)

// leastDescent is how many windows a load gets at least.
const leastDescent = 3

// Sustained is whether the service held a load without draining.
type Sustained string

const (
	SustainedMet    Sustained = "met"
	SustainedMissed Sustained = "missed" // clearly, and most requests failed at the window's end
)

// Recovery is what followed an overload. All loads are 0 if they were not reached.
type Recovery struct {
	Reference   float64 // the tested load, at most the answer; or the low end of the interval
	SustainedAt float64
	Sustained   Sustained       // "": not measured, or not clear
	Overload    float64         // the highest load before the descent
	At          float64         // the highest load tried at which it met the objective again
	NotAt       float64         // the lowest load tried at which it did not
	Lost        string          // why it could not be measured any more after the overload: it died
	Why         finding.Finding // why it is not known whether it recovers; none otherwise
}

// Hysteresis reports whether the service did not recover at any load within 15% of the
// one that it held before the overload.
func (r Recovery) Hysteresis() bool { return r.NotAt > 0 || r.Lost != "" }

// aftermath is the state of these stages.
type aftermath struct {
	stage    Stage
	load     float64 // of the next step
	drain    bool    // before it
	capacity float64 // lower bound of the service's, requests/s
	pushes   []held
	extra    float64       // requests offered while others took CPU: nothing is known of the capacity then
	waited   time.Duration // at this load
	spent    time.Duration
	by       finding.Source
	limited  bool
	met      float64 // the highest overload that met the objective, far above the answer; 0: none
}

type held struct{ load, seconds float64 }

// after reports whether a stage follows the answer.
func (s Stage) After() bool { return s == Sustain || s == Overload || s == Descend }

// follow begins the aftermath of an answer, or gives the reason why there is none.
func (s *Search) follow() {
	r := &s.result
	reference := r.Low
	if r.Tested > 0 {
		reference = min(r.Tested, r.Load)
	}
	r.Recovery.Reference = reference
	a := &aftermath{stage: Sustain, load: s.fit(sustained * reference), capacity: reference}
	switch {
	case s.config.After <= 0:
		s.stop(finding.Finding{Kind: finding.RecoveryNotAsked})
	case s.config.Whole && reference < 1/(1-descents[0]):
		s.stop(finding.Finding{Kind: finding.FewUsers})
	default:
		s.after = a
	}
}

// stop ends the search after its answer. why is the reason for which it is not known
// whether the service recovers.
func (s *Search) stop(why finding.Finding) {
	if s.result.Ended == Broke {
		s.withdraw()
	}
	if s.result.Load == 0 {
		why = finding.Finding{Kind: finding.NoBreakingPoint}
	}
	if r := &s.result.Recovery; r.At == 0 && r.NotAt == 0 && r.Lost == "" {
		r.Why = why
	}
	s.after, s.done = nil, true
}

// afterwards returns the next step after the answer.
func (s *Search) afterwards() (Step, bool) {
	a := s.after
	l := map[Stage]lengths{Sustain: ofSustain, Overload: ofPush, Descend: ofDescent}[a.stage]
	if a.stage == Overload && s.late != nil {
		l.window += time.Duration(2 * s.late.latency * float64(time.Second))
		l.window = min(l.window, longestPush*time.Second)
	}
	settle, window := s.whole(l.settle), s.whole(l.window)
	switch {
	case a.spent+settle+window <= s.config.After && s.steps < mostSteps:
		return Step{Stage: a.stage, Load: a.load, Drain: a.drain, Settle: settle, Window: window}, true
	case a.by != 0:
		s.stop(finding.Finding{Kind: finding.OthersTookCPU, Who: a.by})
	case a.limited:
		s.stop(finding.Finding{Kind: finding.GeneratorLimit})
	default:
		s.stop(finding.Finding{Kind: finding.RecoveryTimeUsed})
	}
	return Step{}, false
}

// followed takes what a step after the answer has shown.
func (s *Search) followed(o Observation, w window, took time.Duration) {
	a, r, load := s.after, &s.result.Recovery, s.step.Load
	a.spent += took
	s.result.Traffic += took
	if o.Gone != "" {
		r.Lost = o.Gone
		s.stop(finding.Finding{})
		return
	}
	outside := o.Disturbed != 0 || o.Limited
	switch s.step.Stage {
	case Sustain:
		r.SustainedAt, a.drain = load, false
		switch {
		case w.n > 0 && !w.missed:
			r.Sustained = SustainedMet
		case w.clearly && w.backlog && !outside:
			r.Sustained = SustainedMissed
		}
		if first := s.fit(descents[0] * r.Reference); r.Sustained != SustainedMet && first < load {
			a.load, a.drain = first, true
			return
		}
		s.push(pushed * r.Reference)
	case Overload:
		r.Overload = max(r.Overload, load)
		a.pushes = append(a.pushes, held{load, took.Seconds()})
		if w.n > 0 && !outside {
			s.looked(w)
			if !w.missed && !w.backlog && s.farAbove(w) {
				a.met = max(a.met, load)
			}
		}
		if o.Disturbed != 0 {
			a.extra += load * took.Seconds()
		} else if seconds := took.Seconds() - s.step.Settle.Seconds(); seconds > 0 && !s.config.Whole {
			a.capacity = max(a.capacity, (w.n-w.bad-w.overdue)/seconds)
		}
		switch {
		case !w.backlog && !o.Limited && len(a.pushes) < mostPushes && s.push(pushed*load):
		case !w.missed:
			s.stop(finding.Finding{Kind: finding.OverloadMet, Load: load})
		case s.result.Tested > 0 && r.Sustained == SustainedMet:
			s.descend(r.Reference)
		default:
			s.stop(finding.Finding{Kind: finding.NothingSustained})
		}
	case Descend:
		switch {
		case w.n > 0 && !w.missed:
			r.At = load
			s.stop(finding.Finding{})
		case outside:
			a.extra += load * took.Seconds()
			a.by |= o.Disturbed
			a.limited = a.limited || o.Limited
		default:
			if a.waited += took; a.waited >= s.needed(load) {
				r.NotAt = load
				s.descend(load)
			}
		}
	}
}

// push sets an overload, as high as the generator may be loaded, and reports whether
// that is one, and higher than the one before.
func (s *Search) push(load float64) bool {
	most := s.config.Most
	if s.limited {
		most = min(most, s.ceiling)
	}
	load = min(load, most)
	if s.config.Whole {
		load = math.Floor(load)
	}
	a, r := s.after, &s.result.Recovery
	if load < leastPush*r.Reference {
		s.stop(finding.Finding{Kind: finding.NoOverload})
		return false
	}
	if load <= r.Overload {
		return false
	}
	a.stage, a.load = Overload, load
	return true
}

// descend sets the highest of the descents below a load.
func (s *Search) descend(below float64) {
	a := s.after
	a.stage, a.waited = Descend, 0
	for _, share := range descents {
		load := share * s.result.Recovery.Reference
		if s.config.Whole {
			load = max(1, math.Round(load))
		}
		if load < below {
			a.load = load
			return
		}
	}
	s.stop(finding.Finding{})
}

// needed is how long the search waits for a window that meets the objective: at the
// first load of the descent, longer than a service without hysteresis needs.
func (s *Search) needed(load float64) time.Duration {
	a := s.after
	needed := leastDescent * (s.whole(ofDescent.settle) + s.whole(ofDescent.window))
	if s.result.Recovery.NotAt > 0 {
		return needed
	}
	needed += min(s.config.Timeout, longestTimeout)
	if s.config.Whole { // each user has one request at most
		return needed
	}
	backlog := a.extra
	for _, p := range a.pushes {
		backlog += max(0, p.load-a.capacity) * p.seconds
	}
	return needed + time.Duration(patience*backlog/(a.capacity-load)*float64(time.Second))
}
