package lab

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/millicore/millicore/internal/database"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// versions adds those of what the services run on to those of the machine's
// runtimes, of which those of images have nothing.
func (l *Lab) versions(ctx context.Context, versions map[string]string) {
	if l.stock != nil {
		maps.DeleteFunc(versions, func(name, _ string) bool { return name != "go" })
		maps.Copy(versions, l.stock.versions)
		return
	}
	maps.Copy(versions, l.samples.Versions)
	databaseVersions(ctx, l.Experiment, versions)
}

// databaseVersions adds the versions of the databases that an experiment has
// started to those of the runtimes.
func databaseVersions(ctx context.Context, e *experiment.Experiment, versions map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for i := range e.Cells {
		for _, d := range e.Cells[i].Service.Dependencies {
			if d.Builtin == "" || versions[d.Builtin] != "" {
				continue
			}
			if version := database.Version(ctx, d.Builtin); version != "" {
				versions[d.Builtin] = version
			}
		}
	}
}

// startDependency starts one of the service's dependencies, and adds to vars
// what the service and later dependencies may call it by.
func (t *trial) startDependency(ctx context.Context, d *experiment.Dependency, vars map[string]string, logs string) error {
	if d.URL != "" {
		vars[d.Name+".url"] = d.URL
		return nil
	}
	var running platform.Unit
	if d.Builtin != "" {
		server, err := t.lab.databases.Start(ctx, d, t.number, logs)
		if err != nil {
			return fmt.Errorf("start %q: %w", d.Name, err)
		}
		t.units = append(t.units, server)
		vars[d.Name+".url"] = server.URL()
		running = server
	} else {
		unit, err := t.unit(ctx, platform.UnitSpec{Trial: t.number, Name: d.Name, Command: d.Command, Image: d.Image,
			Dir: d.Dir, Env: d.Env, Unset: d.Unset, Vars: withLimits(vars, d.Limits), Limits: d.Limits, Ready: d.Ready, Logs: logs})
		if err != nil {
			return err
		}
		running = unit
	}
	t.deps[d.Name] = running
	t.watch(d.Name, roleDependency, running.Replicas())
	addVars(vars, d.Name, running.Replicas()[0].Address())
	return nil
}
