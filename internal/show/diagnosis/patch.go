package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Patch writes each recommended change in the forms in which services are configured: a
// strategic merge patch for Kubernetes, a drop-in for systemd, and flags for docker. All
// else is a comment, so the output as a whole is YAML with a document for each change.
// A form is left out where it cannot express the change.
func Patch(w io.Writer, findings []doctor.Finding) error {
	var b strings.Builder
	for _, f := range findings {
		if f.Process == nil {
			continue
		}
		for i, c := range f.Changes {
			text := subject{f.Process}.patch(c)
			if text == "" {
				continue
			}
			which := ""
			if len(f.Changes) > 1 {
				which = fmt.Sprintf(" (change %d of %d: one of them is enough)", i+1, len(f.Changes))
			}
			separator := "\n"
			if strings.Contains(text, "\nspec:") {
				separator = "---\n" // a document of comments alone ends what some parsers read
			}
			fmt.Fprintf(&b, separator+"# %s (pid %d): %s%s\n%s", display.Plain(f.Name), f.PID, display.Plain(f.Title), which, text)
		}
	}
	if b.Len() == 0 {
		b.WriteString("# no finding has a change that a patch can express\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// subject is the process that a finding is about.
type subject struct{ *inspect.Process }

// patch writes one change in all forms that apply; "" if none does.
func (s subject) patch(c doctor.Change) string {
	var b strings.Builder
	if c.CPUs > 0 && s.above(s.CPU.SetBy, s.CPU.Group) {
		b.WriteString(raisedAbove("CPU", doctor.Quantity(c.CPUs), s.CPU.SetBy))
		c.CPUs = 0
	}
	if c.Memory > 0 && s.above(s.Memory.SetBy, s.Memory.Group) {
		b.WriteString(raisedAbove("memory", doctor.Mebibytes(c.Memory), s.Memory.SetBy))
		c.Memory = 0
	}
	if c.Setting != "" && c.Command == nil {
		fmt.Fprintf(&b, "# Set %s to %s in %s.\n", c.Setting, c.NewValue(), display.Plain(c.File))
	}
	b.WriteString(s.systemd(c))
	b.WriteString(docker(c))
	if c.Burst > 0 {
		fmt.Fprintf(&b, "# Kubernetes, systemd and docker have no setting for a CPU burst: write %d to %s.\n", c.Burst.Microseconds(), display.Plain(doctor.BurstFile(s.Process)))
	}
	b.WriteString(s.kubernetes(c))
	return b.String()
}

// above reports whether a limit is set by a group above the container or unit, where a
// limit of the container or unit does not change it. A process may run in a group below
// that of its container.
func (s subject) above(setBy, own string) bool {
	unit := cmp.Or(s.ContainerID, s.Container)
	return setBy != "" && setBy != own && (unit == "" || !strings.Contains(setBy, unit))
}

// raisedAbove is the comment in place of the limit of a container or unit.
func raisedAbove(of, limit, group string) string {
	return fmt.Sprintf("# Raise the %s limit of the group %s to %s: it is above the service's own group, whose limit does not change it.\n"+
		"# Of a pod it is resources.limits of the pod's spec, or the sum of its containers' limits.\n", of, display.Plain(group), limit)
}

// systemd writes a drop-in as a comment; systemd.resource-control(5), systemd.exec(5).
func (s subject) systemd(c doctor.Change) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		lines = append(lines, "Environment="+doubleQuoted(strings.ReplaceAll(name+"="+c.Env[name], "%", "%%")))
	}
	if c.Command != nil {
		lines = append(lines, "ExecStart=", "ExecStart="+systemdCommand(doctor.Absolute(s.Process, c.Command)))
	}
	if c.CPUs > 0 {
		lines = append(lines, fmt.Sprintf("CPUQuota=%.0f%%", c.CPUs*100)) // many releases accept no fraction
	}
	if c.Memory > 0 {
		lines = append(lines, fmt.Sprintf("MemoryMax=%d", c.Memory))
	}
	if len(lines) == 0 {
		return ""
	}
	unit := "UNIT.service"
	if name := s.Container + ".service"; s.ContainerID == "" && s.Container != "" && (strings.Contains(s.CPU.Group, "/"+name) || strings.Contains(s.Memory.Group, "/"+name)) {
		unit = name
	}
	text := fmt.Sprintf("# systemd: /etc/systemd/system/%s.d/millicore.conf, then systemctl daemon-reload and restart\n#   [Service]\n", display.Plain(unit))
	for _, line := range lines {
		text += "#   " + line + "\n"
	}
	return text
}

// docker writes the flags of docker run as a comment.
func docker(c doctor.Change) string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		flags = append(flags, "--env "+doctor.Quoted([]string{name + "=" + c.Env[name]}))
	}
	if c.CPUs > 0 {
		flags = append(flags, "--cpus "+strconv.FormatFloat(c.CPUs, 'f', -1, 64))
	}
	if c.Memory > 0 {
		flags = append(flags, fmt.Sprintf("--memory %d", c.Memory))
	}
	text := ""
	if len(flags) > 0 {
		text = "# docker: docker run " + strings.Join(flags, " ") + " …\n"
	}
	if c.Command != nil {
		text += "# docker: with the command " + doctor.Quoted(c.Command) + "\n"
	}
	return text
}

