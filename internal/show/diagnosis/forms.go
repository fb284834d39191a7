package diagnosis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/trial"
)

// kubernetes has the commands for a workload, with a strategic merge patch as their file. A
// command whose names could not be read is a comment.
func (o *object) kubernetes(dir string, files map[string]string) (text string) {
	namespace, kind, name := cmp.Or(o.Namespace, "NAMESPACE"), cmp.Or(o.kind, "KIND"), cmp.Or(o.name, "NAME")
	in := commandline.Quoted([]string{"kubectl", "--namespace", namespace})
	if o.replicas {
		text += fmt.Sprintf("#   more replicas: %s scale %s --replicas N\n", in, commandline.Quoted([]string{kind, name}))
	}
	if len(o.containers) == 0 {
		return text
	}
	known := o.Namespace != "" && o.kind != "" && o.name != ""
	path := filepath.Join(dir, fileName(namespace, kind, cmp.Or(o.name, o.PodContainer, o.ContainerID)+".yaml"))
	files[path] = o.comments + o.patch()
	inPlace := known
	for _, c := range o.containers {
		known = known && c.PodContainer != ""
		inPlace = inPlace && c.PodContainer != "" && !restarts(c.change)
	}
	if !known {
		text += "#   What is in capitals could not be read: write the names.\n# "
	}
	text += fmt.Sprintf("%s patch %s --patch-file %s\n", in, commandline.Quoted([]string{kind, name}), commandline.Quoted([]string{path}))
	if inPlace {
		text += "#   or, until the pod is replaced, without a restart (Kubernetes 1.33 or later):\n"
		for _, c := range o.containers {
			text += fmt.Sprintf("# %s patch pod %s --subresource resize --patch %s\n", in, commandline.Quoted([]string{c.Container}), commandline.Quoted([]string{c.resize()}))
		}
	}
	return text
}

// patch is the body of the file: a strategic merge patch. valueFrom is removed where a value
// is set, because an entry with both is invalid, and a merge keeps both.
func (o *object) patch() string {
	var b strings.Builder
	indent := ""
	line := func(format string, args ...any) { fmt.Fprintf(&b, indent+format+"\n", args...) }
	line("spec:")
	if o.kind == "cronjob" {
		line("  jobTemplate:\n    spec:")
		indent = "    "
	}
	line("  template:")
	line("    spec:")
	line("      containers:")
	for _, c := range o.containers {
		// A patch with another name, such as that of the pod, adds a container.
		line("        - name: %s", doubleQuoted(display.Plain(cmp.Or(c.PodContainer, "CONTAINER"))))
		if c.change.Command != nil {
			line("          # It replaces the container's own: if another program starts this one, change it there.")
			line("          command:")
			for _, word := range c.change.Command {
				line("            - %s", doubleQuoted(word))
			}
			line("          args: []") // those of the workload would follow the command
		}
		if len(c.change.Env) > 0 {
			line("          env:")
		}
		for _, name := range slices.Sorted(maps.Keys(c.change.Env)) {
			line("            - name: %s", doubleQuoted(name))
			line("              value: %s", doubleQuoted(c.change.Env[name]))
			line("              valueFrom: null")
		}
		if limits := limitsOf(c.change); len(limits) > 0 {
			if len(c.Requests) > 0 && c.CPU.State == inspect.Limited {
				line("          # The CPU request is %s, the limit %s; the patch keeps the request.", doctor.Requests(c.Process), trial.Quantity(c.CPU.CPUs))
			}
			line("          resources:")
			line("            limits:")
			for _, name := range slices.Sorted(maps.Keys(limits)) {
				line("              %s: %s", name, doubleQuoted(limits[name]))
			}
		}
	}
	return b.String()
}

// limitsOf are the limits of a change as Kubernetes writes them.
func limitsOf(c doctor.Change) map[string]string {
	limits := map[string]string{}
	if c.CPUs > 0 {
		limits["cpu"] = trial.Quantity(c.CPUs)
	}
	if c.Memory > 0 {
		limits["memory"] = trial.Mebibytes(c.Memory)
	}
	return limits
}

// resize is the patch of a pod's subresource resize. A pod whose requests are its limits must
// keep them equal: its class of service may not change.
func (c *container) resize() string {
	resources := map[string]any{"limits": limitsOf(c.change)}
	if strings.Contains(c.CPU.Group, "kubepods") && !strings.Contains(c.CPU.Group, "burstable") {
		resources["requests"] = limitsOf(c.change)
	}
	text, _ := json.Marshal(map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": c.PodContainer, "resources": resources}}}})
	return string(text)
}

// unitOf is the unit of systemd that a process runs in; "": none.
func unitOf(p *inspect.Process) string {
	if name := p.Container + ".service"; p.ContainerID == "" && p.Container != "" && (strings.Contains(p.CPU.Group, "/"+name) || strings.Contains(p.Memory.Group, "/"+name)) {
		return name
	}
	return ""
}

// systemd sets limits without a restart (systemctl set-property), and the rest with a
// drop-in; systemd.resource-control(5), systemd.exec(5).
func (o *object) systemd(dir string, files map[string]string) (text string) {
	c, unit := o.containers[0].change, unitOf(o.Process)
	var limits, lines []string
	if c.CPUs > 0 {
		limits = append(limits, fmt.Sprintf("CPUQuota=%.0f%%", c.CPUs*100)) // many releases accept no fraction
	}
	if c.Memory > 0 {
		limits = append(limits, fmt.Sprintf("MemoryMax=%d", c.Memory))
	}
	if limits != nil {
		text = fmt.Sprintf("systemctl set-property %s\n", commandline.Quoted(append([]string{unit}, limits...)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		lines = append(lines, "Environment="+doubleQuoted(strings.ReplaceAll(name+"="+c.Env[name], "%", "%%")))
	}
	if c.Command != nil {
		lines = append(lines, "ExecStart=", "ExecStart="+systemdCommand(trial.Absolute(o.Process, c.Command)))
	}
	if lines == nil {
		return text
	}
	path := filepath.Join(dir, fileName(unit+".conf"))
	files[path] = o.comments + "[Service]\n" + strings.Join(lines, "\n") + "\n"
	return text + fmt.Sprintf("install -D -m 644 %s && systemctl daemon-reload && systemctl restart %s\n",
		commandline.Quoted([]string{path, "/etc/systemd/system/" + unit + ".d/millicore.conf"}), commandline.Quoted([]string{unit}))
}

// systemdCommand writes a command for ExecStart, where % and $ are special.
func systemdCommand(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = doubleQuoted(strings.NewReplacer("%", "%%", "$", "$$").Replace(word))
	}
	return strings.Join(words, " ")
}

// doubleQuoted writes a string that YAML and systemd both read: JSON's escapes are a
// part of YAML's.
func doubleQuoted(text string) string { return strconv.QuoteToASCII(text) }

// fileName joins words to the name of a file, without what has a meaning in paths.
func fileName(words ...string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.@", r) {
			return r
		}
		return '-'
	}, strings.Join(words, "-")), ".")
}
