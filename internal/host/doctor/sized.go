package doctor

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// oversized is the finding about a process that can use up its quota before the
// period ends, but did not in the watch: the watch was too short, or its threads do
// not all run at the same time.
func (s service) oversized(throttled []Finding) []Finding {
	if !s.Oversized() || !s.can() || about(throttled, s.PID) {
		return nil
	}
	if s.minimum() {
		f := s.finding(Info, ParallelismAboveLimit)
		f.Title = fmt.Sprintf("limit of %s with GOMAXPROCS 2, the runtime's minimum", display.CPULimit(s.CPU.CPUs))
		f.Evidence = append([]string{s.parallel(), s.limited(), s.tooFew()}, s.threaded()...)
		if f.Fix = s.measured(); f.Fix != nil {
			f.Title += ": measure with `millicore try`"
		}
		return []Finding{f}
	}
	f := s.finding(Info, ParallelismAboveLimit)
	f.weight = float64(s.stall()) / float64(s.CPU.Period)
	f.Title = fmt.Sprintf("parallelism %d exceeds the limit of %s", s.Info.Parallelism.Value, display.CPULimit(s.CPU.CPUs))
	switch {
	case s.counts != nil && s.counts.Share() >= worth: // the finding about the group is about another process
	case s.counts != nil:
		f.Title += ": rarely throttled during the watch"
	case 2*s.stall() >= s.CPU.Period:
		f.Title += fmt.Sprintf(": under load it can be throttled for %s of each %s", millis(s.stall()), millis(s.CPU.Period))
	}
	f.Evidence = append([]string{s.parallel(), s.limited(), s.arithmetic(), s.tooFew()}, s.threaded()...)
	f.Fix = s.measured()
	return []Finding{f}
}

// arithmetic describes how fast all threads together would use up the quota.
func (s service) arithmetic() string {
	stall := s.stall()
	return fmt.Sprintf("if %d of its threads run at once, they use up the quota in %s and are then throttled for %s of each %s",
		s.cpus(), millis(s.CPU.Period-stall), millis(stall), millis(s.CPU.Period))
}

// about reports whether one of the findings is about a process.
func about(all []Finding, pid int) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.PID == pid })
}

// tooFew describes the throttling where it is not a finding of its own.
func (s service) tooFew() string {
	switch {
	case s.Throttling == nil:
		return "its throttling could not be read"
	case s.counts == nil:
		return fmt.Sprintf("%s; a watch of at least %d periods is needed", s.counted(), fewest)
	}
	return s.counted()
}

// unaware is the finding about a Go program that ignores its limit and has a higher
// GOMAXPROCS. It is of level Info if the threads do not compete for the quota, or if
// reading the limit would give the same number here: on a host with more CPUs, or
// under more load, that changes.
func (s service) unaware() []Finding {
	if s.Info.Runtime != runtimes.Go || s.Info.Go == nil || s.chosen() > 0 || !s.Oversized() || s.aware() {
		return nil
	}
	f := s.finding(Info, IgnoresLimit)
	var change string
	switch {
	case runtimes.GoAtLeast(s.Info.Version, "go1.25") && s.Info.Go.Aware:
		f.Title = fmt.Sprintf("built with %s, but GODEBUG has containermaxprocs=0: not container-aware", s.Info)
		change = "remove containermaxprocs=0 from GODEBUG"
	case runtimes.GoAtLeast(s.Info.Version, "go1.25") && runtimes.GoLine(s.Info.Go.DefaultGODEBUG) == "":
		f.Title = fmt.Sprintf("binary built with %s with containermaxprocs=0 in its DefaultGODEBUG: not container-aware", s.Info)
		change = "remove containermaxprocs=0 from the godebug lines of go.mod and rebuild, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"
	case runtimes.GoAtLeast(s.Info.Version, "go1.25"):
		f.Title = fmt.Sprintf("binary built with %s, but its go.mod says %s: not container-aware (DefaultGODEBUG containermaxprocs=0)",
			s.Info, runtimes.GoLine(s.Info.Go.DefaultGODEBUG))
		change = "set `go 1.25` or later in go.mod and rebuild, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"
	default:
		f.Title = fmt.Sprintf("%s ignores CPU limits", s.Info)
		change = "build it with Go 1.25 or later and `go 1.25` in go.mod, or import " + library + ", or set GOMAXPROCS"
	}
	if s.CPU.Inherited() && s.CPU.Own == 0 { // a newer Go would not find this limit either
		text, _ := s.change(s.least())
		change = fmt.Sprintf("import %s, which also reads the limits of parent groups (Go's runtime reads only its own group); or %s", library, text)
	}
	f.Evidence, f.Fix = []string{s.parallel(), s.limited()}, s.measured()
	if s.fewer() && !s.inCode() { // else the change is the call, in the finding about the throttling
		f.Level, f.Confidence = Warning, Medium
		_, c := s.change(s.least())
		s.crowded(&f, change, c)
	}
	return []Finding{f}
}

