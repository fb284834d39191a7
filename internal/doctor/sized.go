package doctor

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/inspect"
	"github.com/millicore/millicore/internal/runtimes"
)

// oversized is the finding about a process that can use up its quota early and
// was not seen to: too little was seen, or it does not run all at once.
func (s service) oversized(throttled []Finding) []Finding {
	if !s.Oversized() || !s.can() || about(throttled, s.PID) {
		return nil
	}
	if s.minimum() {
		f := s.finding(Info)
		f.Title = fmt.Sprintf("limit of %s with GOMAXPROCS 2, the runtime's minimum: measure with `millicore try`", cpus(s.CPU.CPUs))
		f.Evidence = []string{s.parallel(), s.limited(), s.tooFew()}
		f.Fix = s.verify("try GOMAXPROCS=1")
		return []Finding{f}
	}
	f := s.finding(Info)
	f.weight = float64(s.stall()) / float64(s.CPU.Period)
	f.Title = fmt.Sprintf("parallelism %d over a limit of %s", s.Info.Parallelism.Value, cpus(s.CPU.CPUs))
	switch {
	case s.counts != nil:
		f.Title += ": hardly throttled so far"
	case 2*s.stall() >= s.CPU.Period:
		f.Title += fmt.Sprintf(": under load it can stand still for %s of each %s", millis(s.stall()), millis(s.CPU.Period))
	}
	f.Evidence = []string{s.parallel(), s.limited(), s.arithmetic(), s.tooFew()}
	f.Fix = s.verify(s.change(floor(s.CPU.CPUs)))
	return []Finding{f}
}

// about reports whether one of the findings is about a process.
func about(all []Finding, pid int) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.PID == pid })
}

// tooFew says what was seen of throttling where that is no finding of its own.
func (s service) tooFew() string {
	switch {
	case s.Throttling == nil:
		return "whether it was throttled could not be read"
	case s.counts == nil:
		return fmt.Sprintf("%s: at least %d must be seen to tell", s.counted(), fewest)
	}
	return s.counted()
}

// unaware is the finding about a Go program that does not see its limit, and runs
// with more than it. Where seeing the limit would give the same number here, it
// is still worth knowing: on a host with more CPUs it would not.
func (s service) unaware() []Finding {
	if s.Info.Runtime != runtimes.Go || s.Info.Go == nil || s.chosen() > 0 || !s.Oversized() || s.aware() {
		return nil
	}
	f := s.finding(Warning)
	if s.Info.Parallelism.Value <= max(2, ceil(s.CPU.CPUs)) {
		f.Level = Info
	}
	var change string
	switch {
	case modern(s.Info.Version) && s.Info.Go.Aware:
		f.Title = fmt.Sprintf("built by %s, but GODEBUG has containermaxprocs=0: not container-aware", s.Info)
		change = "take containermaxprocs=0 out of GODEBUG"
	case modern(s.Info.Version) && goLine(s.Info.Go.DefaultGODEBUG) == "":
		f.Title = fmt.Sprintf("binary built by %s with containermaxprocs=0 in its DefaultGODEBUG: not container-aware", s.Info)
		change = "take containermaxprocs=0 out of the godebug lines of go.mod and build again, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"
	case modern(s.Info.Version):
		f.Title = fmt.Sprintf("binary built by %s, but its go.mod says %s: not container-aware (DefaultGODEBUG containermaxprocs=0)",
			s.Info, goLine(s.Info.Go.DefaultGODEBUG))
		change = "write `go 1.25` or later into go.mod and build again, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"
	default:
		f.Title = fmt.Sprintf("%s does not look at CPU limits", s.Info)
		change = "build it with Go 1.25 or later and `go 1.25` in go.mod, or import " + library + ", or set GOMAXPROCS"
	}
	if s.CPU.Inherited() && s.CPU.Own == 0 { // a newer Go would look for it in vain
		change = fmt.Sprintf("import %s, which sees limits above the own group, as Go's own runtime does not; or %s",
			library, s.change(floor(s.CPU.CPUs)))
	}
	if s.ownChoice() {
		change += s.where(floor(s.CPU.CPUs))
	}
	f.Evidence, f.Fix = []string{s.parallel(), s.limited()}, s.verify(change)
	return []Finding{f}
}

