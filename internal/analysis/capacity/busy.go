package capacity

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

const (
	// behind is the share of the load below which the answers fell behind it: something
	// was used up.
	behind = 0.95
	// mostWait is the share of requests that find all CPUs, or all threads, busy, from
	// which these are what limits.
	mostWait = 0.5
	// idleHost is the share of idle CPU below which the CPUs of a host are used up.
	idleHost = 0.1
	// mostMore is how many CPUs other threads of a runtime use beside the busy ones, such as
	// those that collect garbage.
	mostMore = 0.12
	// longWait is the share of the objective's latency from which a wait for a CPU
	// explains that it is missed.
	longWait = 0.25
)

// busy returns what the service computes on if that is used up: ByParallelism or
// ByHost; "" if no figure shows that.
//
// It looks at the overload that used most CPU. A service with k busy threads uses k
// cores there, whatever the load. A lock, a queue or a dependency leaves the CPU use
// anywhere, also there, so the scheduler's counters of the threads decide, if they were
// read. Below the overload, where queues break the objective before all is used up,
// the share of requests that find all threads busy follows from their use: see erlangC.
func (s Stretch) busy() (by string, shown finding.Finding) {
	most := s.most()
	if most == nil {
		return "", shown
	}
	cores, host := most.sums.Server.Cores(), most.sums.Noise.Machines().Fullest()
	if cores == nil {
		return "", shown
	}
	if host != nil && host.CPUs == 0 {
		host = nil
	}
	threads, certain := wholeCores(*cores)
	shown.Kind = finding.ThreadsBusy
	switch full, known := s.fullThreads(); {
	case full > 0:
		threads, certain, shown.Kind = full, true, finding.ThreadsFull
	case known:
		threads = 0
	}
	used := sums.Value(s.Sums.Server.Cores()) / float64(max(threads, 1))
	parallel := threads > 0 && unstopped(&most.sums.Server) && (host == nil || threads < host.CPUs) &&
		(certain || s.fellBehind(most)) && erlangC(threads, used) >= mostWait
	shown.Load, shown.Users, shown.Use = most.load, !s.Open, use(&most.sums.Server)
	if parallel {
		shown.N = threads
		if host == nil || host.IdleShare() >= idleHost {
			return summary.ByParallelism, shown
		}
	}
	if host == nil {
		return "", finding.Finding{}
	}
	full := 1 - host.IdleShare()
	// So many threads may be busy and leave CPUs idle, if they never used more than themselves.
	fewer := threads > 0 && threads < host.CPUs && sums.Value(most.sums.Server.MostCores) <= float64(threads)+mostMore
	// Nor are they used up if some are idle while requests are left: those of a lock wait for it.
	fewer = fewer || s.fellBehind(most)
	if erlangC(host.CPUs, full) < mostWait || host.IdleShare() >= idleHost && (fewer || !s.queuesFor(host.CPUs, full, most)) {
		return "", finding.Finding{}
	}
	shown.Kind, shown.Host = finding.HostBusy, finding.Host{Busy: full * float64(host.CPUs), CPUs: host.CPUs, Name: host.Name}
	return summary.ByHost, shown
}

// queuesFor reports whether requests wait long enough for one of n CPUs to miss the
// objective's latency, if each CPU is busy for a share of the time. The wait is
// exponential with the rate n (1 - share) / work for those that wait at all (Kleinrock,
// Queueing Systems I, 5.4), where work is the CPU time of a request. With idle CPUs and
// little work per request, queues are much shorter than the objective.
func (s Stretch) queuesFor(n int, share float64, o *overload) bool {
	answers := o.sums.Client.Answers()
	if !s.Goal.HasLatency() || answers == 0 || share >= 1 {
		return false
	}
	work := *o.sums.Server.Cores() * o.sums.Client.Seconds() / answers
	wait := work / (float64(n) * (1 - share)) * math.Log(erlangC(n, share)/s.Goal.Late())
	return wait >= longWait*s.Goal.Objective.Latency.Seconds()
}

// most returns the overload that used most CPU; nil if there is none.
func (s Stretch) most() *overload {
	return s.top(func(o *overload) float64 { return *o.sums.Server.Cores() })
}

