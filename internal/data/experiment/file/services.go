package file

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// readService reads one service in a cell with these limits; limited is false
// where they were wrong.
func (d *decoder) readService(s *named[service], limits *experiment.Limits, limited bool) experiment.Service {
	d.failed, d.late = false, nil
	out := experiment.Service{Name: s.name}
	d.structure(s.node, &field{}, reflect.ValueOf(&out).Elem())
	if out.Port == findPort {
		out.Port, out.FindPort = 0, true
	}
	uses, known := d.late, []string{"port"}
	for i := range out.Dependencies {
		dep, n := &out.Dependencies[i], s.node.child("dependencies").items[i]
		dep.Builtin = builtin(n)
		dep.Unset, dep.Public, dep.EnvFrom = d.unset(n.child("env")), publicNames(n.child("env")), d.envFrom(n.child("env"))
		dep.Dir = workingFolder(n, d.folder, dep.Dir)
		dep.Limits = d.readLimits(n.child("limits"))
		d.checkLate(usesBelow(uses, n.path), known, &dep.Limits, !d.failed)
		if dep.Builtin == experiment.Neighbour && dep.Limits.CPUMillis == 0 && !d.failed {
			d.wrong(n.child("name"), "a neighbour uses the CPU of its limit, which is missing; set limits.cpu of it, as in {name: neighbour, limits: {cpu: 2}}")
		}
		if dep.Limits.Replicas > 1 {
			d.wrong(n.find("limits.replicas"), "a dependency has one replica")
		}
		known = append(known, laterNames(n)...)
	}
	for _, key := range []string{"command", "args", "env"} {
		d.checkLate(usesBelow(uses, s.node.child(key).path), known, limits, limited)
	}
	d.checkProgram(s.node)
	out.Unset, out.Public, out.EnvFrom = d.unset(s.node.child("env")), publicNames(s.node.child("env")), d.envFrom(s.node.child("env"))
	out.Dir = workingFolder(s.node, d.folder, out.Dir)
	for i, text := range out.Volumes {
		if v, err := experiment.SplitVolume(text); err == nil && v.HasPath() && !filepath.IsAbs(v.Source) {
			if v.Source = filepath.Join(d.folder, v.Source); !filepath.IsAbs(v.Source) && !strings.HasPrefix(v.Source, ".") {
				v.Source = "./" + v.Source
			}
			out.Volumes[i] = v.String()
		}
	}
	slices.SortStableFunc(out.Actions, func(a, b experiment.Action) int { return cmp.Compare(a.At, b.At) })
	return out
}

// usesBelow are those of some names that stand below a path.
func usesBelow(uses []reference, path string) []reference {
	return slices.DeleteFunc(slices.Clone(uses), func(use reference) bool {
		return !strings.HasPrefix(use.node.path, path+".") && !strings.HasPrefix(use.node.path, path+"[")
	})
}

// checkLate finds names that the platform does not know when it starts the service
// or the dependency.
func (d *decoder) checkLate(uses []reference, known []string, limits *experiment.Limits, limited bool) {
	vars := experiment.LimitVars(*limits)
	for _, use := range uses {
		switch {
		case slices.Contains(known, use.name):
		case slices.Contains(d.keysOfVary(), use.name): // its values are invalid, which is reported
		case !slices.Contains(experiment.LimitNames, use.name):
			valid := slices.Concat(d.cell.names, known, experiment.LimitNames)
			d.wrong(use.node, "unknown name ${%s}; %s", use.name, spelling.Hint(use.name, "known names", valid))
		case limited && vars[use.name] == "":
			d.wrong(use.node, "${%s} has no value without this limit; set %s, or write a number instead", use.name, use.name)
		}
	}
}

// laterNames are the names that the lab knows after a dependency has started.
func laterNames(dependency *node) []string {
	name := dependency.child("name").text
	if dependency.child("url").given() {
		return []string{name + ".url"}
	}
	names := []string{name + ".address", name + ".host", name + ".port"}
	if b := builtin(dependency); b != "" && b != experiment.Neighbour {
		names = append(names, name+".url")
	}
	return names
}

// workingFolder is the folder of a command; an image has its own.
func workingFolder(n *node, folder, dir string) string {
	if !n.child("command").given() || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(folder, dir)
}

// checkProgram refuses a command without a program. Other arguments that are
// nothing but the name of a null are left out.
func (d *decoder) checkProgram(n *node) {
	words := &field{names: lateNames}
	programs := []*node{n}
	programs = append(programs, n.child("dependencies").items...)
	for _, program := range programs {
		items := program.child("command").items
		if len(items) > 0 && (!items[0].given() || d.isNull(items[0], words)) {
			d.wrong(items[0], "null, but a program is required")
		}
	}
}

