package lab

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/profile"
	"github.com/millicore/millicore/internal/record"
)

// profiling is what an extra trial does beside its load: no trial that is
// measured pays for a profile.
type profiling struct {
	protocol string // that the service's load speaks
	dir      string
	info     runtimes.Info
	err      error // why there is none, or not all
}

// profileSeconds is the length of a CPU profile: at a hundred samples a second
// and CPU enough to tell functions of a percent.
const profileSeconds = 10

// profileTrial is the measured part of a trial for profiles: fetching begins a
// little after the load, and ends after the profile.
const profileTrial = (profileSeconds + 4) * time.Second

// meet tells what a cell's service runs on, for its profile.
func (l *Lab) meet(cell int, replica platform.Replica) {
	if _, known := l.met[cell]; known {
		return
	}
	if info, err := runtimes.DetectTree(replica.PIDs(), 0); err == nil {
		l.met[cell] = info
	}
}

// profiles runs one more trial of each cell that can be profiled: at its
// breaking point where that was searched and found, else under its own load.
func (l *Lab) profiles(ctx context.Context, w *record.Writer, number int, q *queue, p *pace) error {
	for i := range l.Experiment.Cells {
		if ctx.Err() != nil {
			return nil
		}
		e, cell, why := l.profiled(i)
		if why != "" {
			l.note("%s: no profile: %s", l.Experiment.Cells[i].Label(), why)
			continue
		}
		prof, err := l.profiling(cell)
		if err != nil {
			return err
		}
		planned := attempt{Trial: experiment.Trial{Cell: i}}
		t := &trial{lab: l, writer: w, exp: e, number: number, planned: planned, cell: cell, profile: prof,
			show: l.progress(planned, number, q, p)}
		outcome, why, err := t.run(ctx)
		if err != nil {
			return err
		}
		if why != "" {
			l.note("trial %d (%s): %s: %s", number, cell.Label(), outcome, why)
		}
		number++
	}
	return nil
}

// profiled is the experiment and the cell of a trial for profiles, or why there
// can be none.
func (l *Lab) profiled(i int) (*experiment.Experiment, *experiment.Cell, string) {
	e, cell := *l.Experiment, l.Experiment.Cells[i]
	switch info := l.met[i]; info.Runtime {
	case runtimes.Go, runtimes.Node:
	case "":
		return nil, nil, "its processes could not be looked at"
	default:
		return nil, nil, fmt.Sprintf("profiles are taken of Go and Node.js, not of %s", info)
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

// profiling makes the folder, and changes the service of the cell, which is the
// trial's own, so that a profile can be taken.
func (l *Lab) profiling(cell *experiment.Cell) (*profiling, error) {
	dir, err := filepath.Abs(filepath.Join(l.Dir, record.ProfileDir(cell.Index)))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("keep profiles: %w", err)
	}
	p := &profiling{dir: dir, info: l.met[cell.Index], protocol: cell.Load.Protocol}
	s := &cell.Service
	env := maps.Clone(s.Env)
	if env == nil {
		env = map[string]string{}
	}
	switch {
	case p.info.Runtime == runtimes.Node:
		if env["NODE_OPTIONS"], err = profile.PrepareNode(dir, env["NODE_OPTIONS"]); err != nil {
			return nil, err
		}
		s.Unset = slices.DeleteFunc(slices.Clone(s.Unset), func(name string) bool { return name == "NODE_OPTIONS" })
	case s.Workload != "":
		env["PPROF"] = "1" // docs/workload-contract.md
	}
	s.Env = env
	return p, nil
}

// take fetches what is fetched while the load runs, from begin on. A service of
// Node.js writes its profile when it is stopped.
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

// close says why there is no profile, or not all of it; "" where all is well.
func (p *profiling) close() string {
	if p.err != nil {
		return p.err.Error()
	}
	return ""
}