// highest returns the overload with the highest load; nil if there is none.
func (s Stretch) highest() *overload {
	return s.top(func(o *overload) float64 { return o.load })
}

func (s Stretch) top(by func(*overload) float64) (top *overload) {
	for i := range s.over {
		if o := &s.over[i]; o.sums.Server.Cores() != nil && (top == nil || by(o) > by(top)) {
			top = o
		}
	}
	return top
}

// fellBehind reports whether fewer requests were answered than were due, so that
// something was used up. It is not known of users, who wait for their answers.
func (s Stretch) fellBehind(o *overload) bool {
	return s.Open && missing(o) > s.behindFrom(o)
}

// keptUp reports whether a service answered an overload that it would have fallen behind at
// if it could answer little more than the lowest load that missed the objective. Then no lock
// and no pool is known to be used up, though requests are late: those of Node.js that wait for
// a timer end together, and wait for each other, at half of what its thread can do.
func (s Stretch) keptUp(o *overload) bool {
	lowest := o.load
	for _, one := range s.over {
		lowest = min(lowest, one.load)
	}
	return s.Open && o.load >= together*lowest && !s.fellBehind(o) && (o.load-lowest)*o.sums.Client.Seconds() > s.behindFrom(o)
}

// missing is how many requests were due at an overload and not answered.
func missing(o *overload) float64 {
	return o.load*o.sums.Client.Seconds() - o.sums.Client.Answers()
}

// behindFrom is the number of missing answers from which a service falls behind. It allows
// for those that are in flight within the objective's latency, and for two standard
// deviations of a Poisson count.
func (s Stretch) behindFrom(o *overload) float64 {
	due, latency := o.load*o.sums.Client.Seconds(), 0.0
	if s.Goal.HasLatency() {
		latency = s.Goal.Objective.Latency.Seconds()
	}
	return max((1-behind)*due, o.load*latency+2*math.Sqrt(due))
}

func whole(cores float64) bool {
	threads, _ := wholeCores(cores)
	return threads > 0
}

// wholeCores returns how many busy threads use that many cores, 0 if no number of them
// does. Other threads of a runtime add a little.
// The more threads, the more likely the figure comes about by chance, so from three on
// it is certain only if the service falls behind. Two must be busy all the time.
func wholeCores(cores float64) (threads int, certain bool) {
	k := math.Round(cores)
	low, high := k-0.06, k+mostMore
	if k > 2 {
		low, high = k-0.12, k+0.08
	}
	if k < 1 || cores < low || cores > high {
		return 0, false
	}
	return int(k), k == 1 || k == 2 && cores < k+0.06
}

// erlangC is the probability that a request finds all of n servers busy, if each of
// them is busy for a share of the time, 0..1, requests arrive at random and work is
// exponential: Erlang's C formula (Kleinrock, Queueing Systems I, 3.5). It follows from
// the recursion of the B formula.
func erlangC(n int, share float64) float64 {
	if share >= 1 {
		return 1
	}
	load, b := float64(n)*share, 1.0
	for k := 1; k <= n; k++ {
		b = load * b / (float64(k) + load*b)
	}
	return b / (1 - share*(1-b))
}

// unknown returns what is known of a service that is limited by none of the causes that
// figures show. If it falls behind and no thread, or no whole number of threads, is busy, it
// does not wait for a CPU. Share is then how busy the busiest thread is; 0: not known. If it
// keeps up, it may be neither a lock nor a pool.
func (s Stretch) unknown() finding.Finding {
	shown := finding.Finding{Kind: finding.NothingUsedUp, Failed: !s.tooManyFailed().None(), Use: use(&s.Sums.Server), Share: noneBusy(s.Sums)}
	most := s.highest()
	switch {
	case most == nil:
		return shown
	case s.fellBehind(most) && (noneBusy(most.sums) > 0 || !whole(*most.sums.Server.Cores())):
		shown.Kind = finding.FallsBehind
	case s.keptUp(most):
		shown.Kind = finding.KeepsUp
	default:
		return shown
	}
	shown.Load, shown.Other, shown.Use, shown.Share = most.load, *most.sums.Client.Rate(), use(&most.sums.Server), noneBusy(most.sums)
	return shown
}
