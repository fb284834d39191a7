package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// throttled is the finding about a group that was throttled in at least worth of the
// watched periods, with the most likely cause.
func (s service) throttled() []Finding {
	if s.counts == nil || s.counts.Share() < worth || s.bound() {
		return nil
	}
	f := s.finding(Warning, Throttled)
	f.weight = s.counts.Share()
	seen := fmt.Sprintf("throttled in %s of %s periods", display.Share(s.counts.Share()), display.Grouped(s.counts.Periods))
	used, measured := s.used()
	switch {
	case s.minimum():
		f.Rule = ParallelismAboveLimit
		f.Title = fmt.Sprintf("limit of %s with GOMAXPROCS 2, the runtime's minimum: %s", display.CPULimit(s.CPU.CPUs), seen)
	case s.Oversized() && s.can():
		f.Rule = ParallelismAboveLimit
		f.Title = fmt.Sprintf("parallelism %d exceeds the limit of %s: %s", s.Info.Parallelism.Value, display.CPULimit(s.CPU.CPUs), seen)
		if s.counts.Share() >= much && s.average == nil {
			f.Level = Critical
		}
	case measured && used <= low:
		f.Title = fmt.Sprintf("throttled while using %s of its limit on average: bursts (%s)", display.Share(used), periods(s.counts.Throttled, s.counts.Periods))
	case measured && used >= high:
		f.Rule = LimitUsedUp
		f.Title = fmt.Sprintf("limit of %s used up (%s on average): %s", display.CPULimit(s.CPU.CPUs), display.Share(used), seen)
	default:
		f.Title = fmt.Sprintf("limit of %s: %s", display.CPULimit(s.CPU.CPUs), seen)
	}
	if s.average != nil {
		f.Title += fmt.Sprintf(" in the worst %s of %s", seconds(s.counts.Length), span.Text(s.average.Length.Round(time.Second)))
	}
	sleeping, quiet := runtimes.QuietSetting(s.Info)
	const stops = "the kernel stops all threads until the next period, and the requests in work and those that arrive wait"
	switch {
	case s.fewer():
		f.Mechanism = "more threads than the limit has CPUs use the quota up early; then " + stops
		f.Expect = Effect{Saturated: "lower p99, about the same throughput", Ordinary: "little change"}
		if s.Info.Runtime == runtimes.Go && s.cpus() <= s.least() {
			f.Mechanism = "threads for CPUs that the process does not have wait for each other, and switches between them cost CPU time; when the quota is used up, " + stops
		}
		if s.crowd() && (s.Info.Workers > 0 || s.cpus() <= s.least()) {
			f.Expect.Saturated = "lower p99, and somewhat more throughput"
		}
		if s.threads != nil && runtimes.Spins(s.Info) && s.threads.Full > s.fit() {
			f.Mechanism = "its threads spin while they wait for work and for each other; more of them than the limit has CPUs use the quota up early; then " + stops
			f.Expect = Effect{Saturated: "throughput grows, the more the lower the limit is", Ordinary: "fewer stops, lower p99"}
			f.Confidence = High
		}
		text, c := s.change(s.least())
		s.fix(&f, text, c)
	case measured && used >= high:
		f.Mechanism = "the service wants more CPU time than the limit; when the quota is used up, " + stops
		if own, all := s.spent, s.counts.Used; all != nil && 2*own < *all {
			f.Mechanism = fmt.Sprintf("its group wants more CPU time than the limit, of which this process and its workers used %s; when the quota is used up, %s",
				display.Share(own.Seconds()/all.Seconds()), stops)
		}
		f.Expect = Effect{Saturated: "throughput grows with the limit", Ordinary: "fewer stops, lower p99"}
		if s.parallelQueries(&f) {
			break
		}
		if units, _, _ := s.shortLived(); s.spins() || s.helped() || units != "" || s.many() && !s.waits() {
			s.usedUp(&f)
			break
		}
		f.Confidence = High
		text := "raise the limit, add replicas, or reduce the load on each"
		if heap := s.collects(); heap != "" {
			f.Confidence = Medium
			text += ". " + heap
		} else {
			text += ": no setting gives more CPU time than the limit"
		}
		if setting := runtimes.KnobOf(s.Info); s.single() && setting.Env != "" && !s.inCode() {
			text += fmt.Sprintf(". If it has to run at saturation, %s=1 lowers p99 there, and raises it at ordinary load", setting.Env)
		}
		s.fix(&f, text, Change{CPUs: s.higher()}, Change{Replicas: true})
	case quiet:
		f.Mechanism = "its idle threads wait busily for work, which uses up the quota of some periods; then " + stops
		f.Expect = Effect{Saturated: "no change", Ordinary: "less CPU time, fewer stops, lower p99"}
		s.fix(&f, "set "+commandline.Assignments(sleeping), Change{Env: sleeping})
	case measured && used <= low:
		f.Mechanism = "single periods want more than the quota although the average does not; then " + stops
		f.Expect = Effect{Saturated: "no change", Ordinary: "fewer stops, lower p99"}
		text, changes := s.absorb("would")
		s.fix(&f, text, changes...)
	default:
		f.Mechanism = "some periods want more than the quota; then " + stops
		f.Expect = Effect{Saturated: "little change", Ordinary: "fewer stops, lower p99"}
		f.Confidence = Low
		// At 60% of their load six servers were stopped in 7 to 18% of the periods. A burst
		// lowered the p99 of one, and made no difference for the others.
		if s.counts.Share() < much {
			f.Level, f.Expect.Ordinary, f.Fix = Info, "a little lower p99, or no change", s.measured()
			break
		}
		text, changes := s.absorb("may")
		s.fix(&f, text, changes...)
	}
	f.Evidence = append(f.Evidence, s.parallel(), s.limited(), s.counted())
	f.Evidence = append(f.Evidence, s.threaded()...)
	switch over := s.minimum() || s.Oversized() && s.can(); {
	case s.fewer():
		f.Evidence = append(f.Evidence, fmt.Sprintf("about %.1f threads wanted to run at once in throttled periods, and shared a limit of %s",
			s.running(), display.CPULimit(s.CPU.CPUs)))
	case over && s.waits() && !AtLeast(s.reported(), Warning): // which recommends smaller pools
		f.Evidence = append(f.Evidence, "no lower parallelism is recommended, because some of the threads may only wait for I/O, which doctor cannot see")
	}
	return []Finding{f}
}

