package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/experiment"
)

// Limits verifies the limits of one control group. It keeps the files open, and reads each
// with one system call. Several goroutines may use it concurrently.
type Limits struct {
	mu    sync.Mutex // also held while the limits are changed
	want  Wanted
	files []file
	above []ancestor
	buf   [256]byte
}

// file is a file on which a limit depends.
type file struct {
	controller cgroup.Controller
	name       string
	dir        string // of its group
	inode      uint64 // of dir: a group that is made again has another one
	fd         int
	right      string // a content that is right; "": none is known
}

// filesOf are the names of the files with the limits of a controller. Some kernels do not
// have all of them.
func filesOf(v cgroup.Version, c cgroup.Controller) []string {
	v1 := v == cgroup.V1
	switch {
	case c == cgroup.CPU && v1:
		return []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us"}
	case c == cgroup.CPU:
		return []string{"cpu.max", "cpu.max.burst"}
	case c == cgroup.Memory && v1:
		return []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}
	case c == cgroup.Memory:
		return []string{"memory.max", "memory.swap.max", "memory.high"}
	case c == cgroup.CPUSet && v1:
		return []string{"cpuset.cpus", "cpuset.effective_cpus"}
	case c == cgroup.CPUSet: // those of the group, and those that the groups above it leave
		return []string{"cpuset.cpus", "cpuset.cpus.effective"}
	case c == cgroup.PIDs:
		return []string{"pids.max"}
	}
	return nil
}

// Open opens the files of a controller in a group's directory. They replace those of an
// earlier group, whose limits the new one must have.
func (g *Limits) Open(v cgroup.Version, c cgroup.Controller, dir string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	inode, err := inodeOf(dir)
	if err != nil {
		return err
	}
	g.ascend(v, c, dir)
	for _, name := range filesOf(v, c) {
		fd, err := unix.Open(path.Join(dir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return &fs.PathError{Op: "open", Path: path.Join(dir, name), Err: err}
		default:
			g.put(file{controller: c, name: name, dir: dir, inode: inode, fd: fd})
		}
	}
	return nil
}

// OpenGroup opens the files of a group whose directories are known.
func (g *Limits) OpenGroup(at cgroup.Group) error {
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs} {
		if p, ok := at.Place(c).Get(); ok {
			if err := g.Open(p.Version, c, p.Dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// put adds a file, or replaces that of an earlier group.
func (g *Limits) put(f file) {
	for i := range g.files {
		if g.files[i].name == f.name {
			_ = unix.Close(g.files[i].fd) // it was only read
			g.files[i].fd, g.files[i].dir, g.files[i].inode = f.fd, f.dir, f.inode
			return
		}
	}
	g.files = append(g.files, f)
}

// Set states the limits that the group must have, after apply has set them; nil: they are
// set. What an experiment does not state, such as swap and burst, has its right values
// then. Nothing is verified while apply runs.
func (g *Limits) Set(l experiment.Limits, apply func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if apply != nil {
		if err := apply(); err != nil {
			return err
		}
	}
	g.want = WantedOf(l)
	for i := range g.files {
		g.files[i].right = ""
	}
	for i := range g.files {
		_, err := g.broken(i)
		if errors.Is(err, unix.ENODEV) {
			return nil // the group was removed; another one may follow
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", g.files[i].name, err)
		}
	}
	return nil
}

// Broken describes the first limit that is not the wanted one, or that a group above it
// does not leave; "" if all hold. A group that was removed shows nothing.
func (g *Limits) Broken() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.files {
		why, err := g.broken(i)
		if errors.Is(err, unix.ENODEV) {
			why = g.files[i].lost()
		}
		if why != "" {
			return why
		}
	}
	for i := range g.above {
		if why := g.above[i].lowered(); why != "" {
			return why
		}
	}
	return ""
}

// lost describes that the group of a file which does not exist any more is still there; ""
// if it is not. The files of a controller vanish, and its limits with them, when somebody
// withdraws it in the group above (Linux Documentation/admin-guide/cgroup-v2.rst,
// "cgroup.subtree_control").
func (f *file) lost() string {
	if inode, err := inodeOf(f.dir); err != nil || inode != f.inode {
		return ""
	}
	return fmt.Sprintf("its control group lost the %v controller: it has no %s any more", f.controller, f.name)
}

func inodeOf(dir string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(dir, &stat); err != nil {
		return 0, &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	return stat.Ino, nil
}

// broken describes what is wrong with the content of a file, and remembers what is right.
func (g *Limits) broken(i int) (why string, err error) {
	f := &g.files[i]
	text, err := g.read(i)
	if err != nil || string(text) == f.right {
		return "", err
	}
	is := string(text)
	if why = g.judge(f, strings.TrimSpace(is)); why == "" {
		f.right = is
	}
	return why, nil
}

// read reads a file with one system call: the kernel generates its content again for
// every reading at offset 0.
func (g *Limits) read(i int) ([]byte, error) {
	for {
		n, err := unix.Pread(g.files[i].fd, g.buf[:], 0)
		if err != unix.EINTR {
			return g.buf[:max(n, 0)], err
		}
	}
}

func (g *Limits) judge(f *file, is string) string {
	switch f.name {
	case "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us":
		return g.want.BrokenCPU(bandwidthOf(g.bandwidth()))
	case "memory.max", "memory.limit_in_bytes":
		return g.want.BrokenMemory(memoryOf(is))
	}
	was := strings.TrimSpace(f.right)
	switch {
	case f.right == "": // the first one
		return ""
	case called[f.name] == "CPU burst":
		return fmt.Sprintf("its CPU burst was changed from %s us to %s us", was, is)
	case f.controller == cgroup.CPUSet:
		return fmt.Sprintf("its CPUs were changed from %q to %q", was, is)
	}
	return fmt.Sprintf("its %s was changed: %s was %s and is %s", called[f.name], f.name, was, is)
}

// called are the names of limits that an experiment does not state, or not always.
var called = map[string]string{
	"cpu.max.burst": "CPU burst", "cpu.cfs_burst_us": "CPU burst",
	"memory.high": "memory limit", "memory.swap.max": "swap limit", "memory.memsw.limit_in_bytes": "swap limit",
	"pids.max": "limit of processes and threads",
}

// bandwidth are the words of the CPU limit. v1 has the quota and the period in two files.
func (g *Limits) bandwidth() (words []string) {
	for i, f := range g.files {
		if f.name == "cpu.max" || f.name == "cpu.cfs_quota_us" || f.name == "cpu.cfs_period_us" {
			text, _ := g.read(i)
			words = append(words, strings.Fields(string(text))...)
		}
	}
	return words
}

// Close closes the files. The limits hold from then on.
func (g *Limits) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.files {
		_ = unix.Close(f.fd) // it was only read
	}
	g.files, g.above = nil, nil
}