// unset are the variables that are null.
func (d *decoder) unset(env *node) []string {
	var names []string
	for _, e := range env.entries {
		value := e.value
		if public(value) {
			value = value.child(publicKey)
		}
		if !d.has(value) {
			names = append(names, e.key)
		}
	}
	return names
}

// checkPort finds replicas that could not all have the service's port.
// Containers of an image may: each has an address of its own.
func (d *decoder) checkPort(s, limits *node, replicas int) {
	port := s.child("port")
	if s.child("image").given() && port.text != "find" {
		return
	}
	if port.sound() && replicas > 1 {
		d.conflict(port.path, []*node{port, limits.child("replicas")}, "%d replicas would need the same port; use one replica, or leave port out and let each listen on its ${port}", replicas)
	}
}

// checkAutoscale checks how a service is scaled in a cell, and starts the cell at
// the fewest replicas.
func (d *decoder) checkAutoscale(cell *experiment.Cell, s, limits *node) {
	a, n := cell.Service.Autoscale, s.child("autoscale")
	lowest, highest, cpu := n.child("min"), n.child("max"), n.child("cpu")
	if a == nil || lowest.bad || highest.bad || cpu.bad {
		cell.Service.Autoscale = nil
		return
	}
	if a.Max > mostReplicas {
		d.wrong(highest, "%d are more than %d", a.Max, mostReplicas)
		return
	}
	if highest.given() && a.Max <= a.Min {
		d.conflict(n.path, []*node{highest, lowest}, "max must be above min: %d to %d replicas leave nothing to scale", a.Min, a.Max)
		return
	}
	if replicas := limits.child("replicas"); d.has(replicas) {
		d.conflict("", []*node{lowest, highest, replicas}, "%s contradicts %s, which fixes the number of replicas; leave one out", n.path, replicas.path)
	}
	// The share is one of the request, which is the limit where none is given.
	requested := d.doc.Kubernetes.Requests.CPUMillis
	if (requested == nil || *requested == 0) && cell.Limits.CPUMillis == 0 && !limits.child("cpu").bad {
		d.conflict(cpu.path, []*node{cpu, limits.child("cpu")}, "%d%% needs a CPU request or a CPU limit; set limits.cpu or kubernetes.requests.cpu", a.CPUPercent)
	}
	cell.Limits.Replicas = a.Min
}

// checkActions finds actions after the end of the measured part.
func (d *decoder) checkActions(s *node, cell *experiment.Cell) {
	part := d.out.Measure.Measured(cell)
	if part == 0 {
		return
	}
	duration := kindNamed("duration")
	for _, n := range s.child("actions").items {
		at := n.child("at")
		text, ok := d.text(at, &field{names: cellNames, optional: true})
		if !ok {
			continue
		}
		if value, err := duration.read(text); err == nil && value.(time.Duration) >= part {
			d.wrong(at, "%s is after the end of the measured part, which lasts %s", span.Text(value.(time.Duration)), span.Text(part))
		}
	}
}

// checkServices checks the services without the cells.
func (d *decoder) checkServices() {
	for i := range d.doc.Services {
		s := &d.doc.Services[i]
		n := s.node
		if n.child("workload").given() {
			if dir := n.child("dir"); dir.given() {
				d.report(dir, "a workload has no folder of its own; leave dir out")
			}
			if port := n.child("port"); port.given() {
				d.report(port, "a workload listens on ${port}; leave port out")
			}
		}
		if !n.child("image").given() {
			for _, key := range []string{"args", "volumes"} {
				if one := n.child(key); one.given() {
					d.report(one, "%s are those of an image; leave them out", key)
				}
			}
		}
		names := map[string]bool{s.name: true}
		if one := n.child("service"); one.given() && !n.child("compose").given() {
			d.report(one, "it is that of compose files; name them with compose")
		}
		for _, dep := range n.child("dependencies").items {
			d.checkDependency(dep, names)
		}
	}
}

// checkDependency checks one dependency; names are those taken before it.
func (d *decoder) checkDependency(n *node, names map[string]bool) {
	name := n.child("name")
	if name.kind == scalarNode && !name.bad {
		if names[name.text] {
			d.report(name, "%q is already the name of the service or of another dependency of it", name.text)
		}
		names[name.text] = true
	}
	switch url := n.child("url"); {
	case url.given():
		d.noneOf(n, []string{"dir", "env", "user", "ready", "ready_timeout", "limits"}, "%s: a dependency with a url already runs", url.path)
	case builtin(n) != "":
		d.noneOf(n, []string{"dir", "env", "user", "ready"}, "%s: Millicore starts %s itself", name.path, name.text)
	}
}

// noneOf reports keys of a map that contradict the rest of it.
func (d *decoder) noneOf(n *node, keys []string, format string, args ...any) {
	for _, key := range keys {
		if one := n.child(key); one.given() {
			d.add(one.at, "", "%s; leave %s out", fmt.Sprintf(format, args...), key)
		}
	}
}
