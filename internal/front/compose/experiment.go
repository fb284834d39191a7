package compose

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/platform"
)

// This file has compose files as experiment files name them.

// Keys are what the service has, as keys of a service of an experiment. What an experiment has
// no keys for, the platform of Beside adds.
func (p *Project) Keys() map[string]any {
	s := &p.Service
	keys := map[string]any{"compose": p.Files, "service": s.Name, "image": s.Image, "limits": p.Limits(), "env": s.Env}
	if len(s.Args) > 0 {
		keys["args"] = s.Args
	}
	if port := p.Port(); port != 0 {
		keys["port"] = port
	}
	if s.Timeout > 0 {
		keys["ready_timeout"] = s.Patience()
	}
	var beside []any
	for _, need := range p.Running() { // the platform has started them
		beside = append(beside, map[string]any{"name": need.Unit, "image": need.Image})
	}
	if len(beside) > 0 {
		keys["dependencies"] = beside
	}
	return keys
}

// Limits are those of the service, as keys of an experiment's limits.
func (p *Project) Limits() map[string]string {
	all := map[string]string{}
	if p == nil {
		return all
	}
	s := &p.Service
	if s.CPU > 0 {
		all["cpu"] = strconv.FormatInt(int64(math.Round(s.CPU*1000)), 10) + "m"
	}
	if s.Memory > 0 {
		all["memory"] = strconv.FormatInt(s.Memory, 10)
	}
	if s.PIDs > 0 {
		all["pids"] = strconv.Itoa(s.PIDs)
	}
	return all
}

// Port is the only one that the file names; 0: it names none, or several.
func (p *Project) Port() int {
	if p == nil || len(p.Service.Ports) != 1 {
		return 0
	}
	return p.Service.Ports[0]
}

// From are the files as an experiment file in a folder names them.
func (p *Project) From(folder string) (any, error) {
	names := slices.Clone(p.Files)
	for i, name := range names {
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			return nil, err
		}
		names[i] = relative
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return names, nil
}

// Expand is the file.Expand of an experiment that is built for the project.
func (p *Project) Expand([]string, string) (map[string]any, []error) { return p.Keys(), nil }

// Expander reads compose files for an experiment file in a folder.
func Expander(folder string) file.Expand {
	var first *Project
	return func(files []string, service string) (map[string]any, []error) {
		for i, name := range files {
			if !filepath.IsAbs(name) {
				files[i] = filepath.Join(folder, name)
			}
		}
		p, err := readFor(context.Background(), files, service, asKeys)
		if all, joined := err.(interface{ Unwrap() []error }); joined {
			return nil, all.Unwrap()
		}
		switch {
		case err != nil:
			return nil, []error{err}
		case first == nil:
			first = p
		case first.Service.Name != p.Service.Name || !slices.Equal(first.Files, p.Files):
			return nil, []error{fmt.Errorf("the services of compose files of one experiment are one of theirs in several settings: another service here is %s of %s; write a second experiment", first.Service.Name, filepath.Base(first.Files[0]))}
		}
		return p.Keys(), nil
	}
}

// Beside is a platform beside whose services of compose files run what they depend on. The
// platform itself has no such services, or what they depend on runs there already.
func Beside(ctx context.Context, on platform.Platform, e *experiment.Experiment, note func(string)) (platform.Platform, error) {
	if _, runs := platform.As[*beside](on); runs {
		return on, nil
	}
	var only []string
	var p *Project
	for i := range e.Cells {
		s := &e.Cells[i].Service
		if len(s.Compose) == 0 {
			continue
		}
		if only = append(only, s.Name); p == nil {
			var err error
			if p, err = readFor(ctx, s.Compose, s.Of, asKeys); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Compose[0], err)
			}
		}
	}
	if p == nil {
		return on, nil
	}
	if err := p.Fetch(ctx, on); err != nil {
		return nil, err
	}
	return p.start(ctx, on, note, only)
}
