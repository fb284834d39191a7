package group

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Run is everything that this process makes: one directory in each home, and
// the groups below it.
type Run struct {
	name   string
	ledger *ledger

	mu      sync.Mutex
	homes   []*home // those in which the run's directory was made
	later   []Home  // cpuset of v1, made when it is first asked for
	folders int     // made and not yet removed
}

// home is a Home with the run's directory in it.
type home struct {
	Home
	dir     string   // the run's
	enabled []string // controllers that the run enabled in Home.Dir
}

// Look is a run that makes nothing: only Has and Check may be called. In a way that starts
// the program again, the groups are not known yet, and Check finds no fault.
func Look(w Way) *Run {
	r := &Run{}
	for _, h := range w.Homes {
		r.homes = append(r.homes, &home{Home: h})
	}
	return r
}

// Begin makes the run's directories in the homes of a way, and its ledger in the folder
// state.
func Begin(w Way, state string) (*Run, error) {
	name := prefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixMicro(), 36)
	l, err := newLedger(state, name)
	if err != nil {
		return nil, err
	}
	r := &Run{name: name, ledger: l}
	for _, h := range w.Homes {
		if slices.Equal(h.Controllers, []cgroup.Controller{cgroup.CPUSet}) {
			r.later = append(r.later, h)
			continue
		}
		before := len(r.homes)
		err := r.enter(h)
		if err != nil && h.Optional && r.leave(before) == nil {
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make control groups in %s: %w", h.Dir, err), r.End())
		}
	}
	return r, nil
}

// leave removes the run's directories from all homes but the first ones.
func (r *Run) leave(keep int) error {
	var errs []error
	for _, h := range slices.Backward(r.homes[keep:]) {
		m := moved{Home: h.Dir, Controllers: h.enabled}
		if h.Leaf {
			m.Leaf = path.Join(h.dir, leaf)
		}
		errs = append(errs, erase(h.dir, m))
	}
	r.homes = r.homes[:keep]
	return errors.Join(errs...)
}

// enter makes the run's directory in a home and enables its controllers.
func (r *Run) enter(h Home) error {
	in := &home{Home: h, dir: path.Join(h.Dir, r.name)}
	if err := r.ledger.mkdir(in.dir); err != nil {
		return err
	}
	r.homes = append(r.homes, in)
	if h.Version == cgroup.V2 && len(h.Controllers) > 0 {
		if err := r.enable(in); err != nil {
			return err
		}
	}
	if slices.Contains(h.Controllers, cgroup.CPU) {
		// The run has the weight of a busy process on every CPU. With the weight of one
		// process, the services would starve beside two busy neighbours.
		return in.apply(in.dir, weigh(h.Version, runtime.NumCPU()))
	}
	return nil
}

// enable enables the controllers of a v2 home for the run's groups.
func (r *Run) enable(in *home) error {
	already := words(path.Join(in.Dir, "cgroup.subtree_control"))
	for _, c := range names(in.Controllers) {
		if !slices.Contains(already, c) {
			in.enabled = append(in.enabled, c)
		}
	}
	if in.Leaf {
		to := path.Join(in.dir, leaf)
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		if err := r.ledger.write(entry{Leaf: &moved{Home: in.Dir, Leaf: to, Controllers: in.enabled}}); err != nil {
			return err
		}
		if err := move(in.Dir, to); err != nil {
			return err
		}
	}
	for _, dir := range []string{in.Dir, in.dir} {
		for _, c := range names(in.Controllers) {
			if err := set(dir, "cgroup.subtree_control", "+"+c); err != nil {
				return fmt.Errorf("enable the %s controller: %w", c, err)
			}
		}
	}
	return nil
}

// Has reports whether the limits of a controller can be set.
func (r *Run) Has(c cgroup.Controller) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.homes {
		if slices.Contains(h.Controllers, c) {
			return true
		}
	}
	return slices.ContainsFunc(r.later, func(h Home) bool { return slices.Contains(h.Controllers, c) })
}