// wanted estimates the CPU time that was missing in a throttled period: the throttled
// time, summed over the CPUs.
func (s service) wanted() time.Duration {
	return roundUp(s.counts.PerThrottled(), time.Millisecond)
}

// raise is the change to a limit that covers the missing CPU time.
func (s service) raise() string {
	if s.CPU.Period <= 0 {
		return "raise the limit"
	}
	return "raise the limit to " + display.CPULimit(s.higher())
}

// higher is a limit that covers the missing CPU time, rounded up to tenths, and at most
// the host's CPUs: docker rejects more. One that is used up is a quarter higher or more: the estimate
// is of what was stopped, not of what waits in queues. 0: not known.
func (s service) higher() float64 {
	if s.CPU.Period <= 0 {
		return 0
	}
	n := math.Ceil(10*(s.CPU.CPUs+s.wanted().Seconds()/s.CPU.Period.Seconds())-1e-9) / 10
	if used, ok := s.used(); ok && used >= high {
		n = max(n, math.Ceil(12.5*s.CPU.CPUs-1e-9)/10)
	}
	if host := float64(s.online); host > s.CPU.CPUs {
		n = min(n, host)
	}
	return n
}

// absorb is the change that absorbs bursts: a CPU burst, which carries unused quota
// over to later periods, at most one quota; or a higher limit. would is the verb
// that expresses how certain the effect is.
func (s service) absorb(would string) (string, []Change) {
	quota := time.Duration(s.CPU.CPUs * float64(s.CPU.Period))
	raise, burst := s.raise(), min(s.wanted(), quota)
	effect := " " + would + " absorb them"
	if s.wanted() > quota {
		effect = " (the kernel's maximum) " + would + " absorb a part"
	}
	switch {
	case !s.refills():
		return raise + ": too little of the quota is left over between the stops for a burst", []Change{{CPUs: s.higher()}}
	case !s.CPU.CanBurst:
		return raise + ": this kernel has no CPU burst", []Change{{CPUs: s.higher()}}
	case s.CPU.Burst >= burst:
		return fmt.Sprintf("%s: the burst of %s that is set does not absorb them", raise, millis(s.CPU.Burst)), []Change{{CPUs: s.higher()}}
	}
	return fmt.Sprintf("a burst of %s%s: echo %d > %s; or %s", millis(burst), effect, burst.Microseconds(), BurstFile(&s.Process), raise),
		[]Change{{Burst: burst}, {CPUs: s.higher()}}
}

// refills reports whether the periods that are not throttled leave over as much of the quota
// as is missing in the others: a burst gives back no more. memcached that was throttled in 90%
// of its periods while it used 80% of its limit has nothing to save.
func (s service) refills() bool {
	used, ok := s.used()
	left := (1 - used) * s.CPU.CPUs * float64(s.CPU.Period) * float64(s.counts.Periods)
	return !ok || float64(s.counts.Stopped) <= left
}

func roundUp(d, unit time.Duration) time.Duration {
	return (d + unit - 1) / unit * unit
}

// parallel describes the parallelism and its source.
func (s service) parallel() string {
	p := s.Info.Parallelism
	if p.Value == 0 {
		return fmt.Sprintf("%s: parallelism not known", s.Info)
	}
	text := fmt.Sprintf("%s: parallelism %d, %s", s.Info, p.Value, p.Source)
	if p.From != "" {
		text += " (" + p.From + ")"
	}
	if pool := s.Info.Pool; pool != nil && pool.Value > ceil(s.CPU.CPUs) && pool.Source == runtimes.Declared {
		text += fmt.Sprintf(", and a pool of %d threads in addition (%s)", pool.Value, pool.From)
	}
	switch {
	case s.ownChoice() && s.chosen() > 0:
		text += fmt.Sprintf("; GOMAXPROCS=%d is set in its environment, but the program sets its own value", s.chosen())
	case s.ownChoice():
		text += fmt.Sprintf("; the runtime's default is %d here: the program sets its own value, or the CPUs changed after it started", s.Ruled)
	case p.Source != runtimes.Read || s.Ruled != p.Value || s.Why == "":
	case s.unseen():
		text += "; its own group sets no limit, so it uses all CPUs"
	default:
		text += "; " + s.Why
	}
	return text
}

// unseen reports whether the runtime reads the limit of its own group only, and this
// one is set by a parent.
func (s service) unseen() bool {
	return s.CPU.Inherited() && s.CPU.Own == 0 && runtimes.LeafOnly(s.Info)
}
