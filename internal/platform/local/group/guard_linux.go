package group

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
)

// guard verifies that the limits of a group are the ones that were set: a service that
// runs as root can write into the files of its group. It keeps the files open, and reads
// each with one system call.
type guard struct {
	mu     sync.Mutex // held while the limits are changed
	files  []guarded
	period bool // the experiment states the period, which is then a part of the limit
	buf    [256]byte
}

// guarded is a file that a limit depends on.
type guarded struct {
	controller cgroup.Controller
	name       string
	fd         int
	set        string // its content after the limits were set
}

// guardedFiles are the names of the files that hold the limits of a controller. Some
// kernels do not have all of them.
func guardedFiles(v cgroup.Version, c cgroup.Controller) []string {
	v1 := v == cgroup.V1
	switch {
	case c == cgroup.CPU && v1:
		return []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us"}
	case c == cgroup.CPU:
		return []string{"cpu.max", "cpu.max.burst"}
	case c == cgroup.Memory && v1:
		return []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}
	case c == cgroup.Memory:
		return []string{"memory.max", "memory.swap.max"}
	case c == cgroup.CPUSet:
		return []string{"cpuset.cpus"}
	}
	return nil
}

// open opens the files of a group's directory in a home.
func (g *guard) open(h Home, dir string) error {
	for _, c := range h.Controllers {
		for _, name := range guardedFiles(h.Version, c) {
			fd, err := unix.Open(path.Join(dir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return &fs.PathError{Op: "open", Path: path.Join(dir, name), Err: err}
			default:
				g.files = append(g.files, guarded{controller: c, name: name, fd: fd})
			}
		}
	}
	return nil
}

// accept takes the present limits as the ones that were set. The kernel may have rounded
// them.
func (g *guard) accept(l experiment.Limits) error {
	g.period = l.Period != 0
	for i := range g.files {
		text, err := g.read(i)
		if err != nil {
			return fmt.Errorf("read %s: %w", g.files[i].name, err)
		}
		g.files[i].set = string(text)
	}
	return nil
}

// read reads a file with one system call: the kernel generates its content again for
// every reading at offset 0.
func (g *guard) read(i int) ([]byte, error) {
	for {
		n, err := unix.Pread(g.files[i].fd, g.buf[:], 0)
		if err != unix.EINTR {
			return g.buf[:max(n, 0)], err
		}
	}
}

// broken describes the first limit that is not the one that was set; "" if there is none.
// A file that cannot be read shows nothing: the group is being removed.
func (g *guard) broken() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.files {
		text, err := g.read(i)
		if err != nil || bytes.Equal(text, []byte(g.files[i].set)) {
			continue
		}
		if why := g.change(&g.files[i], string(text)); why != "" {
			return why
		}
	}
	return ""
}

// change describes the change of a file; "" if the limit is still the same.
func (g *guard) change(f *guarded, text string) string {
	was, is := strings.TrimSpace(f.set), strings.TrimSpace(text)
	switch f.name {
	case "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us":
		was, is := g.bandwidths()
		if is.Same(was) && (is.Period == was.Period || !g.period) {
			return ""
		}
		return fmt.Sprintf("its CPU limit was changed from %v to %v", was, is)
	case "cpu.max.burst", "cpu.cfs_burst_us":
		return fmt.Sprintf("its CPU burst was changed from %s us to %s us", was, is)
	case "cpuset.cpus":
		return fmt.Sprintf("its CPUs were changed from %q to %q", was, is)
	}
	return fmt.Sprintf("its memory limit was changed: %s was %s and is %s", f.name, was, is)
}

// bandwidths are the CPU limit that was set, and the present one. v1 has the quota and the
// period in two files.
func (g *guard) bandwidths() (was, is meter.Bandwidth) {
	var before, now []string
	for i, f := range g.files {
		if f.controller == cgroup.CPU && !strings.Contains(f.name, "burst") {
			text, _ := g.read(i)
			before, now = append(before, strings.Fields(f.set)...), append(now, strings.Fields(string(text))...)
		}
	}
	return bandwidthOf(before), bandwidthOf(now)
}

// bandwidthOf parses a quota and a period in microseconds, of which "max" and -1 are no
// limit (Linux Documentation/admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst).
func bandwidthOf(words []string) (b meter.Bandwidth) {
	for i, to := range []*time.Duration{&b.Quota, &b.Period} {
		if i < len(words) {
			if n, err := strconv.ParseInt(words[i], 10, 64); err == nil && n > 0 {
				*to = time.Duration(n) * time.Microsecond
			}
		}
	}
	return b
}

func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.files {
		_ = unix.Close(f.fd) // it was only read
	}
	g.files = nil
}

// Broken describes the first of the group's limits that is not the one that was set, as
// in "its CPU limit was changed from 500m to no limit"; "" if all are.
func (g *Group) Broken() string { return g.guard.broken() }

// Inside returns the processes that are in the group in each of its hierarchies, and those
// that are in it in any. Processes in groups below it are inside: its limits apply to them.
func (g *Group) Inside() (each, any map[int]bool, err error) {
	for _, dir := range g.dirs {
		all, err := PIDs(dir)
		if err != nil {
			return nil, nil, err
		}
		here := make(map[int]bool, len(all))
		for _, pid := range all {
			if each == nil || each[pid] {
				here[pid] = true
			}
		}
		if any == nil {
			any = map[int]bool{}
		}
		for _, pid := range all {
			any[pid] = true
		}
		each = here
	}
	return each, any, nil
}

// Where is the group of a process in the first hierarchy in which it is not in g, as
// /proc/PID/cgroup has it; "" if that is not known.
func (g *Group) Where(pid int) string {
	at, err := cgroup.Host().Process(pid)
	if err != nil {
		return ""
	}
	own, err := cgroup.Host().At(g.dirs...)
	if err != nil {
		return ""
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet, cgroup.Unified} {
		is, known := at.Place(c).Get()
		was, used := own.Place(c).Get()
		if known && used && is.Dir != was.Dir && !strings.HasPrefix(is.Dir, was.Dir+"/") {
			return is.Dir
		}
	}
	return ""
}