// Make makes a group with limits. Its name must be new in this run. weight is its CPU
// weight as a multiple of an ordinary group's.
func (r *Run) Make(name string, l experiment.Limits, weight int) (*Group, error) {
	if err := errors.Join(CheckLimits(l), r.Check(l)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.CPUSet != "" {
		if err := r.enterCPUSet(); err != nil {
			return nil, err
		}
	}
	g := &Group{name: name}
	for _, h := range r.homes {
		dir := path.Join(h.dir, name)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			g.dirs = append(g.dirs, dir)
			err = h.limit(dir, l, weight)
		}
		if err != nil {
			return nil, errors.Join(err, g.Remove())
		}
	}
	if err := errors.Join(g.watch(), g.limits.Set(l, nil)); err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

// Resize changes the CPU and memory limits of a group. Its processes continue to run.
func (r *Run) Resize(g *Group, l experiment.Limits) error {
	if err := errors.Join(CheckLimits(l), r.Check(l)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return g.limits.Set(l, func() error {
		for _, h := range r.homes {
			for _, c := range h.Controllers {
				for _, s := range resettings(h.Version, c, l) {
					if err := h.apply(path.Join(h.dir, g.name), s); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// enterCPUSet makes the run's directory in the cpuset hierarchy of v1. A cpuset accepts
// no process before it has CPUs and memory nodes.
func (r *Run) enterCPUSet() error {
	for _, h := range r.later {
		if err := r.enter(h); err != nil {
			return fmt.Errorf("make a cpuset in %s: %w", h.Dir, err)
		}
		in := r.homes[len(r.homes)-1]
		for _, what := range []string{"cpus", "mems"} {
			if err := inherit(in.dir, what); err != nil {
				return fmt.Errorf("make a cpuset in %s: %w", h.Dir, err)
			}
		}
	}
	r.later = nil
	return nil
}

// inherit copies the effective CPUs or memory nodes of the parent of a v1 cpuset.
func inherit(dir, what string) error {
	text, err := os.ReadFile(path.Join(path.Dir(dir), "cpuset.effective_"+what))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(path.Join(path.Dir(dir), "cpuset."+what))
	}
	if err != nil {
		return err
	}
	return set(dir, "cpuset."+what, strings.TrimSpace(string(text)))
}

// limit sets the limits of a new group in this home.
func (h *home) limit(dir string, l experiment.Limits, weight int) error {
	for _, c := range h.Controllers {
		if c == cgroup.CPUSet && h.Version == cgroup.V1 {
			if err := errors.Join(inherit(dir, "mems"), inherit(dir, "cpus")); err != nil {
				return err
			}
		}
		for _, s := range settings(h.Version, c, l) {
			if err := h.apply(dir, s); err != nil {
				return err
			}
		}
		if c == cgroup.CPU && weight > 1 {
			if err := h.apply(dir, weigh(h.Version, weight)); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply writes a setting. Its error explains a refusal.
func (h *home) apply(dir string, s setting) error {
	err := set(dir, s.file, s.value)
	if err == nil || s.optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s: write %s to %s: %w%s", s.what, s.value, path.Join(dir, s.file), err, h.hint(s, err))
}

// End kills and removes all remaining groups of the run, moves the caller back to its
// group and releases the ledger. If another run prevents the move, an empty directory
// and the ledger remain for [Sweep]. The ledger also remains if a folder was not
// removed.
func (r *Run) End() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later = nil
	err := r.leave(0)
	if errors.Is(err, errInUse) {
		return r.ledger.close(false)
	}
	return errors.Join(err, r.ledger.close(err == nil && r.folders == 0))
}

// Check reports a limit that cannot be met here: its controller is missing, or a parent
// group of this process has a lower limit. v1 would refuse that; v2 would accept it, and
// the service could never use its limit.
func (r *Run) Check(l experiment.Limits) error {
	switch {
	case len(r.homes) == 0: // see Look
		return nil
	case l.Memory != 0 && !r.Has(cgroup.Memory):
		return errors.New("limit memory: the memory controller of cgroups is not available here (on some systems the kernel needs cgroup_enable=memory); leave the memory limit out")
	case l.CPUSet != "" && !r.Has(cgroup.CPUSet):
		return errors.New("confine to CPUs: the cpuset controller of cgroups is not available here; leave the cpuset out")
	}
	above, err := r.above()
	if err != nil {
		return err
	}
	cpu, memory := above.CPULimit(), above.MemoryLimit()
	switch {
	case cpu.State == cgroup.Limited && float64(l.CPUMillis) > 1000*cpu.CPUs:
		return fmt.Errorf("limit CPU to %dm: %s, in which millicore runs, is itself limited to %gm; lower the limit, or run elsewhere", l.CPUMillis, cpu.Dir, 1000*cpu.CPUs)
	case memory.State == cgroup.Limited && l.Memory > memory.Bytes:
		return fmt.Errorf("limit memory to %d bytes: %s, in which millicore runs, is itself limited to %d; lower the limit, or run elsewhere", l.Memory, memory.Dir, memory.Bytes)
	}
	return nil
}

// above is the parent group of the run's directories.
func (r *Run) above() (cgroup.Group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var dirs []string
	for _, h := range r.homes {
		dirs = append(dirs, h.Dir)
	}
	return cgroup.Host().At(dirs...)
}
