package group

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
)

// Facts are the properties of the host on which the choice of a Way depends; [Survey]
// reads them.
type Facts struct {
	UID int // effective

	// V1 are the v1 hierarchies with a useful controller; V2 is the v2 hierarchy, or nil.
	V1 []V1
	V2 *V2

	Systemd     bool     // systemd is process 1
	SystemdRun  string   // the path of systemd-run; empty if there is none
	UserManager []string // controllers delegated to the caller's systemd --user
	Scope       string   // the scope in which this program was started again (ScopeVariable)
	Sudo        bool     // sudo is in PATH
	PID         int
}

// V1 is the caller's place in a hierarchy of cgroup v1.
type V1 struct {
	Controllers []cgroup.Controller // the useful ones
	Dir         string              // the caller's own group
	Writable    bool
	ReadOnly    bool // the mount is: root cannot write either
}

// V2 is the caller's place in the v2 hierarchy.
type V2 struct {
	Top            string   // the mount point
	TopIsRoot      bool     // Top is the root of the whole hierarchy, not of a namespace
	TopControllers []string // available to groups in Top
	TopWritable    bool
	Own            string   // the caller's own group
	OwnControllers []string // available to groups in Own
	OwnWritable    bool
	Delegated      bool // systemd marked Own as delegated
	ReadOnly       bool // the mount is: root cannot write either
}

// Way is how groups are made on this host: in Homes or, if Rerun is not empty, after
// starting this program again with Rerun before its arguments and ScopeVariable set to
// Scope.
type Way struct {
	Homes []Home
	Rerun []string
	Scope string
}

// Home is a group below which a run makes its own, in one hierarchy.
type Home struct {
	Version     cgroup.Version
	Dir         string
	Controllers []cgroup.Controller // to use here
	// Leaf means that processes in Dir must first move into a leaf below it: a v2 group
	// with processes cannot enable controllers for its children, unless it is the root.
	Leaf bool
	// Optional homes only add pressure, cgroup.kill or the limit of processes: a failure
	// there is ignored.
	Optional bool
}

// ScopeVariable names the scope in the environment of a program that was started again
// in a scope. Services must not inherit it.
const ScopeVariable = "MILLICORE_SCOPE"

// ErrNoWay is in the error of [Facts.Way] if no groups can be made.
var ErrNoWay = errors.New("no way to limit processes here")

// Way chooses how groups are made. The error wraps ErrNoWay and names what to do instead.
func (f Facts) Way() (Way, error) {
	i := slices.IndexFunc(f.V1, func(h V1) bool { return slices.Contains(h.Controllers, cgroup.CPU) })
	switch {
	case i >= 0:
		return f.wayV1()
	case f.V2 != nil:
		return f.wayV2()
	}
	return Way{}, f.refuse("the cpu controller of cgroups is not mounted")
}

// wayV1 makes groups below the caller's own in each hierarchy, so that the caller's
// limits apply to them too.
func (f Facts) wayV1() (Way, error) {
	var w Way
	memory := false
	for _, h := range f.V1 {
		pids := slices.Equal(h.Controllers, []cgroup.Controller{cgroup.PIDs})
		if !h.Writable && (pids || slices.Equal(h.Controllers, []cgroup.Controller{cgroup.CPUSet})) {
			continue // reported only if an experiment needs it
		}
		if !h.Writable {
			return Way{}, f.refuse(f.unwritable(h.Dir, h.ReadOnly))
		}
		w.Homes = append(w.Homes, Home{Version: cgroup.V1, Dir: h.Dir, Controllers: h.Controllers, Optional: pids})
		memory = memory || slices.Contains(h.Controllers, cgroup.Memory)
	}
	if f.V2 == nil || !f.V2.OwnWritable {
		return w, nil
	}
	// A hybrid host. The v2 hierarchy may have the memory controller. Otherwise it adds
	// pressure, which needs no controller and so no leaf.
	unified := Home{Version: cgroup.V2, Dir: f.V2.Own, Optional: true}
	if !memory && f.V2.Own == f.V2.Top && f.V2.TopIsRoot {
		unified.Controllers = offered(f.V2.TopControllers, cgroup.Memory)
	}
	w.Homes = append(w.Homes, unified)
	return w, nil
}