// kubernetes writes a patch for kubectl patch deployment NAME --patch-file FILE.
func (s subject) kubernetes(c doctor.Change) string {
	if c.Replicas && c.Env == nil && c.Command == nil && c.CPUs == 0 {
		return "# Kubernetes: kubectl scale deployment NAME --replicas N, with N above the present number\n"
	}
	if c.Env == nil && c.Command == nil && c.CPUs == 0 && c.Memory == 0 {
		return ""
	}
	// A patch with another name, such as that of the pod, adds a container.
	name := cmp.Or(s.PodContainer, "CONTAINER")
	var b strings.Builder
	b.WriteString("# Kubernetes: kubectl patch deployment NAME --patch-file FILE\n")
	b.WriteString(s.requested())
	if c.Command != nil {
		b.WriteString("# The command replaces the container's own: if another program starts this one, change it there instead.\n")
	}
	b.WriteString("spec:\n  template:\n    spec:\n      containers:\n        - name: " + doubleQuoted(display.Plain(name)) + "\n")
	if c.Command != nil {
		b.WriteString("          command:\n")
		for _, word := range c.Command {
			b.WriteString("            - " + doubleQuoted(word) + "\n")
		}
		b.WriteString("          args: []\n") // those of the deployment would follow the command
	}
	if len(c.Env) > 0 {
		b.WriteString("          env:\n")
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			b.WriteString("            - name: " + doubleQuoted(name) + "\n              value: " + doubleQuoted(c.Env[name]) + "\n")
		}
	}
	if c.CPUs > 0 || c.Memory > 0 {
		b.WriteString("          resources:\n            limits:\n")
		if c.CPUs > 0 {
			b.WriteString("              cpu: " + doubleQuoted(doctor.Quantity(c.CPUs)) + "\n")
		}
		if c.Memory > 0 {
			b.WriteString("              memory: " + doubleQuoted(doctor.Mebibytes(c.Memory)) + "\n")
		}
	}
	return b.String()
}

// requested is a comment with the CPU request beside the limit, where it is known.
func (s subject) requested() string {
	if len(s.Requests) == 0 || s.CPU.State != inspect.Limited {
		return ""
	}
	return fmt.Sprintf("# The CPU request is %s, the limit %s; the patch keeps the request.\n", doctor.Requests(s.Process), doctor.Quantity(s.CPU.CPUs))
}

// doubleQuoted writes a string that YAML and systemd both read: JSON's escapes are a
// part of YAML's.
func doubleQuoted(text string) string { return strconv.QuoteToASCII(text) }

// systemdCommand writes a command for ExecStart, where % and $ are special.
func systemdCommand(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = doubleQuoted(strings.NewReplacer("%", "%%", "$", "$$").Replace(word))
	}
	return strings.Join(words, " ")
}
