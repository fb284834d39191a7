package lab

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/lab/profile"
	"github.com/millicore/millicore/internal/platform"
)

// profiling is the profile of an extra trial, so that no measured trial pays for it.
type profiling struct {
	protocol string // of the service's load
	dir      string
	info     runtimes.Info
	err      error // why the profile is missing or incomplete
}

// profileSeconds is the duration of a CPU profile: at 100 samples per second, enough to
// distinguish functions that use 1% of the CPU.
const profileSeconds = 10

// profileTrial is the duration of the measured part of a trial for profiles: a profile
// begins shortly after the load, and must end before it.
const profileTrial = (profileSeconds + 4) * time.Second

// detectRuntime detects the runtime of a cell's service, for its profile.
func (l *Lab) detectRuntime(cell int, replica platform.Replica) {
	if _, known := l.runtimes[cell]; known {
		return
	}
	if info, err := runtimes.DetectTree(replica.PIDs(), 0); err == nil {
		l.runtimes[cell] = info
	}
}

// profiles runs one more trial of each cell that can be profiled: at its breaking point
// if a search has found it, otherwise under its own load. number is that of the first
// trial; the result is that of the next one.
func (l *Lab) profiles(ctx context.Context, w *record.Writer, number int, q *queue, p *pace) (next int, err error) {
	for i := range l.Experiment.Cells {
		if ctx.Err() != nil {
			return number, nil
		}
		e, cell, why := l.profiled(i)
		if why != "" {
			l.note("%s: no profile: %s", l.Experiment.LabelOf(&l.Experiment.Cells[i]), why)
			continue
		}
		prof, err := l.profiling(cell)
		if err != nil {
			return number, err
		}
		planned := attempt{Trial: experiment.Trial{Cell: i}}
		t := newTrial(l, w, planned, number)
		t.exp, t.cell, t.profile, t.progress = e, cell, prof, newReporter(l, planned, number, q, p)
		outcome, why, err := t.run(ctx)
		if err != nil {
			return number, err
		}
		if why != "" {
			t.note("%s: %s", outcome, why)
		}
		number++
	}
	return number, nil
}

// profiled returns the experiment and the cell of a trial for profiles, or why there
// can be none.
func (l *Lab) profiled(i int) (*experiment.Experiment, *experiment.Cell, string) {
	e, cell := *l.Experiment, l.Experiment.Cells[i]
	switch info := l.runtimes[i]; info.Runtime {
	case runtimes.Go, runtimes.Node:
	case "":
		return nil, nil, "its processes could not be read"
	default:
		return nil, nil, fmt.Sprintf("profiles are supported for Go and Node.js, not for %s", info)
	}
	switch s := &cell.Service; {
	case l.runtimes[i].Runtime != runtimes.Node:
	case s.User == "": // with sudo it is otherwise the user who called it, while the record is root's
		s.User = experiment.Caller
	case s.User != experiment.Caller:
		return nil, nil, fmt.Sprintf("Node.js writes its profile into the record, which only the user of millicore can enter, and it runs as %s; set services.%s.user to caller for a profile", s.User, s.Name)
	}
	if cell.Load.Find {
		if len(l.found[i]) == 0 {
			return nil, nil, "no breaking point was found"
		}
		cell.Load.Find = false
		found := slices.Sorted(slices.Values(l.found[i]))
		at := &experiment.Target{Value: found[len(found)/2]}
		if cell.Load.Users != nil {
			cell.Load.Users = at
		} else {
			cell.Load.Rate = at
		}
	}
	if e.Measure.Measured(&cell) > 0 && cell.Load.Target().Length() == 0 {
		e.Measure.Duration = profileTrial
	}
	return &e, &cell, ""
}

// profiling creates the folder, and configures the service of the cell, which is a
// copy, so that a profile can be taken.
func (l *Lab) profiling(cell *experiment.Cell) (*profiling, error) {
	dir, err := filepath.Abs(filepath.Join(l.Dir, record.ProfileDir(cell.Index)))
	if err == nil {
		err = safefile.MkdirAll(dir, record.DirMode)
	}
	if err != nil {
		return nil, fmt.Errorf("keep profiles: %w", err)
	}
	p := &profiling{dir: dir, info: l.runtimes[cell.Index], protocol: cell.Load.Protocol}
	s := &cell.Service
	env := maps.Clone(s.Env)
	if env == nil {
		env = map[string]string{}
	}
	if r, ok := s.EnvFrom["NODE_OPTIONS"]; ok && p.info.Runtime == runtimes.Node {
		env["NODE_OPTIONS"], s.EnvFrom = r.Value, maps.Clone(s.EnvFrom)
		delete(s.EnvFrom, "NODE_OPTIONS")
	}
	switch {
	case p.info.Runtime == runtimes.Node:
		if env["NODE_OPTIONS"], err = profile.PrepareNode(dir, env["NODE_OPTIONS"]); err != nil {
			return nil, err
		}
		s.Unset = slices.DeleteFunc(slices.Clone(s.Unset), func(name string) bool { return name == "NODE_OPTIONS" })
	case s.Workload != "":
		env["PPROF"] = "1" // workloads/README.md
	}
	s.Env = env
	return p, nil
}

// take fetches the profile of a Go service during the load, from begin on. A Node.js
// service writes its profile when it is stopped.
func (p *profiling) take(ctx context.Context, begin time.Time, address string) {
	if p.info.Runtime != runtimes.Go {
		return
	}
	select {
	case <-time.After(time.Until(begin)):
		p.err = profile.CollectGo(ctx, p.protocol, address, p.dir, profileSeconds)
	case <-ctx.Done():
	}
}

// missing is why the profile is missing or incomplete; "": it is complete.
func (p *profiling) missing() string {
	if p.err != nil {
		return p.err.Error()
	}
	return ""
}
