package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/database"
	"github.com/millicore/millicore/internal/platform/workload"
)

// prepare finds the experiment's sample services and installs what they need, before
// the first trial. It returns the services that are not available on this machine. It is
// an error if none is available.
func (l *Lab) prepare(ctx context.Context) ([]record.Skipped, error) {
	if on, ok := platform.As[platform.ImageRunner](l.Platform); ok {
		if err := l.fetchImages(ctx, on); err != nil {
			return nil, err
		}
	} else {
		finder := workload.Finder{Programs: l.Programs.Dir, Progress: func(line string) { l.note("%s", line) }}
		var err error
		if l.samples, err = finder.Find(ctx, l.workloads()); err != nil {
			return nil, nil // ctx has ended: an interruption is no error
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	skipped := l.skipped()
	if len(skipped) == 0 || len(l.planned(skipped)) > 0 {
		for _, s := range skipped {
			l.note("service %q is skipped: %s", s.Service, s.Reason)
		}
		return skipped, nil
	}
	var reasons []error
	for _, s := range skipped {
		reasons = append(reasons, fmt.Errorf("service %q: %s", s.Service, s.Reason))
	}
	return nil, fmt.Errorf("run %s: none of its services is available on this machine: %w", l.Experiment.Name, errors.Join(reasons...))
}

// skipped are the services that are not available, in the order of the file.
func (l *Lab) skipped() []record.Skipped {
	var all []record.Skipped
	for i := range l.Experiment.Cells {
		s := &l.Experiment.Cells[i].Service
		if err := l.missing(s); err != nil && !skips(all, s.Name) {
			all = append(all, record.Skipped{Service: s.Name, Reason: err.Error()})
		}
	}
	return all
}

// missing reports which runtime or database of a service is missing on this machine,
// and how to install it.
func (l *Lab) missing(s *experiment.Service) error {
	if err := l.samples.Missing[s.Workload]; err != nil {
		return err
	}
	for _, d := range s.Dependencies {
		if d.Builtin == "" || d.Builtin == experiment.Neighbour || l.stock != nil {
			continue
		}
		if err := database.Check(d.Builtin); err != nil {
			return err
		}
	}
	return nil
}

func skips(skipped []record.Skipped, service string) bool {
	return slices.ContainsFunc(skipped, func(s record.Skipped) bool { return s.Service == service })
}

// planned is the plan without the trials of services that are skipped.
func (l *Lab) planned(skipped []record.Skipped) []experiment.Trial {
	return slices.DeleteFunc(l.Experiment.Plan(l.Seed), func(t experiment.Trial) bool {
		return skips(skipped, l.Experiment.Cells[t.Cell].Service.Name)
	})
}

// command is the command of a service, or the arguments of its image.
func (l *Lab) command(s *experiment.Service) ([]string, error) {
	switch {
	case s.Image != "":
		return s.Args, nil
	case s.Workload == "":
		return s.Command, nil
	}
	command, ok := l.samples.Commands[s.Workload]
	if !ok {
		return nil, fmt.Errorf("start service %q: the sample service %q is not on this machine", s.Name, s.Workload)
	}
	return command, nil
}
