package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// FS is a host's file system, or a copy of its files.
type FS struct {
	root string // prefix of /proc and the mount points; "" for this host
	// owns are the results of own, which does not change while a process runs.
	owns *sync.Map
}

// Host returns the file system of this host, as this process sees it.
func Host() FS { return FS{owns: &sync.Map{}} }

// NewFS returns a file system in which root is the prefix of /proc and of the mount
// points: another host's mounted root, or a fixture. Its mounts are those of its process
// 1 (root/proc/1/mountinfo), because this process has other mounts.
func NewFS(root string) FS {
	if root != "" {
		root = strings.TrimSuffix(filepath.Clean(root), "/")
	}
	return FS{root: root, owns: &sync.Map{}}
}

// real returns where the file that this FS calls name really is.
func (f FS) real(name string) string { return f.root + filepath.FromSlash(name) }

// hasCgroups reports whether there can be control groups at all.
func (f FS) hasCgroups() bool {
	return f.root != "" || runtime.GOOS == "linux" || runtime.GOOS == "android"
}

// Self locates the group of this process, for the given controllers, or for all if none
// is given. Values of other controllers are unreadable. See [FS.Process].
func (f FS) Self(only ...Controller) (Group, error) { return f.process("self", only) }

// Process locates the group of a process by its pid. It uses the mounts of this process,
// even if the other process has different ones, so that as many ancestors as possible
// are visible and the directories can be opened.
//
// An error means that /proc could not be read; if it wraps fs.ErrNotExist,
// there is no such process. A controller without a known directory is not an error
// here: its limits are unknown and its values unreadable, with the reason. On a host
// without control groups everything is absent.
func (f FS) Process(pid int) (Group, error) { return f.process(strconv.Itoa(pid), nil) }

func (f FS) process(pid string, only []Controller) (Group, error) {
	g := Group{fs: f, located: true}
	if !f.hasCgroups() {
		return g, nil
	}
	fail := func(err error) (Group, error) {
		return Group{}, fmt.Errorf("locate the control group of process %s: %w", pid, err)
	}
	name := f.real("/proc/" + pid + "/cgroup")
	data, err := readFile(name, procFile)
	if errors.Is(err, fs.ErrNotExist) {
		if exists(filepath.Dir(name)) == nil {
			return g, nil // the process is there: this kernel has no control groups
		}
	}
	if err != nil {
		return fail(err)
	}
	groups, err := parseMemberships(data)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", name, err))
	}
	mounts, err := f.mounts()
	if err != nil {
		return fail(err)
	}
	for c := Controller(0); c < controllers; c++ {
		if len(only) > 0 && !hasController(only, c) {
			g.places[c] = UnreadableValue[Place](errNotAsked)
			continue
		}
		g.places[c] = f.locate(c, groups, mounts)
	}
	return g, nil
}

func hasController(all []Controller, c Controller) bool {
	for _, one := range all {
		if one == c {
			return true
		}
	}
	return false
}

// locate returns where the files of a controller are for a process in groups.
func (f FS) locate(c Controller, groups []membership, mounts []mount) Value[Place] {
	places, err := candidates(c, groups, mounts)
	if err != nil {
		if p, ok := f.outside(c, groups, mounts); ok {
			return ValueOf(p)
		}
		return UnreadableValue[Place](err)
	}
	if len(places) == 0 {
		return Value[Place]{}
	}
	// A mount can be hidden by a later one; the directory is then not there.
	for _, p := range places {
		if err = exists(f.real(p.Dir)); !errors.Is(err, fs.ErrNotExist) {
			return ValueOf(p)
		}
	}
	reason := ErrOutside
	if strings.HasSuffix(places[0].Dir, deleted) {
		reason = ErrGone
	}
	return UnreadableValue[Place](fmt.Errorf("cgroup %s controller %s: %w: %w", places[0].Version, c, reason, err))
}

// deleted ends the path of a v2 group that was removed while a process of it
// was not gone yet. man 7 cgroups, "/proc files".
const deleted = " (deleted)"

