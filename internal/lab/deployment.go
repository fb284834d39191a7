package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/neighbour"
)

// deployment is what a trial runs on the platform apart from its agents: the service
// and its dependencies. It may stay up for the next trial: between the trials of a
// cell, or between cells that differ in their limits only.
type deployment struct {
	lab   *Lab
	trial int // that started it
	cell  *experiment.Cell
	logs  string // folder of the output

	units        []platform.Unit // in the order of their start
	service      platform.Unit
	starts       []signals.Start // of the service
	dependencies map[string]platform.Unit
	sources      []*source      // of the current trial's sampler
	users        map[string]int // as in record.Trial
}

// start starts the dependencies, and then the service.
func (d *deployment) start(ctx context.Context) error {
	vars := map[string]string{}
	d.dependencies = map[string]platform.Unit{}
	for i := range d.cell.Service.Dependencies {
		if err := d.startDependency(ctx, &d.cell.Service.Dependencies[i], vars); err != nil {
			return err
		}
	}
	s := &d.cell.Service
	command, err := d.lab.command(s)
	if err != nil {
		return err
	}
	start := d.lab.Platform.Start
	if d.cell.Load.Benchmark {
		start = d.lab.startJob
	}
	ready := s.Ready
	ready.Protocol = d.cell.Load.Protocol
	env := s.Environment()
	d.service, d.starts, err = platform.Timed(ctx, start, platform.UnitSpec{Trial: d.trial, Name: s.Name, RunAs: s.User, Command: command, Image: d.lab.image(s),
		Dir: s.Dir, Env: env.Values, Hidden: env.Hidden, Secrets: env.Secrets, Unset: s.Unset, Vars: withLimits(vars, d.cell.Limits), Limits: d.cell.Limits, Ready: ready, Logs: d.logs,
		Port: s.Port, FindPort: s.FindPort, Volumes: s.Volumes, Autoscale: s.Autoscale})
	if err != nil {
		return err
	}
	d.units = append(d.units, d.service)
	d.watch(s.Name, roleService, replicas(d.service))
	return nil
}

// startDependency starts a dependency, and adds to vars the names by which the service
// and later dependencies refer to it.
func (d *deployment) startDependency(ctx context.Context, dep *experiment.Dependency, vars map[string]string) error {
	if dep.URL != "" {
		vars[dep.Name+".url"] = dep.URL
		return nil
	}
	var unit platform.Unit
	switch dep.Builtin {
	case experiment.Neighbour:
		spec, err := neighbour.Unit(dep, d.lab.image(&d.cell.Service), d.trial, d.logs)
		if err == nil {
			unit, err = d.lab.Platform.Start(ctx, spec)
		}
		if err != nil {
			return err
		}
	case experiment.Postgres, experiment.MongoDB:
		server, err := d.lab.databases.Start(ctx, dep, d.trial, d.logs)
		if err != nil {
			return fmt.Errorf("start %q: %w", dep.Name, err)
		}
		vars[dep.Name+".url"] = server.URL()
		unit = server
	default:
		var err error
		env := dep.Environment()
		unit, err = d.lab.Platform.Start(ctx, platform.UnitSpec{Trial: d.trial, Name: dep.Name, Command: dep.Command, Image: dep.Image,
			Dir: dep.Dir, RunAs: dep.User, Env: env.Values, Hidden: env.Hidden, Secrets: env.Secrets, Unset: dep.Unset, Vars: withLimits(vars, dep.Limits), Limits: dep.Limits, Ready: dep.Ready, Logs: d.logs})
		if err != nil {
			return err
		}
	}
	d.units = append(d.units, unit)
	d.dependencies[dep.Name] = unit
	d.watch(dep.Name, roleDependency, unit.Replicas())
	addVars(vars, dep.Name, unit.Replicas()[0].Address())
	return nil
}

// addVars adds the address of a dependency, under its name.
func addVars(vars map[string]string, name, address string) {
	vars[name+".address"] = address
	if host, port, err := net.SplitHostPort(address); err == nil {
		vars[name+".host"], vars[name+".port"] = host, port
	}
}

// withLimits returns vars and the variables of a unit's own limits.
func withLimits(vars map[string]string, l experiment.Limits) map[string]string {
	all := experiment.LimitVars(l)
	maps.Copy(all, vars)
	return all
}

// watch adds replicas to the sampler's sources; a replica that has gone is nil. Each is
// read at once, so that one that dies before the load begins is counted.
func (d *deployment) watch(of string, r role, replicas []platform.Replica) {
	for i, replica := range replicas {
		if replica == nil {
			continue
		}
		s := newSource(of, i, r, replica)
		if c, err := s.read(); err == nil {
			s.last, s.known = c, true
		}
		d.sources = append(d.sources, s)
		if user := userOf(replica); user >= 0 {
			if d.users == nil {
				d.users = map[string]int{}
			}
			d.users[of] = user
		}
	}
}

// userOf is the user of a replica's first process; -1: not known, as on another machine.
func userOf(r platform.Replica) int {
	pids := r.PIDs()
	if len(pids) == 0 {
		return -1
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pids[0]))
	if err != nil {
		return -1
	}
	return proc.ParseStatus(status).User
}

// evicted describes which replica was removed, and why; "": none.
func (d *deployment) evicted() string { return platform.Evicted(d.units) }

// stop stops the units in the reverse order of their start.
func (d *deployment) stop() error {
	if len(d.units) == 0 { // nothing was started, or another trial has it now
		return nil
	}
	ctx, cancel := d.lab.stopping()
	defer cancel()
	var errs []error
	for i := len(d.units) - 1; i >= 0; i-- {
		errs = append(errs, d.units[i].Stop(ctx))
	}
	return errors.Join(errs...)
}
