package file

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/millicore/millicore/internal/experiment"
)

// readService reads one service in a cell. folder is the experiment file's.
func (c *cellReader) readService(name string, s *service, folder string) experiment.Service {
	c.failed = false
	out := experiment.Service{
		Name:     name,
		Workload: s.Workload.value,
		Image:    s.Image.value,
		Dir:      s.Dir.value,
		FindPort: s.Port.value == findPort,
		Ready:    experiment.Ready{Path: s.Ready.value, Timeout: s.ReadyTimeout.value},
	}
	if !out.FindPort {
		out.Port = s.Port.value
	}
	if s.Metrics.given {
		out.Metrics = &experiment.Metrics{Path: s.Metrics.Path.value, Dependency: s.Metrics.Dependency.value}
	}
	late := []string{"port"}
	for i := range s.Dependencies {
		dep := &s.Dependencies[i]
		out.Dependencies = append(out.Dependencies, c.readDependency(dep, late, folder))
		late = append(late, dep.laterNames()...)
	}
	out.Command = c.readCommand(s.Command, late)
	out.Env, out.Unset = c.readEnv(&s.Env, late)
	for i := range s.Actions {
		a := &s.Actions[i]
		if a.At.given && c.absent(&a.At.scalar) {
			continue
		}
		at, _ := read(c, &a.At)
		out.Actions = append(out.Actions, experiment.Action{At: at, Request: c.readRequest(&a.Request)})
	}
	slices.SortStableFunc(out.Actions, func(a, b experiment.Action) int { return cmp.Compare(a.At, b.At) })
	if s.Command != nil {
		out.Dir = workingFolder(folder, out.Dir)
	}
	return out
}

// checkPort finds replicas that could not all have the service's port.
// Containers of an image may: each has an address of its own.
func (c *cellReader) checkPort(s *service, l *limits, replicas int) {
	if s.Image.given && s.Port.value != findPort {
		return
	}
	if s.Port.given && !s.Port.bad && replicas > 1 {
		c.conflict(s.Port.path, []*scalar{&s.Port.scalar, &l.Replicas.scalar}, "%d replicas would want the same port; keep one replica, or leave port out and give each its ${port}", replicas)
	}
}

// readDependency reads one dependency in a cell.
func (c *cellReader) readDependency(dep *dependency, late []string, folder string) experiment.Dependency {
	out := experiment.Dependency{
		Name:    dep.Name.value,
		Builtin: dep.builtin(),
		Image:   dep.Image.value,
		URL:     dep.URL.value,
		Dir:     dep.Dir.value,
		Ready:   experiment.Ready{Path: dep.Ready.value, Timeout: dep.ReadyTimeout.value},
		Limits:  c.readLimits(&dep.Limits),
	}
	if out.Limits.Replicas > 1 {
		c.wrong(&dep.Limits.Replicas.scalar, "a dependency has one replica")
	}
	of := c.limits
	c.limits = c.limitsHere(&out.Limits)
	out.Command = c.readCommand(dep.Command, late)
	out.Env, out.Unset = c.readEnv(&dep.Env, late)
	c.limits = of
	if dep.Command != nil {
		out.Dir = workingFolder(folder, out.Dir)
	}
	return out
}

// laterNames are the names that the lab knows once the dependency is there.
func (dep *dependency) laterNames() []string {
	name := dep.Name.value
	if dep.URL.given {
		return []string{name + ".url"}
	}
	names := []string{name + ".address", name + ".host", name + ".port"}
	if dep.builtin() != "" {
		names = append(names, name+".url")
	}
	return names
}

func workingFolder(folder, dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(folder, dir)
}

// readCommand reads a program and its arguments. An argument that is nothing
// but the name of a null is left out.
func (c *cellReader) readCommand(items []launched, late []string) []string {
	var words []string
	for i := range items {
		item := &items[i]
		if item.bad {
			continue
		}
		if c.absent(&item.scalar) {
			if i == 0 {
				c.wrong(&item.scalar, "null, but it must name a program")
			}
			continue
		}
		words = append(words, c.launched(item, late))
	}
	return words
}

// readEnv reads variables, and the names of those that must be absent.
func (c *cellReader) readEnv(env *mapping[envName, launched], late []string) (set map[string]string, unset []string) {
	for i := range env.entries {
		variable := &env.entries[i]
		if c.absent(&variable.value.scalar) {
			unset = append(unset, variable.name)
			continue
		}
		if set == nil {
			set = make(map[string]string)
		}
		set[variable.name] = c.launched(&variable.value, late)
	}
	return set, unset
}

// checkServices finds what is wrong with the services whatever the cell.
func (d *decoder) checkServices(services []named[service]) {
	for i := range services {
		s := &services[i]
		at := "services." + s.name
		if s.value.Dir.given && s.value.Workload.given {
			d.problems.add(s.value.Dir.at, at+".dir", "a workload has no folder of its own; leave dir out")
		}
		if s.value.Port.given && s.value.Workload.given {
			d.problems.add(s.value.Port.at, at+".port", "a workload takes the port that it is given; leave port out")
		}
		names := map[string]bool{s.name: true}
		for j := range s.value.Dependencies {
			d.checkDependency(&s.value.Dependencies[j], names)
		}
	}
}

// checkDependency checks one dependency; names are those taken before it.
func (d *decoder) checkDependency(dep *dependency, names map[string]bool) {
	if name := dep.Name.value; name != "" {
		if names[name] {
			d.problems.add(dep.Name.at, dep.Name.path, "%q is already the name of the service or of another dependency of it", name)
		}
		names[name] = true
	}
	shape := []givenKey{
		{"dir", dep.Dir.given, dep.Dir.at},
		{"env", dep.Env.given, dep.Env.at},
		{"ready", dep.Ready.given, dep.Ready.at},
	}
	bounds := []givenKey{
		{"ready_timeout", dep.ReadyTimeout.given, dep.ReadyTimeout.at},
		{"limits", dep.Limits.given, dep.Limits.at},
	}
	switch {
	case dep.URL.given:
		d.noneOf(append(shape, bounds...), "%s: what is behind a url already runs", dep.URL.path)
	case dep.builtin() != "":
		d.noneOf(shape, "%s: Millicore starts the database %s in its own way", dep.Name.path, dep.builtin())
	}
}
