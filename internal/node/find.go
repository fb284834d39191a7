package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/maxprocs/cgroup"
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
// All of them have the container's id in the folder's name. So the finder
// constructs no names, and looks through the folders instead: a readdir for each,
// some 10 ms on a node with 100 pods, once a container.
//
// Everything that is read is readable for every user: groups are folders with
// mode 0755, and their files have 0444 or 0644. No capability is needed.
type Finder struct {
	system cgroup.FS
	root   string // put before every path; "" for this machine
	top    string // where the node's /sys/fs/cgroup is mounted
}

// NewFinder returns a finder below top, where the node's /sys/fs/cgroup is
// mounted with all that is mounted below it (a hostPath volume is).
func NewFinder(top string) *Finder { return finderIn("", top) }

// finderIn is of a machine whose root is a folder of this one.
func finderIn(root, top string) *Finder {
	f := &Finder{system: cgroup.Host(), root: root, top: path.Clean("/" + top)}
	if root != "" {
		f.system = cgroup.NewFS(root)
	}
	return f
}

// The bounds of a search. A container of a node that is itself a container of a
// virtual machine's slice lies about 8 deep.
const (
	deepest = 16
	most    = 1 << 16 // folders of one hierarchy
)

// shortestID is how long an id is at least: a shorter word is found in names that
// are no container's. All of today's runtimes have 64 digits.
const shortestID = 12

// ErrNotFound is in the error where a container has no control group here.
var ErrNotFound = errors.New("it has no control group on this node")

// Find finds the group of a container by its id, which is hexadecimal. The pod's
// uid may be "": it decides where several groups have the id in their names, as
// where a node runs inside of another. The error wraps [ErrNotFound] where there
// is none.
func (f *Finder) Find(container, pod string) (cgroup.Group, error) {
	fail := func(err error) (cgroup.Group, error) {
		return cgroup.Group{}, fmt.Errorf("find container %s: %w", short(container), err)
	}
	if !hexadecimal(container) || len(container) < shortestID {
		return fail(fmt.Errorf("an id has at least %d hexadecimal digits and nothing else", shortestID))
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
			return fail(fmt.Errorf("%w: not all of it could be looked through: %w", ErrNotFound, unread))
		}
		return fail(fmt.Errorf("%w: no folder below %s has its id in its name", ErrNotFound, strings.Join(tops, ", ")))
	}
	g, err := f.system.At(dirs...)
	if err != nil {
		return fail(err)
	}
	if _, ok := g.Place(cgroup.CPU).Get(); !ok {
		// It is being made, or removed.
		return fail(fmt.Errorf("%w: found %s, but no group of the cpu controller", ErrNotFound, strings.Join(dirs, ", ")))
	}
	return g, nil
}

// hierarchies are the folders at the top of the hierarchies that have something
// to read: of v2 the one, of v1 those of the controllers' mounts.
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

// useful reports whether a folder is of a hierarchy that has something to read:
// most of v1 have not.
func (f *Finder) useful(dir string) bool {
	g, err := f.system.At(dir)
	if err != nil {
		return false
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.Unified} {
		if _, ok := g.Place(c).Get(); ok {
			return true
		}
	}
	return false
}

// search looks through a hierarchy, all folders of a depth before those below
// them, for the one whose name has the id: what is below that is the container's
// own. One with the pod's uid on its path goes before others. Without one there,
// err is why a folder could not be looked into, the first of them.
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

// names reports whether a folder's name is that of a container's group: it has
// the id, whole, and what is around it belongs to who made the group.
func names(folder, id string) bool {
	before, after, found := strings.Cut(folder, id)
	return found && !strings.Contains(before, conmon) &&
		(before == "" || strings.HasSuffix(before, "-") || strings.HasSuffix(before, ":")) &&
		(after == "" || after == ".scope")
}

// ofPod reports whether a folder's path has a pod's uid, which systemd's slices
// have with _ for -.
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
