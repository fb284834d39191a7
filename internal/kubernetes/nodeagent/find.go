package nodeagent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
)

// Finder finds the control groups of containers.
//
// Where a container's group lies depends on the version of control groups, on
// who keeps them for the kubelet (systemd or itself), on the container runtime,
// and on what the node itself runs in:
//
//	/kubepods/burstable/podUID/ID
//	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
//	/kubelet.slice/kubelet-kubepods.slice/…/crio-ID.scope
//
// All of them have the container's id in the folder's name. So the finder searches
// the folders for the id: one readdir for each, about 10 ms on a node with 100 pods,
// once per container.
//
// Every user can read control groups: folders have mode 0755, files 0444 or 0644. No
// capability is needed.
type Finder struct {
	system cgroup.FS
	root   string // put before every path; "" for this machine
	top    string // where the node's /sys/fs/cgroup is mounted
}

// NewFinder returns a finder below top, where the node's /sys/fs/cgroup is
// mounted with all that is mounted below it (a hostPath volume is).
func NewFinder(top string) *Finder { return finderIn("", top) }

// finderIn returns a finder for a machine whose root is a folder of this one.
func finderIn(root, top string) *Finder {
	f := &Finder{system: cgroup.Host(), root: root, top: path.Clean("/" + top)}
	if root != "" {
		f.system = cgroup.NewFS(root)
	}
	return f
}

// The bounds of a search. If the node itself runs in a container in a virtual
// machine, groups of containers are about 8 levels deep.
const (
	deepest = 16
	most    = 1 << 16 // folders of one hierarchy
)

// shortestID is the least length of an id: shorter ones also occur in names of other
// groups. All current runtimes use 64 digits.
const shortestID = 12

// ErrNotFound is in the error for a container without a control group on this node.
var ErrNotFound = errors.New("it has no control group on this node")

// Find finds the group of a container by its hexadecimal id. The pod's uid may be "":
// it decides between several groups with the id in their names, for example if a
// node runs inside another one. The error wraps [ErrNotFound] if there is no group.
func (f *Finder) Find(container, pod string) (cgroup.Group, error) {
	fail := func(err error) (cgroup.Group, error) {
		return cgroup.Group{}, fmt.Errorf("find container %s: %w", short(container), err)
	}
	if !hexadecimal(container) || len(container) < shortestID {
		return fail(fmt.Errorf("an id consists of at least %d hexadecimal digits", shortestID))
	}
	tops, err := f.hierarchies()
	if err != nil {
		return fail(err)
	}
	var dirs []string
	var unread error
	for _, top := range tops {
		dir, err := f.search(top, container, pod)
		if dir != "" {
			dirs = append(dirs, dir)
		}
		if err != nil && unread == nil {
			unread = err
		}
	}
	if len(dirs) == 0 {
		if unread != nil {
			return fail(fmt.Errorf("%w: some folders could not be read: %w", ErrNotFound, unread))
		}
		return fail(fmt.Errorf("%w: no folder below %s has its id in its name", ErrNotFound, strings.Join(tops, ", ")))
	}
	g, err := f.system.At(dirs...)
	if err != nil {
		return fail(err)
	}
	if _, ok := g.Place(cgroup.CPU).Get(); !ok {
		// The group is being created or removed.
		return fail(fmt.Errorf("%w: found %s, but no group of the cpu controller", ErrNotFound, strings.Join(dirs, ", ")))
	}
	return g, nil
}

// hierarchies are the top folders of the useful hierarchies: the only one of v2, or those
// of the controllers' mounts of v1.
func (f *Finder) hierarchies() ([]string, error) {
	_, err := f.system.At(f.top)
	if err == nil {
		return []string{f.top}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; mount the node's /sys/fs/cgroup there", err)
	}
	entries, unread := os.ReadDir(f.real(f.top))
	if unread != nil {
		return nil, unread
	}
	var all []string
	for _, e := range entries {
		// A link is another name of a hierarchy: cpu of cpu,cpuacct.
		if dir := path.Join(f.top, e.Name()); e.IsDir() && f.useful(dir) {
			all = append(all, dir)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w, and neither is a folder in it; mount the node's /sys/fs/cgroup there, with all that is mounted below it", err)
	}
	return all, nil
}

// useful reports whether a folder belongs to a hierarchy with limits or counters. Many
// v1 hierarchies have none.
func (f *Finder) useful(dir string) bool {
	g, err := f.system.At(dir)
	if err != nil {
		return false
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.CPUSet, cgroup.Memory, cgroup.PIDs, cgroup.Unified} {
		if _, ok := g.Place(c).Get(); ok {
			return true
		}
	}
	return false
}

// search searches a hierarchy breadth-first for the folder with the id in its name. A
// folder with the pod's uid in its path has priority. If there is none, err is the first
// error of reading a folder.
func (f *Finder) search(top, container, pod string) (found string, err error) {
	level := []string{top}
	for depth, seen := 0, 0; depth < deepest && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if seen++; seen > most {
				return found, fmt.Errorf("%s has more than %d groups", top, most)
			}
			entries, unread := os.ReadDir(f.real(dir))
			if unread != nil && !errors.Is(unread, fs.ErrNotExist) && err == nil { // it may have been removed meanwhile
				err = unread
			}
			for _, e := range entries {
				below := path.Join(dir, e.Name())
				switch {
				case !e.IsDir():
				case !names(e.Name(), container):
					next = append(next, below)
				case pod == "" || ofPod(below, pod):
					return below, nil
				case found == "":
					found = below
				}
			}
		}
		level = next
	}
	if found != "" {
		return found, nil
	}
	return "", err
}

func (f *Finder) real(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// conmon is in the name of the group of CRI-O's and Podman's process that watches
// a container from outside, beside the container's id.
const conmon = "conmon"

// names reports whether a folder's name is that of a container's group: it has the whole
// id, with a prefix or suffix of the runtime.
func names(folder, id string) bool {
	before, after, found := strings.Cut(folder, id)
	return found && !strings.Contains(before, conmon) &&
		(before == "" || strings.HasSuffix(before, "-") || strings.HasSuffix(before, ":")) &&
		(after == "" || after == ".scope")
}

// ofPod reports whether a folder's path has a pod's uid. systemd's slices write _ for -.
func ofPod(dir, pod string) bool {
	return strings.Contains(strings.ReplaceAll(dir, "_", "-"), strings.ReplaceAll(pod, "_", "-"))
}

func hexadecimal(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// short is what a message shows of a container's id.
func short(id string) string {
	if len(id) <= shortestID {
		return fmt.Sprintf("%q", id)
	}
	return fmt.Sprintf("%q…", id[:shortestID])
}