func (f Facts) wayV2() (Way, error) {
	v := f.V2
	in := func(dir string, controllers []string, leaf bool) (Way, error) {
		found := offered(controllers, cgroup.CPU, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs)
		if !slices.Contains(found, cgroup.CPU) {
			return Way{}, f.refuse(fmt.Sprintf("the cpu controller is not delegated to %s", dir))
		}
		return Way{Homes: []Home{{Version: cgroup.V2, Dir: dir, Controllers: found, Leaf: leaf}}}, nil
	}
	root := v.TopIsRoot && v.TopWritable
	delegated := v.OwnWritable && (v.Delegated || f.Scope != "" && path.Base(v.Own) == f.Scope)
	inNamespace := v.OwnWritable && v.Own == v.Top && !v.TopIsRoot
	switch {
	case v.Own == v.Top && root:
		return in(v.Top, v.TopControllers, false)
	case (delegated || inNamespace) && (slices.Contains(v.OwnControllers, "cpu") || f.Scope != ""):
		return in(v.Own, v.OwnControllers, true)
	case f.Systemd && f.SystemdRun != "" && f.Scope == "" && (f.UID == 0 || slices.Contains(f.UserManager, "cpu")):
		return f.rerun(), nil
	case f.UID == 0 && root && !f.Systemd:
		return in(v.Top, v.TopControllers, false)
	case f.UID == 0 && root && f.SystemdRun == "":
		return in(v.Top, v.TopControllers, false)
	}
	return Way{}, f.refuse(f.whyNotV2())
}

// rerun starts this program again in a delegated scope of systemd.
func (f Facts) rerun() Way {
	scope := fmt.Sprintf("%s%d.scope", prefix, f.PID)
	argv := []string{f.SystemdRun}
	if f.UID != 0 {
		argv = append(argv, "--user")
	}
	argv = append(argv, "--scope", "--quiet", "--collect", "--unit="+scope, "--property=Delegate=yes", "--")
	return Way{Rerun: argv, Scope: scope}
}

func (f Facts) whyNotV2() string {
	v := f.V2
	switch {
	case f.Scope != "":
		return fmt.Sprintf("systemd-run did not put this process into %s: it is in %s", f.Scope, v.Own)
	case f.UID != 0 && f.Systemd && f.SystemdRun == "":
		return "systemd-run is not in PATH"
	case f.UID != 0 && f.Systemd:
		return fmt.Sprintf("systemd does not delegate the cpu controller to user %d (a file in /etc/systemd/system/user@.service.d with [Service] Delegate=cpu cpuset memory pids would)", f.UID)
	case v.OwnWritable && v.Own == v.Top && !slices.Contains(v.OwnControllers, "cpu"):
		return fmt.Sprintf("the cpu controller is not enabled for %s", v.Own)
	case !v.OwnWritable && (v.Own == v.Top || v.ReadOnly):
		return f.unwritable(v.Own, v.ReadOnly)
	}
	return fmt.Sprintf("%s is not delegated to user %d", v.Own, f.UID)
}

func (f Facts) unwritable(dir string, readOnly bool) string {
	if readOnly {
		return dir + " is read-only"
	}
	return fmt.Sprintf("%s cannot be written by user %d", dir, f.UID)
}

// refuse names the reason and a way that exists on this host. There is no other one: if a
// scope of systemd had the cpu controller, Way would have chosen it, and Docker's agents
// need groups of this host, too.
func (f Facts) refuse(why string) error {
	what := "run millicore where /sys/fs/cgroup has the cpu controller and can be written, as in a container that is started so"
	switch {
	case f.rootHelps() && f.Sudo:
		what = "run millicore with sudo"
	case f.rootHelps():
		what = "run millicore as root"
	}
	return fmt.Errorf("%w: %s; %s", ErrNoWay, why, what)
}

// rootHelps reports whether root, who can write what is not mounted read-only, has a way
// that the caller has not.
func (f Facts) rootHelps() bool {
	if f.UID == 0 {
		return false
	}
	f.UID, f.V1 = 0, slices.Clone(f.V1)
	for i := range f.V1 {
		f.V1[i].Writable = !f.V1[i].ReadOnly
	}
	if f.V2 != nil {
		v := *f.V2
		v.TopWritable, v.OwnWritable = !v.ReadOnly, !v.ReadOnly
		f.V2 = &v
	}
	_, err := f.Way()
	return err == nil
}

// offered returns those of the wanted controllers that are in a cgroup's list.
func offered(list []string, wanted ...cgroup.Controller) []cgroup.Controller {
	var found []cgroup.Controller
	for _, c := range wanted {
		if slices.Contains(list, c.String()) {
			found = append(found, c)
		}
	}
	return found
}

// outermost returns the group of dir without the leaf of a run: /a for
// /a/millicore-1/lab. A run that starts inside another run's leaf makes its groups
// beside those of the other run.
func outermost(dir string) string {
	for path.Base(dir) == leaf && strings.HasPrefix(path.Base(path.Dir(dir)), prefix) {
		dir = path.Dir(path.Dir(dir))
	}
	return dir
}
