package doctor

import (
	"cmp"
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/mathlib"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// spins reports whether threads may use CPU time only to wait for work: the counters show
// that a thread ran, not what for. It is excluded for runtimes whose idle threads sleep. It
// is not for the threads of a program that doctor does not know, nor for the schedulers of
// Erlang, which wait busily. Redis with four I/O threads under 0.1 CPUs had 130 times the
// rate with one.
func (s service) spins() bool {
	switch s.Info.Runtime {
	case runtimes.Unknown, runtimes.Erlang, "":
		return true
	case runtimes.Rust:
		return !s.Info.Tokio && !s.Info.Actix && !s.Info.Rayon
	}
	return runtimes.Spins(s.Info)
}

// helped reports whether a runtime with one thread of code for each process has more busy
// threads: they may be of a library such as OpenBLAS or ONNX Runtime, whose threads spin too.
func (s service) helped() bool {
	switch s.Info.Runtime {
	case runtimes.Python, runtimes.Ruby, runtimes.Node, runtimes.Bun, runtimes.Deno:
		return s.library() || s.threads == nil || s.threads.Busy > s.Info.Parallelism.Value || s.Info.Parallelism.Value > 1 && s.Info.Workers == 0 ||
			s.Info.Server == "" && s.threads.Wanted() > 2*float64(s.fit())
	}
	return false
}

// library reports whether the threads of a program, which is no server with threads of its
// own, may be those of a library that computes: one is loaded, and they wanted more CPUs than the
// limit has, or hand over to each other. Under a low limit none of many runs enough to count as
// busy. Eight threads of LightGBM under 0.35 CPUs ran for 4% of the time each, and one did 7
// times the work. A program that listens may have a thread for each connection, which look the
// same, so the number of its threads must be the library's.
func (s service) library() bool {
	if s.threads == nil || s.Info.Server != "" || s.Info.Math == "" {
		return false
	}
	return s.threads.Wanted() > 2*float64(s.fit()) && (s.follows() || !s.listens()) || s.handOver()
}

// listens reports whether the process is known to listen on a port.
func (s service) listens() bool { return s.Listens != nil && *s.Listens }

// handOver reports whether the threads of a library run so briefly each time that switching
// between them, of some microseconds, is a large part of the CPU time, and wanted more CPUs than
// they may use. Eight threads of OpenMP under 1.4 CPUs ran for 11 µs each time, and 2 did twice
// the work. The threads of a server behind Python's lock ran for 8 µs: its port and their number
// distinguish them.
func (s service) handOver() bool {
	const brief = 20 * time.Microsecond
	if !s.locked() || s.threads == nil || s.Info.Math == "" || s.listens() || s.Info.Threads > s.declared()+ownThreads {
		return false
	}
	return s.threads.Turn() < brief && s.threads.Wanted() > max(1, s.CPU.CPUs)
}

// declared is the number of threads of the library by its variable, else by the CPUs; 0: not known.
func (s service) declared() int {
	return cmp.Or(mathlib.Declared(s.Info.Math, s.Info.Env), s.machine())
}

// ownThreads are the threads of an interpreter and its program, beside the library's.
const ownThreads = 4

// follows reports whether the number of threads of that library is most likely the one of its
// variable, or of the CPUs where none is set: the process has as many and, without a variable,
// few more. Other threads are its program's, and a number that its code sets differs, as the
// 8 of LightGBM on 2 CPUs.
func (s service) follows() bool {
	if mathlib.Declared(s.Info.Math, s.Info.Env) > 0 {
		return true // Setting has compared it
	}
	n, cpus := s.Info.Threads, s.machine()
	return cpus > 0 && n >= cpus && n <= cpus+ownThreads
}

// workers counts the worker processes of a program that doctor does not know: children of the
// process, or of its parent, that have its name and its group and wanted a CPU all the time. One
// that waits for requests in between is not counted. Of nginx, which doctor knows, 2 workers did
// a fifth more work than 64 under 0.8 of 2 CPUs.
func (s service) workers() (n int) {
	if s.Info.Runtime != runtimes.Unknown {
		return 0
	}
	for _, p := range s.others {
		if p.Name == s.Name && p.CPU.Dir == s.CPU.Dir && (p.Parent == s.PID || p.Parent == s.Parent) && p.Threads != nil && p.Threads.Full > 0 {
			n++
		}
	}
	return n
}

// usedUp completes the finding about a limit that is used up by threads that may spin, or by
// some that no longer exist. The kernel does not distinguish threads that compute from those
// that spin. If more than the limit has CPUs always wanted one, fewer may do the same work,
// and a higher limit may change nothing. Threads that wait for an interpreter's lock always
// want a CPU too under a low limit: each waits out the throttled time.
func (s service) usedUp(f *Finding) {
	units, _, _ := s.shortLived()
	always := s.always()
	if units == "" && (always || s.locked() && s.library() || s.teams()) {
		f.Expect = Effect{Saturated: "throughput grows if fewer threads spin", Ordinary: "fewer stops, lower p99"}
		s.fewerOfALibrary(f, ". Else raise the limit, add replicas, or reduce the load on each")
		return
	}
	f.Confidence = Medium
	text := "raise the limit, add replicas, or reduce the load on each"
	switch n := s.workers(); {
	case units != "":
		text += ". If their number can be set, measure with fewer " + units + " at once too"
	case s.unread():
		f.Confidence = Low
		text += ". Its program could not be read: run doctor as root"
	case s.Info.Workers > s.fit():
		text += fmt.Sprintf(". Measure with fewer worker processes too: %d share the limit", s.Info.Workers)
	case s.helped():
		text += ". If its busy threads are of a library, measure with fewer of them too"
	case n > s.fit():
		text += fmt.Sprintf(". If the number of its worker processes can be set, measure with fewer too: %d of one name and parent wanted a CPU all the time", n)
	case s.many():
		less, _ := s.change(s.least())
		text += ". Measure whether less parallelism serves more: " + less
	}
	s.fix(f, text, Change{CPUs: s.higher()}, Change{Replicas: true})
}

// always reports whether more threads than the limit has CPUs always wanted one, and may spin.
func (s service) always() bool {
	return s.threads != nil && (s.spins() && !s.unread() && s.threads.Full > s.fit() || s.locked() && s.Info.Workers == 0 && s.threads.Held > s.fit())
}

// unread reports whether a program is not known because parts of the process could not be read.
func (s service) unread() bool { return s.Info.Runtime == runtimes.Unknown && len(s.Unseen) > 0 }

// teams reports whether a program that doctor does not know runs as many threads of a library as
// its variable sets, and more than the limit has CPUs: they wait for each other at barriers. Eight
// threads of OpenMP in a program in C did a sixth of the work of one under 0.5 CPUs, and none of
// them wanted a CPU all the time.
func (s service) teams() bool {
	n := mathlib.Declared(s.Info.Math, s.Info.Env)
	return s.Info.Runtime == runtimes.Unknown && s.threads != nil && n > s.fit() && s.threads.Busy >= n
}

// fewerOfALibrary completes a finding about threads that may spin or hand over to each other:
// the variable of their library, if it is known and most likely counts, else an experiment, and
// what to do if that changes nothing.
func (s service) fewerOfALibrary(f *Finding, otherwise string) {
	f.Confidence = Low
	always := s.always()
	why := fmt.Sprintf("%d threads wanted a CPU all the time, and threads that spin while they wait for work use up the quota", s.threads.Full)
	switch {
	case always:
	case s.handOver():
		why = fmt.Sprintf("%s is loaded, and its threads wanted %.1f CPUs at once and ran for %s each time, so much of the CPU time goes into switches between them",
			s.Info.Math, s.threads.Wanted(), display.Microseconds(float64(s.threads.Turn())/1e3))
	default:
		why = fmt.Sprintf("%s is loaded, and the threads wanted %.1f CPUs at once; those that wait for each other use up the quota", s.Info.Math, s.threads.Wanted())
	}
	if env, ok := mathlib.Setting(s.Info.Math, s.Info.Env, s.fit(), s.Info.Threads, s.machine()); ok && s.follows() {
		f.Confidence = Medium
		text := "set " + commandline.Assignments(env) + ": "
		if always {
			why = fmt.Sprintf("%s is loaded, whose threads spin while they wait for each other, and %d threads wanted a CPU all the time", s.Info.Math, s.threads.Full)
		} else {
			text = "try " + commandline.Assignments(env) + ", unless the program's code sets the number of these threads: "
		}
		s.fix(f, text+why, Change{Env: env, Value: s.fit()})
		return
	}
	setting := fmt.Sprintf("measure with fewer threads first, such as %d, if their number can be set", s.fit())
	switch {
	case s.Info.Math != "" && s.locked() && s.follows():
		setting = fmt.Sprintf("measure with %s of its libraries first (%s)", count(int64(s.fit()), "thread", "threads"), mathlib.Hint(s.Info.Math, s.Info.Env))
	case s.Info.Math != "" && s.locked():
		setting = fmt.Sprintf("measure with %s of its libraries first (in its code, or %s)", count(int64(s.fit()), "thread", "threads"), mathlib.Hint(s.Info.Math, s.Info.Env))
	}
	s.fix(f, setting+": "+why+otherwise)
}

// handsOver is the finding about threads of an interpreter's process that hand over to each other,
// where the limit is not used up.
func (s service) handsOver(found []Finding) []Finding {
	used, ok := s.used()
	if !ok || used < low || found != nil || s.Info.Server != "" || !s.handOver() {
		return nil
	}
	f := s.finding(Warning, PoolsAboveLimit)
	f.weight = s.threads.Wanted() / s.CPU.CPUs
	f.Title = fmt.Sprintf("its threads wanted %.1f CPUs at once under a limit of %s, and hand over to each other after %s",
		s.threads.Wanted(), display.CPULimit(s.CPU.CPUs), display.Microseconds(float64(s.threads.Turn())/1e3))
	f.Evidence = append([]string{s.parallel(), s.limited(), s.counted()}, s.threaded()...)
	f.Mechanism = "a switch from one thread to another takes microseconds, as long as these threads run; the CPU time goes into waiting for each other"
	f.Expect = Effect{Saturated: "throughput grows with fewer threads", Ordinary: "lower p99"}
	s.fewerOfALibrary(&f, ". No higher limit is needed for that")
	return []Finding{f}
}
