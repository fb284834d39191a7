package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/runtimes"
)

// throttled is the finding about a group that was throttled in a good part of the
// periods that were seen, by its likeliest cause.
func (s service) throttled() []Finding {
	if s.counts == nil || s.counts.Share() < worth {
		return nil
	}
	f := s.finding(Warning)
	f.weight = s.counts.Share()
	seen := fmt.Sprintf("throttled in %s of %s periods", percent(s.counts.Share()), grouped(s.counts.Periods))
	used, exact, measured := s.usedAtMost()
	atMost := ""
	if !exact {
		atMost = "at most "
	}
	switch {
	case s.minimum():
		f.Title = fmt.Sprintf("limit of %s with GOMAXPROCS 2, the runtime's minimum: %s", cpus(s.CPU.CPUs), seen)
		f.Fix = s.verify("try GOMAXPROCS=1")
	case s.Oversized() && s.can():
		f.Title = fmt.Sprintf("parallelism %d over a limit of %s: %s", s.Info.Parallelism.Value, cpus(s.CPU.CPUs), seen)
		if s.counts.Share() >= much {
			f.Level = Critical
		}
		f.Fix = s.verify(s.change(floor(s.CPU.CPUs)))
	case measured && used <= low && !s.busyNow():
		f.Title = fmt.Sprintf("throttled while using %s%s of its limit on average: bursts (%s)", atMost, percent(used), periods(s.counts.Throttled, s.counts.Periods))
		f.Fix = s.verify(s.absorb("would"))
	case measured && exact && used >= high:
		f.Title = fmt.Sprintf("limit of %s used up (%s on average): %s", cpus(s.CPU.CPUs), percent(used), seen)
		f.Fix = s.verify("raise the limit, add replicas, or give each less load: no setting gives more CPU time than the limit")
	case measured && exact:
		f.Title = fmt.Sprintf("limit of %s: %s", cpus(s.CPU.CPUs), seen)
		f.Fix = s.verify(s.absorb("may"))
	default: // bursts or a limit that is used up: only a watch tells
		f.Title = fmt.Sprintf("limit of %s: %s", cpus(s.CPU.CPUs), seen)
		f.Fix = s.verify(s.raise() + "; or watch it under load with --for 30s, which tells bursts, that saved-up quota absorbs, from a limit that is used up")
	}
	f.Evidence = append(f.Evidence, s.parallel(), s.limited(), s.counted())
	if s.Oversized() && s.can() {
		f.Evidence = append(f.Evidence, s.arithmetic())
	}
	return []Finding{f}
}

// arithmetic is what all threads at once do to a quota.
func (s service) arithmetic() string {
	stall := s.stall()
	return fmt.Sprintf("%d threads at once use up a period's quota in %s and then stand still for %s of each %s",
		s.cpus(), millis(s.CPU.Period-stall), millis(stall), millis(s.CPU.Period))
}

// wanted is about what was wanted and not given in a throttled period: the time
// stopped, summed over the CPUs.
func (s service) wanted() time.Duration {
	return roundUp(s.counts.PerThrottled(), time.Millisecond)
}

// raise is the limit that gives what was wanted.
func (s service) raise() string {
	if s.CPU.Period <= 0 {
		return "raise the limit"
	}
	return "raise the limit to " + cpus(math.Ceil(10*(s.CPU.CPUs+s.wanted().Seconds()/s.CPU.Period.Seconds()))/10)
}

// absorb is the change that takes in bursts: CPU time saved up in periods that do
// not need theirs, at most a quota. would says how sure that is.
func (s service) absorb(would string) string {
	quota := time.Duration(s.CPU.CPUs * float64(s.CPU.Period))
	raise, burst := s.raise(), min(s.wanted(), quota)
	effect := " " + would + " absorb them"
	if s.wanted() > quota {
		effect = ", the most that the kernel saves up, " + would + " absorb a part"
	}
	switch {
	case !s.CPU.CanBurst:
		return raise + ": this kernel cannot save up unused quota"
	case s.CPU.Burst >= burst:
		return fmt.Sprintf("%s: the burst of %s that is set does not absorb them", raise, millis(s.CPU.Burst))
	}
	file := "cpu.max.burst"
	if s.CPU.Version == 1 {
		file = "cpu.cfs_burst_us"
	}
	return fmt.Sprintf("a burst of %s%s: echo %d > %s/%s; or %s", millis(burst), effect, burst.Microseconds(), s.CPU.Dir, file, raise)
}

func roundUp(d, unit time.Duration) time.Duration {
	return (d + unit - 1) / unit * unit
}

// parallel says how many things run at once, and how that is known.
func (s service) parallel() string {
	p := s.Info.Parallelism
	if p.Value == 0 {
		return fmt.Sprintf("%s: how much it runs at once is not known", s.Info)
	}
	text := fmt.Sprintf("%s: parallelism %d, %s", s.Info, p.Value, p.Source)
	if p.From != "" {
		text += " (" + p.From + ")"
	}
	if pool := s.Info.Pool; pool != nil && pool.Value > ceil(s.CPU.CPUs) && pool.Source == runtimes.Declared {
		text += fmt.Sprintf(", and a pool of %d threads beside it (%s)", pool.Value, pool.From)
	}
	switch {
	case s.ownChoice() && s.chosen() > 0:
		text += fmt.Sprintf("; GOMAXPROCS=%d is set in its environment, but the program sets its own", s.chosen())
	case s.ownChoice():
		text += fmt.Sprintf("; by its rule it would be %d: the program sets its own, or its CPUs were others when it started", s.Ruled)
	case p.Source != runtimes.Read || s.Ruled != p.Value || s.Why == "":
	case s.unseen():
		text += "; its own group sets no limit: all CPUs"
	default:
		text += "; " + s.Why
	}
	return text
}

// unseen reports whether the runtime looks at limits, but this one is set above
// its own group, which is all that it reads.
func (s service) unseen() bool { return s.CPU.Inherited() && s.CPU.Own == 0 && leafOnly(s.Info) }
