package inspect

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/runtimes"
)

// program is what a runtime is told by: processes that are alike in it are of
// the same runtime, with the same settings. So of a thousand replicas one
// executable is read once.
type program struct {
	file    identity
	exe     string
	command string
	env     string // the variables that say something of the runtime
}

// identity is a file's, across containers: the same file of an image has another
// device in each.
type identity struct {
	inode uint64
	size  int64
	mtime int64 // nanoseconds
}

// detect tells a process's runtime. A process that has children of its own
// program may have workers, and is looked at each time.
func (s *Scanner) detect(f found, command []string, hasWorkers bool) (runtimes.Info, error) {
	key, ok := s.program(f.pid, command)
	info, known := s.known[key]
	if ok && known && !hasWorkers {
		info = s.replica(f, info)
	} else {
		var err error
		if info, err = s.runtimes.Detect(f.pid); err != nil {
			return runtimes.Info{}, err
		}
		if ok && info.Runtime == runtimes.Go { // read below, for replicas too
			info.Notes = slices.DeleteFunc(info.Notes, func(note string) bool { return strings.Contains(note, "GOMAXPROCS") })
		}
		if ok && !hasWorkers && !(info.Runtime == runtimes.Unknown && s.young(f.stat)) {
			s.known[key] = s.replica(f, info)
		}
	}
	if ok && info.Runtime == runtimes.Go {
		s.goParallelism(f.pid, key, &info)
	}
	return info, nil
}

// settling is how long a program may take from its start until the libraries are
// loaded that tell its runtime: a JVM's and .NET's.
const settling = 10 * time.Second

// young reports whether a process was started so lately that its runtime may not
// be told yet.
func (s *Scanner) young(st stat) bool {
	started := time.Duration(st.started) * tick
	return s.uptime > 0 && s.uptime < started+settling
}

// replica is what is known of a program, of another process that runs it. What
// is each process's own is read anew.
func (s *Scanner) replica(f found, info runtimes.Info) runtimes.Info {
	info.PID, info.Threads = f.pid, f.stat.threads
	info.Env, info.Notes = maps.Clone(info.Env), slices.Clone(info.Notes)
	if cpus, ok := s.cgroups.Affinity(f.pid).Get(); ok {
		info.Affinity = cpus
	}
	return info
}

// program tells what a process runs; ok is false where it may not be seen.
func (s *Scanner) program(pid int, command []string) (program, bool) {
	link := s.path(pid, "exe")
	exe, err := os.Readlink(link)
	if err != nil {
		return program{}, false
	}
	file, err := os.Stat(link)
	if err != nil {
		return program{}, false
	}
	environ, err := s.read(pid, "environ")
	if err != nil {
		return program{}, false
	}
	id, ok := identityOf(file)
	return program{file: id, exe: exe, command: strings.Join(command, "\x00"), env: telling(environ)}, ok
}

// telling are the variables of an environment that package runtimes decides by:
// its knobs, the versions that images state, and the mark of a cluster's worker.
func telling(environ []byte) string {
	var kept []string
	for line := range strings.SplitSeq(string(environ), "\x00") {
		name, _, ok := strings.Cut(line, "=")
		if ok && (runtimes.IsEnvKnob(name) || strings.HasSuffix(name, "_VERSION") || name == "NODE_UNIQUE_ID" || name == "PORT") {
			kept = append(kept, line)
		}
	}
	slices.Sort(kept)
	return strings.Join(kept, "\x00")
}

// children are the pids of processes by their parent's.
func children(all []found) map[int][]int {
	of := make(map[int][]int, len(all))
	for _, f := range all {
		of[f.stat.parent] = append(of[f.stat.parent], f.pid)
	}
	return of
}

// parents are the processes that have children of their own program, which may be
// workers.
func (s *Scanner) parents(all []found) map[int]bool {
	names := make(map[int]string, len(all))
	for _, f := range all {
		names[f.pid] = f.stat.name
	}
	has := map[int]bool{}
	for _, f := range all {
		if name, ok := names[f.stat.parent]; ok && name == f.stat.name {
			has[f.stat.parent] = true
		}
	}
	return has
}
