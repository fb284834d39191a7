package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/identity"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
	"github.com/millicore/millicore/internal/host/trial"
)

// Patches are the recommended changes as commands for a shell, with comments, and the files
// that the commands name, by their paths in dir. Findings about one object, such as the pods
// of a Deployment, have one file and one command. Of a finding's alternatives the first that
// is a setting of the object is in them; the others are comments.
func Patches(findings []doctor.Finding, dir string) (script string, files map[string]string) {
	files = map[string]string{}
	var parts []string
	for _, o := range objects(findings) {
		parts = append(parts, o.comments+o.commands(dir, files))
	}
	if parts == nil {
		return "# no finding recommends a change\n", files
	}
	return strings.Join(parts, "\n"), files
}

// object is what is configured as one: a workload of Kubernetes, a container, a unit of
// systemd, or else a process.
type object struct {
	*inspect.Process        // the first that a finding is about
	kind, name       string // of a workload; "": not known
	comments         string
	replicas         bool
	containers       []*container
}

// container is a container of a workload, or the object itself, with its changes.
type container struct {
	*inspect.Process
	change doctor.Change
}

// objects groups the findings that recommend changes, in their order.
func objects(findings []doctor.Finding) (all []*object) {
	known := map[string]*object{}
	for i := range findings {
		f := &findings[i]
		if f.Process == nil || f.Level == doctor.Info || len(f.Changes) == 0 {
			continue
		}
		o := &object{Process: f.Process}
		key := f.Process.Node + "/" + cmp.Or(f.Process.ContainerID, f.Process.Container, fmt.Sprint(f.PID))
		if f.Process.Pod != "" && identity.Named(f.Process) {
			o.kind, o.name = identity.Workload(f.Process.Container)
			key = strings.Join([]string{f.Process.Namespace, o.kind, o.name}, "/")
		}
		if known[key] == nil {
			known[key], all = o, append(all, o)
		}
		known[key].add(f)
	}
	return all
}

// add adds a finding.
func (o *object) add(f *doctor.Finding) {
	p := f.Process
	o.comments += fmt.Sprintf("# %s %s: %s\n", display.Plain(f.Name), paragraphs.Where(f), display.Plain(f.Title))
	first := max(0, slices.IndexFunc(f.Changes, func(c doctor.Change) bool { return settings(p, c) != "" }))
	ordered := append([]doctor.Change{f.Changes[first]}, slices.Delete(slices.Clone(f.Changes), first, first+1)...)
	for i, c := range ordered {
		lead := "#   "
		if i > 0 {
			lead = "#   or: "
		}
		o.comments += lead + display.Plain(f.Words(&c)) + "\n"
		if c.CPUs > 0 && above(p, p.CPU.SetBy, p.CPU.Group) {
			o.comments += raisedAbove("CPU", trial.Quantity(c.CPUs), p.CPU.SetBy)
		}
		if c.Memory > 0 && above(p, p.Memory.SetBy, p.Memory.Group) {
			o.comments += raisedAbove("memory", trial.Mebibytes(c.Memory), p.Memory.SetBy)
		}
		o.replicas = o.replicas || c.Replicas
	}
	if settings(p, ordered[0]) != "" {
		o.merge(p, own(p, ordered[0]))
	}
}

// merge adds a change to those of the same container.
func (o *object) merge(p *inspect.Process, c doctor.Change) {
	at := slices.IndexFunc(o.containers, func(known *container) bool { return known.PodContainer == p.PodContainer })
	if at < 0 {
		at, o.containers = len(o.containers), append(o.containers, &container{p, doctor.Change{Env: map[string]string{}}})
	}
	sum := &o.containers[at].change
	for name, value := range c.Env {
		sum.Env[name] = cmp.Or(sum.Env[name], value)
	}
	if sum.Command == nil {
		sum.Command = c.Command
	}
	sum.CPUs, sum.Memory = max(sum.CPUs, c.CPUs), max(sum.Memory, c.Memory)
}

