package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// program is the key of the runtime cache: processes with equal programs have the
// same runtime and settings. So the executable of a thousand replicas is read once.
type program struct {
	file    identity
	exe     string
	command string
	env     string // the variables that concern the runtime
}

// identity identifies a file across containers. It has no device number, because the
// same file of an image has a different one in each container. The owner keeps a user from
// making a file with the identity of another user's program.
type identity struct {
	owner uint32
	inode uint64
	size  int64
	mtime int64 // nanoseconds
}

// detect detects a process's runtime. It does not cache a process that may have
// workers: one with children of the same program.
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
		if size(info) > mostKept {
			info.Env, info.Flags = nil, nil
			info.Refused = cmp.Or(info.Refused, fmt.Sprintf("its settings have more than %s", display.Bytes(mostKept)))
		}
		if ok && info.Runtime == runtimes.Go { // read below, for replicas too
			info.Notes = slices.DeleteFunc(info.Notes, func(note string) bool { return strings.Contains(note, "GOMAXPROCS") })
		}
		if ok && !hasWorkers && !(info.Runtime == runtimes.Unknown && s.young(f.stat)) && !runtimes.ByThreads(info) {
			if len(s.known) >= mostPrograms {
				clear(s.known)
			}
			s.known[key] = s.replica(f, info)
		}
	}
	if ok && info.Runtime == runtimes.Go {
		s.goParallelism(f.pid, key, &info)
	}
	return info, nil
}

// size is the length of the settings of a process.
func size(info runtimes.Info) (n int) {
	for name, value := range info.Env {
		n += len(name) + len(value)
	}
	for _, flag := range info.Flags {
		n += len(flag)
	}
	return n
}

// mostPrograms bounds the cache of programs: a user can start any number.
const mostPrograms = 4096

// settling is how long a program may take from its start until it has loaded the
// libraries by which its runtime is detected, such as a JVM's or .NET's.
const settling = 10 * time.Second

// young reports whether a process started so recently that its runtime may not be
// detectable yet.
func (s *Scanner) young(st proc.Stat) bool {
	started := time.Duration(st.Started) * proc.Tick
	return s.uptime > 0 && s.uptime < started+settling
}

// replica returns the cached info of a program for another process, with the parts
// that differ between processes read again.
func (s *Scanner) replica(f found, info runtimes.Info) runtimes.Info {
	info.PID, info.Threads = f.pid, f.stat.Threads
	info.Env, info.Notes = maps.Clone(info.Env), slices.Clone(info.Notes)
	if cpus, ok := s.cgroups.Affinity(f.pid).Get(); ok {
		info.Affinity = cpus
	}
	return info
}

// program returns what a process runs; ok is false if it cannot be read.
func (s *Scanner) program(pid int, command []string) (program, bool) {
	exe, err := os.Readlink(s.path(pid, "exe"))
	if err != nil {
		return program{}, false
	}
	file, err := s.procfs.Stat(pid, "exe")
	if err != nil {
		return program{}, false
	}
	environ, err := s.read(pid, "environ")
	if err != nil {
		return program{}, false
	}
	id, ok := identityOf(file)
	p := program{file: id, exe: exe, command: strings.Join(command, "\x00"), env: relevant(environ)}
	if len(p.env) > mostKept || len(command) > 0 && command[len(command)-1] == cut {
		return program{}, false
	}
	return p, ok
}

// relevant returns the variables of an environment that package runtimes uses: the
// settings, the versions that images state, the mark of a cluster worker, and PORT.
func relevant(environ []byte) string {
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

// children returns child pids by parent pid.
func children(all []found) map[int][]int {
	of := make(map[int][]int, len(all))
	for _, f := range all {
		of[f.stat.Parent] = append(of[f.stat.Parent], f.pid)
	}
	return of
}

// parents returns the processes with children of the same name, which may be workers.
func (s *Scanner) parents(all []found) map[int]bool {
	names := make(map[int]string, len(all))
	for _, f := range all {
		names[f.pid] = f.stat.Name
	}
	has := map[int]bool{}
	for _, f := range all {
		if name, ok := names[f.stat.Parent]; ok && name == f.stat.Name {
			has[f.stat.Parent] = true
		}
	}
	return has
}