// crowded completes a finding whose change lets fewer threads share the limit.
func (s service) crowded(f *Finding, text string, c Change) {
	f.Mechanism = "the runtime starts threads for CPUs that the limit does not have; together they use the quota up early"
	f.Expect = Effect{Saturated: "lower p99, about the same throughput", Ordinary: "little change"}
	s.fix(f, text, c)
}

// library is the package that sets GOMAXPROCS by the limit of any group, parents
// included.
const library = "github.com/millicore/millicore/maxprocs/auto"

// inherited is the finding about a limit that a parent group sets. Some runtimes
// read only the process's own group and ignore it.
func (s service) inherited() []Finding {
	if !s.CPU.Inherited() || !s.Oversized() {
		return nil
	}
	f := s.finding(Info, LimitOfParent)
	f.Title = fmt.Sprintf("limit of %s comes from the parent group %s", display.CPULimit(s.CPU.CPUs), s.CPU.SetBy)
	own := "its own group sets none"
	if s.CPU.Own > 0 {
		own = fmt.Sprintf("its own group sets %s", display.CPULimit(s.CPU.Own))
	}
	f.Evidence = []string{s.limited(), own}
	if runtimes.LeafOnly(s.Info) {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s reads only its own group and does not see this limit", s.Info))
	}
	f.Fix = s.measured()
	if s.fewer() {
		f.Level, f.Confidence = Warning, Medium
		text, c := s.change(s.least())
		if !runtimes.LeafOnly(s.Info) {
			text = "set the limit on the service's own group; or " + text
		}
		s.crowded(&f, text, c)
	}
	return []Finding{f}
}

// reported is the finding about libraries that size their pools by a CPU count that
// ignores the limit. It requires that the process has more threads than that count.
func (s service) reported() []Finding {
	if s.CPU.State != inspect.Limited {
		return nil
	}
	limit := runtimes.Limit{CPUs: s.CPU.CPUs, Leaf: s.CPU.Own}
	n, call, why, ok := runtimes.Reported(s.Info, limit, runtimes.Machine{Online: s.online, Affinity: s.Info.Affinity})
	if !ok || n <= 2*ceil(s.CPU.CPUs) || s.Info.Threads <= n {
		return nil
	}
	f := s.finding(Info, PoolsAboveLimit)
	f.Title = fmt.Sprintf("%s reports %d CPUs under a limit of %s; the process has %d threads", call, n, display.CPULimit(s.CPU.CPUs), s.Info.Threads)
	f.Evidence = []string{why, s.limited()}
	if s.compete() {
		f.Level, f.Confidence = Warning, Medium
		f.Mechanism = "a pool for CPUs that the limit does not have uses the quota up early"
		f.Expect = Effect{Saturated: "lower p99, about the same throughput", Ordinary: "little change"}
		s.fix(&f, "size thread pools by the limit, with the options of its libraries or with variables such as OMP_NUM_THREADS")
	}
	return []Finding{f}
}