// At returns the group whose directories are known: one for v2, one per
// controller for v1. Versions and controllers follow from the mounts of the
// directories. A v1 controller of the host without a given directory is unreadable,
// because its group is not known.
//
// It is an error if a directory does not exist or is in no mount of a cgroup
// file system, or if two are of one controller.
func (f FS) At(dirs ...string) (Group, error) {
	g := Group{fs: f, located: true}
	fail := func(err error) (Group, error) {
		return Group{}, fmt.Errorf("locate the control group at %s: %w", strings.Join(dirs, ", "), err)
	}
	if len(dirs) == 0 {
		return fail(errors.New("no directory given"))
	}
	mounts, err := f.mounts()
	if err != nil {
		return fail(err)
	}
	given := make(map[Place]mount, len(dirs)) // a directory that is given twice counts once
	for _, dir := range dirs {
		dir, err := f.resolve(dir)
		if err != nil {
			return fail(err)
		}
		m, ok := mountOf(dir, mounts)
		if !ok {
			return fail(fmt.Errorf("%s is in no cgroup mount", dir))
		}
		given[Place{Version: m.version, Dir: dir, Top: path.Clean(m.point)}] = m
	}
	for c := Controller(0); c < controllers; c++ {
		if g.places[c], err = placeAmong(given, c, mounts); err != nil {
			return fail(err)
		}
	}
	return g, nil
}

// placeAmong returns which of the given places is that of a controller. A
// controller of a v1 mount is not available in v2.
func placeAmong(given map[Place]mount, c Controller, mounts []mount) (found Value[Place], err error) {
	onV1 := func(m mount) bool {
		return c != Unified && m.version == V1 && hasItem(m.controllers, c.String())
	}
	hasV1 := false
	for _, m := range mounts {
		hasV1 = hasV1 || onV1(m)
	}
	if hasV1 {
		found = UnreadableValue[Place](fmt.Errorf("cgroup v1 controller %s: its directory was not given; give FS.At that too", c))
	}
	for p, m := range given {
		if hasV1 && !onV1(m) || !hasV1 && m.version != V2 {
			continue
		}
		if other, twice := found.Get(); twice {
			return found, fmt.Errorf("%s and %s are both of controller %s; give one", other.Dir, p.Dir, c)
		}
		found = ValueOf(p)
	}
	return found, nil
}

// resolve follows the symbolic links in dir, such as those from cpu to
// cpu,cpuacct on hosts that mount both as one.
func (f FS) resolve(dir string) (string, error) {
	root, err := filepath.EvalSymlinks(f.real("/"))
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(f.real(path.Join("/", dir)))
	if err != nil {
		return "", err
	}
	rest, err := filepath.Rel(root, real)
	if err != nil {
		return "", err
	}
	return path.Join("/", filepath.ToSlash(rest)), nil
}

func (f FS) mounts() ([]mount, error) {
	pid := "self"
	if f.root != "" {
		pid = "1"
	}
	name := f.real("/proc/" + pid + "/mountinfo")
	data, err := readFile(name, procFile)
	if err != nil {
		return nil, err
	}
	mounts, err := parseMounts(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return mounts, nil
}

// Affinity counts the CPUs that a process may run on (its main thread's
// affinity, which the cpuset has narrowed already); pid 0 is this process.
func (f FS) Affinity(pid int) Value[int] {
	if !f.hasCgroups() {
		return Value[int]{}
	}
	who := "self"
	if pid != 0 {
		who = strconv.Itoa(pid)
	}
	name := f.real("/proc/" + who + "/status")
	data, err := readFile(name, procFile)
	if err != nil {
		return UnreadableValue[int](err)
	}
	n, err := parseAffinity(data)
	if err != nil {
		return UnreadableValue[int](fmt.Errorf("%s: %w", name, err))
	}
	return ValueOf(n)
}

// parseAffinity counts the CPUs in the line Cpus_allowed_list of
// /proc/PID/status.
//
//	Cpus_allowed_list:\t0-3\n
//
// man 5 proc_pid_status.
func parseAffinity(b []byte) (int, error) {
	for len(b) > 0 {
		line, rest, err := nextLine(b)
		if err != nil {
			return 0, err
		}
		if list, ok := bytes.CutPrefix(line, []byte("Cpus_allowed_list:\t")); ok {
			n, err := parseCPUList(b[len(line)-len(list) : len(line)+1])
			if err == nil && n == 0 {
				err = malformed("no CPU allowed", line)
			}
			return n, err
		}
		b = rest
	}
	return 0, fmt.Errorf("%w: no line Cpus_allowed_list", ErrMalformed)
}