// library is what sets GOMAXPROCS by the limit, wherever that comes from.
const library = "github.com/millicore/millicore/maxprocs/auto"

// inherited is the finding about a limit that does not come from the process's
// own group. Runtimes that read their own alone do not see it.
func (s service) inherited() []Finding {
	if !s.CPU.Inherited() || s.Info.Parallelism.Value == 0 {
		return nil
	}
	f := s.finding(Info)
	f.Title = fmt.Sprintf("limit of %s comes from the parent group %s", cpus(s.CPU.CPUs), s.CPU.SetBy)
	own := "its own group sets none"
	if s.CPU.Own > 0 {
		own = fmt.Sprintf("its own group sets %s", cpus(s.CPU.Own))
	}
	f.Evidence = []string{s.limited(), own}
	if leafOnly(s.Info) && s.Oversized() && s.can() {
		f.Level = Warning
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s reads its own group alone, and does not see it", s.Info))
		f.Fix = s.verify(s.change(floor(s.CPU.CPUs)))
		return []Finding{f}
	}
	if !s.Oversized() {
		return nil
	}
	f.Fix = s.verify("set the limit on the service's own group; or " + s.change(floor(s.CPU.CPUs)))
	return []Finding{f}
}

// leafOnly are the runtimes that look at limits, but not above their own group.
func leafOnly(info runtimes.Info) bool {
	switch info.Runtime {
	case runtimes.Go:
		return info.Go != nil && (info.Go.Aware || info.Go.Automaxprocs != "")
	case runtimes.DotNet:
		return true
	}
	return false
}

// idleLimit is the finding about a process that uses all of its parallelism, and
// cannot reach its limit.
func (s service) idleLimit() []Finding {
	p := s.Info.Parallelism.Value
	if s.CPU.State != inspect.Limited || p == 0 || s.Throttling == nil || s.Throttling.Watch == nil || float64(p) > s.CPU.CPUs/1.5 {
		return nil
	}
	length := s.Throttling.Watch.Length
	if length <= 0 || s.Info.Workers > 0 || s.Used.Seconds() < busy*float64(p)*length.Seconds() {
		return nil
	}
	f := s.finding(Warning)
	f.weight = s.CPU.CPUs / float64(p)
	f.Title = fmt.Sprintf("parallelism %d under a limit of %s: it uses %s CPUs and cannot use more",
		p, cpus(s.CPU.CPUs), fmt.Sprintf("%.2f", s.Used.Seconds()/length.Seconds()))
	f.Evidence = []string{s.parallel(), s.limited(), s.counted()}
	f.Fix = s.verify(s.change(floor(s.CPU.CPUs)))
	return []Finding{f}
}

// told is the finding about libraries that size their pools by a number of CPUs
// that is not the limit's: the process has threads for all of them.
func (s service) told() []Finding {
	if s.CPU.State != inspect.Limited {
		return nil
	}
	limit := runtimes.Limit{CPUs: s.CPU.CPUs, Leaf: s.CPU.Own}
	n, call, why, ok := runtimes.Told(s.Info, limit, runtimes.Machine{Online: s.online, Affinity: s.Info.Affinity})
	if !ok || n <= 2*ceil(s.CPU.CPUs) || s.Info.Threads <= n {
		return nil
	}
	f := s.finding(Info)
	f.Title = fmt.Sprintf("%s answers %d under a limit of %s, and the process has %d threads", call, n, cpus(s.CPU.CPUs), s.Info.Threads)
	f.Evidence = []string{why, s.limited()}
	f.Fix = s.verify("size pools by the limit: the options of its libraries, or OMP_NUM_THREADS and its like")
	return []Finding{f}
}