// own is the part of a change that is a setting of its container, unit or process: not a
// file, not a burst, and not a limit that a group above sets.
func own(p *inspect.Process, c doctor.Change) doctor.Change {
	o := doctor.Change{Env: c.Env, Command: c.Command, CPUs: c.CPUs, Memory: c.Memory}
	if above(p, p.CPU.SetBy, p.CPU.Group) {
		o.CPUs = 0
	}
	if above(p, p.Memory.SetBy, p.Memory.Group) {
		o.Memory = 0
	}
	return o
}

// settings are own in words; "": nothing.
func settings(p *inspect.Process, c doctor.Change) string {
	o := own(p, c)
	return o.String()
}

// restarts reports whether a change needs a new process.
func restarts(c doctor.Change) bool { return len(c.Env) > 0 || c.Command != nil }

// above reports whether a limit is set by a group above the container or unit, where a
// limit of the container or unit does not change it. A process may run in a group below
// that of its container.
func above(p *inspect.Process, setBy, own string) bool {
	unit := cmp.Or(p.ContainerID, p.Container)
	return setBy != "" && setBy != own && (unit == "" || !strings.Contains(setBy, unit))
}

// raisedAbove is the comment in place of the limit of a container or unit.
func raisedAbove(of, limit, group string) string {
	return fmt.Sprintf("#   Raise the %s limit of the group %s to %s: it is above the service's own group, whose limit does not change it.\n"+
		"#   Of a pod it is resources.limits of the pod's spec, or the sum of its containers' limits.\n", of, display.Plain(group), limit)
}

// commands are the commands that make the changes; their files are added to files.
func (o *object) commands(dir string, files map[string]string) string {
	switch {
	case o.Pod != "":
		return o.kubernetes(dir, files)
	case len(o.containers) == 0:
		return ""
	case o.ContainerID != "":
		return o.docker()
	case unitOf(o.Process) != "":
		return o.systemd(dir, files)
	}
	return o.process()
}

// docker sets limits without a restart (docker update); variables are fixed when a container
// is created.
func (o *object) docker() (text string) {
	c := o.containers[0].change
	var limits, flags []string
	if c.CPUs > 0 {
		limits = append(limits, fmt.Sprintf("--cpus %g", c.CPUs))
	}
	if c.Memory > 0 {
		limits = append(limits, fmt.Sprintf("--memory %d", c.Memory))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		flags = append(flags, "--env "+commandline.Quoted([]string{name + "=" + c.Env[name]}))
	}
	if restarts(c) {
		text = "# Create the container again: docker run " + strings.Join(append(flags, limits...), " ") + " … " + commandline.Quoted(c.Command) + "\n"
		return strings.ReplaceAll(strings.ReplaceAll(text, "run  ", "run "), "… \n", "…\n")
	}
	name := o.Container
	if !identity.Named(o.Process) {
		name = o.ContainerID[:min(12, len(o.ContainerID))]
	}
	return fmt.Sprintf("docker update %s %s\n", strings.Join(limits, " "), commandline.Quoted([]string{name}))
}

// process has the commands for the group of a process without a container or a unit.
func (o *object) process() string {
	c := o.containers[0].change
	if c.CPUs <= 0 || o.CPU.Dir == "" {
		return ""
	}
	quota := fmt.Sprintf("%.0f", c.CPUs*float64(o.CPU.Period.Microseconds()))
	if o.CPU.Version == 1 {
		return fmt.Sprintf("echo %s > %s\n", quota, commandline.Quoted([]string{o.CPU.Dir + "/cpu.cfs_quota_us"}))
	}
	return fmt.Sprintf("echo %s %d > %s\n", quota, o.CPU.Period.Microseconds(), commandline.Quoted([]string{o.CPU.Dir + "/cpu.max"}))
}
