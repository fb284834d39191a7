package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// local is the platform.
type local struct {
	options Options
	run     *group.Run
	ports   ports.Set

	mu     sync.Mutex
	parts  map[part]struct{} // started and not yet stopped
	names  int               // groups so far: names are never reused
	warned map[string]bool
	closed bool

	users   sync.Mutex
	runners map[[2]string]*runner // by the name of the unit and its RunAs
}

// part is a running unit, an agent or a folder.
type part interface{ end() error }

// New returns the platform of this machine, after it removed what dead runs left. If
// processes cannot be limited here, the error names what to do instead.
//
// On a systemd host with cgroup v2 New may replace this process by the same command
// in a delegated scope: call it before anything is started, written, or read from
// standard input.
func New(o Options) (platform.Platform, error) {
	o = o.filled()
	if !o.DryRun {
		o.clean()
	}
	facts, err := group.Survey()
	if err != nil {
		return nil, err
	}
	way, err := facts.Way()
	if err != nil {
		return nil, err
	}
	switch {
	case o.DryRun:
		return &local{options: o, run: group.Look(way)}, nil
	case len(way.Rerun) > 0:
		return nil, way.Exec()
	}
	run, err := group.Begin(way, o.State)
	if err != nil {
		return nil, err
	}
	// What this program starts for itself, such as `python3 --version` or initdb, is in no
	// group. By the mark Sweep finds it if this run is killed.
	if err := os.Setenv(group.MarkVariable, run.OwnMark()); err != nil {
		return nil, errors.Join(err, run.End())
	}
	return &local{options: o, run: run, parts: map[part]struct{}{}}, nil
}

// clean removes what dead runs left, and notes it.
func (o Options) clean() {
	if cleaned, err := Clean(o); err != nil {
		o.Note(err.Error())
	} else if n := len(cleaned.Removed); n > 0 {
		o.Note(fmt.Sprintf("removed %d control groups, folders and processes that a killed run left", n))
	}
}

// Clean removes what dead runs left. It does not touch living runs, and what does not
// certainly belong to a run.
func Clean(o Options) (Cleaned, error) {
	swept, err := group.Sweep(o.filled().State)
	return Cleaned(swept), err
}

func (o Options) filled() Options {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.State == "" {
		o.State = group.DefaultState()
	}
	if o.RestartAfter == 0 {
		o.RestartAfter = supervise.RestartAfter
	}
	return o
}

// Name is the platform's name in --on.
func (*local) Name() string { return "local" }

// Check reports what of the experiment cannot run here.
func (l *local) Check(e *experiment.Experiment) error {
	errs := []error{e.NeedsNoCluster()}
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Service.Image != "" {
			errs = append(errs, fmt.Errorf("service %q is an image: use --on docker or --on kubernetes, or set command", c.Service.Name))
		}
		if c.Service.Autoscale != nil {
			errs = append(errs, fmt.Errorf("service %q: autoscale needs --on kubernetes; or set limits.replicas", c.Service.Name))
		}
		if err := l.checkLimits(c.Limits); err != nil {
			errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
		}
		if err := checkUser(c.Service.User); err != nil {
			errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
		}
		if err := ports.Check(c.Service.Port, c.Service.FindPort, c.Limits.Replicas); err != nil {
			errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
		} else if c.Service.Port != 0 {
			if err := ports.Unused(c.Service.Port); err != nil {
				errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
			}
		}
		for _, d := range c.Service.Dependencies {
			if d.Image != "" {
				errs = append(errs, fmt.Errorf("dependency %q is an image: use --on docker or --on kubernetes, or set command or url", d.Name))
			}
			if err := checkUser(d.User); err != nil {
				errs = append(errs, fmt.Errorf("dependency %q: %w", d.Name, err))
			}
			if err := l.checkLimits(d.Limits); err != nil {
				errs = append(errs, fmt.Errorf("dependency %q: %w", d.Name, err))
			}
		}
	}
	if slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Load.Target() != nil }) {
		_, err := FindAgent(l.options.Agent)
		errs = append(errs, err)
	}
	return supervise.JoinDistinct(errs)
}

func (l *local) checkLimits(limits experiment.Limits) error {
	if err := group.CheckLimits(limits); err != nil {
		return err
	}
	if limits.PIDs != 0 && !l.run.Has(cgroup.PIDs) {
		l.warn("limits.pids has no effect: the pids controller of cgroups is not available here")
	}
	return l.run.Check(limits)
}

// Start starts all replicas of a unit and returns when they are ready. The context
// bounds the start only.
func (l *local) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	r, err := l.startUnit(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", u.Name, err)
	}
	return r, nil
}

// Agent starts an agent in a group without limits. The context bounds the start only.
func (l *local) Agent(ctx context.Context, trial, index int) (platform.Agent, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := l.startAgent(trial, index)
	if err != nil {
		return nil, fmt.Errorf("start agent %d: %w", index, err)
	}
	return a, nil
}

// Close stops and removes everything that is left.
func (l *local) Close() error {
	l.mu.Lock()
	if l.closed || l.options.DryRun {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	var left []part
	for p := range l.parts {
		left = append(left, p)
	}
	l.mu.Unlock()
	isFolder := func(p part) bool { _, is := p.(*folder); return is }
	running := slices.DeleteFunc(slices.Clone(left), isFolder)
	errs := supervise.Each(len(running), func(i int) error { return running[i].end() })
	for _, p := range left {
		if isFolder(p) { // its users have ended now
			errs = append(errs, p.end())
		}
	}
	errs = append(errs, l.run.End())
	// An earlier run may have left something for this one.
	if _, err := Clean(l.options); err != nil {
		l.options.Note(err.Error())
	}
	return errors.Join(errs...)
}

// add registers a part, so that Close ends it.
func (l *local) add(p part) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.New("the platform is closed")
	}
	l.parts[p] = struct{}{}
	return nil
}

func (l *local) drop(p part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.parts, p)
}

// makeGroup makes a group whose name begins with its purpose.
func (l *local) makeGroup(what string, limits experiment.Limits, weight int) (*group.Group, *meter.Meter, error) {
	l.mu.Lock()
	l.names++
	name := fmt.Sprintf("%s-%d", supervise.SafeName(what), l.names)
	l.mu.Unlock()
	g, err := l.run.Make(name, limits, weight)
	if err != nil {
		return nil, nil, err
	}
	m, err := meter.New(g, limits)
	if err != nil {
		return nil, nil, errors.Join(err, g.Remove())
	}
	return g, m, nil
}

// warn notes something once.
func (l *local) warn(text string) {
	l.mu.Lock()
	before := l.warned[text]
	if l.warned == nil {
		l.warned = map[string]bool{}
	}
	l.warned[text] = true
	l.mu.Unlock()
	if !before {
		l.options.Note(text)
	}
}
