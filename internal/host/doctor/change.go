package doctor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/trial"
)

// Change is one change in a form that programs can apply. Its zero fields stay as they
// are.
type Change struct {
	Env      map[string]string // variables with their whole new values
	Command  []string          // replaces the command
	CPUs     float64           // the CPU limit
	Burst    time.Duration     // the CPU burst
	Memory   int64             // the memory limit in bytes
	Replicas bool              // more replicas of the service
	// Setting is set to Value in File, which is a path or a description in words: the
	// place that overrides the variables.
	Setting, File string
	Value         int
	Text          string // the value of a size as the program reads it; then Value is 0
}

// NewValue is the new value of Setting.
func (c *Change) NewValue() string { return cmp.Or(c.Text, strconv.Itoa(c.Value)) }

// Action is the change of a finding as it is typed, the first of several; "": it recommends
// none.
func (f *Finding) Action() string {
	if f.Level == Info || len(f.Fix) == 0 {
		return ""
	}
	if len(f.Changes) == 0 {
		text, _, _ := strings.Cut(f.Fix[0], "; ")
		text, _, _ = strings.Cut(text, ": ")
		return text
	}
	return f.Words(&f.Changes[0])
}

// Words is one of a finding's changes as it is typed.
func (f *Finding) Words(c *Change) string {
	var parts []string
	switch {
	case c.File == call:
		parts = []string{fmt.Sprintf("change %s to %d", call, c.Value)}
	case c.Setting != "" && c.Command == nil:
		parts = []string{fmt.Sprintf("set %s to %s in %s", c.Setting, c.NewValue(), c.File)}
	case c.Burst > 0:
		parts = []string{fmt.Sprintf("allow bursts: echo %d > %s", c.Burst.Microseconds(), BurstFile(f.Process))}
	case c.Replicas:
		parts = []string{"add replicas of " + f.Name}
	}
	if rest := c.String(); rest != "" {
		parts = append(parts, rest)
	}
	return strings.Join(parts, " and ")
}

// String is a change of variables, the command and limits.
func (c *Change) String() string {
	var parts []string
	if len(c.Env) > 0 {
		parts = append(parts, "set "+commandline.Assignments(c.Env))
	}
	if c.Command != nil {
		parts = append(parts, "start it with "+commandline.Quoted(c.Command))
	}
	if c.CPUs > 0 {
		parts = append(parts, "raise the CPU limit to "+display.CPULimit(c.CPUs))
	}
	if c.Memory > 0 {
		parts = append(parts, "raise the memory limit to "+size(c.Memory))
	}
	return phrase.List(parts)
}

// fix adds a recommendation to a finding: the text, the changes that it names, and the
// command that measures its effect.
func (s service) fix(f *Finding, text string, changes ...Change) {
	var limits []float64
	for _, c := range changes {
		limits = append(limits, c.CPUs)
	}
	f.Fix, f.Changes = s.verify(text, limits...), changes
}

// call is the place of a setting in a program's code.
const call = "the program's call of runtime.GOMAXPROCS"

// change describes how to set the process's parallelism to n, or why that is not
// possible. The place that it names is the one that has the last word.
func (s service) change(n int) (string, Change) { return s.changeUnder(n, s.CPU.CPUs) }

// changeUnder is the same under another limit. The text is "" if the runtime's own rule
// gives n there.
func (s service) changeUnder(n int, cpus float64) (string, Change) {
	if most := s.machine(); most > 0 {
		n = min(n, most)
	}
	if setting, why, ok := runtimes.SizedInCode(s.Info); ok && s.inCode() {
		return fmt.Sprintf("set %s to %d in the program's code: %s", setting, n, why), Change{Setting: setting, File: "the program's code", Value: n}
	}
	if s.inCode() {
		return fmt.Sprintf("change %s to %d, or remove the call: it overrides the environment", call, n),
			Change{Setting: "runtime.GOMAXPROCS", File: call, Value: n}
	}
	if text, c, ok := s.elsewhere(n); ok {
		return text, c
	}
	limit := runtimes.Limit{CPUs: cpus, Leaf: s.CPU.Own}
	if cpus != s.CPU.CPUs && s.CPU.Own > 0 {
		limit.Leaf = cpus
	}
	machine := runtimes.Machine{Online: s.online, Affinity: s.Info.Affinity}
	knob := runtimes.KnobOf(s.Info)
	command := commandline.StartedBy(s.Command)
	asIs := runtimes.Settings(s.Info, limit, machine, command)[0]
	if asIs.Value == n && cpus != s.CPU.CPUs {
		return "", Change{}
	}
	if setting, ok := runtimes.SettingOf(s.Info, n, command); ok {
		c := Change{Env: setting.Env, Command: setting.Command, Value: n}
		collector := heaps.CollectorWith(s.Process, n)
		if value, ok := setting.Env[knob.Env]; ok { // the whole value, with other options
			text := "try " + commandline.Quoted([]string{knob.Env + "=" + value})
			if c.Command != nil {
				text += " with " + commandline.Quoted(c.Command)
			}
			return text + s.unless() + collector, c
		}
		return "try " + setting.Label, c
	}
	words := strings.Replace(knob.Words, "=n", "="+strconv.Itoa(n), 1)
	c := Change{Replicas: knob.None()}
	if knob.Setting != "" {
		words += fmt.Sprintf(", to %d", n)
		c = Change{Setting: knob.Setting, File: knob.File, Value: n, Command: s.reworked(s.Command, n)}
	}
	return words, c
}

// elsewhere is the change of a number of workers that neither the command nor
// WEB_CONCURRENCY decides: gunicorn's GUNICORN_CMD_ARGS and its configuration file
// override the variable, and the command overrides both; so does the file of puma. HAProxy has the number in its
// file only. A file of uWSGI overrides its variables.
func (s service) elsewhere(n int) (string, Change, bool) {
	if why := runtimes.FewWorkers(s.Info); why != "" && n > s.Info.Parallelism.Value {
		return "add replicas: " + why, Change{Replicas: true}, true
	}
	if runtimes.Spins(s.Info) && n > s.Info.Parallelism.Value {
		return "add replicas: more threads of one process spin, and need CPUs for themselves", Change{Replicas: true}, true
	}
	if s.Info.Runtime == runtimes.HAProxy && s.Config != "" {
		return fmt.Sprintf("set nbthread %d in the global section of %s", n, s.Config),
			Change{Setting: "nbthread", File: s.Config, Value: n}, true
	}
	if file := s.uwsgiFile(); file != "" && len(s.Info.Flags) == 0 {
		return fmt.Sprintf("set processes = %d in %s, which overrides UWSGI_PROCESSES", n, file),
			Change{Setting: "processes", File: file, Value: n}, true
	}
	if s.Info.Server == "puma" && s.Config != "" && len(s.Info.Flags) == 0 {
		return fmt.Sprintf("set workers %d in %s, which overrides WEB_CONCURRENCY", n, s.Config),
			Change{Setting: "workers", File: s.Config, Value: n}, true
	}
	if s.Info.Server != "gunicorn" || len(s.Info.Flags) > 0 {
		return "", Change{}, false
	}
	const name = "GUNICORN_CMD_ARGS"
	args := strings.Fields(s.Info.Env[name])
	if changed := s.reworked(args, n); changed != nil {
		value := strings.Join(changed, " ")
		return "try " + commandline.Quoted([]string{name + "=" + value}), Change{Env: map[string]string{name: value}, Value: n}, true
	}
	if s.Config != "" {
		return fmt.Sprintf("set workers = %d in %s, which overrides WEB_CONCURRENCY", n, s.Config),
			Change{Setting: "workers", File: s.Config, Value: n}, true
	}
	return "", Change{}, false
}

// uwsgiFile is the last configuration file of a uWSGI, by its command or its variables; "":
// none. uWSGI reads its variables first and then the command with the files, and of several
// values the last counts (uwsgi_setup and parse_sys_envs in its core/uwsgi.c).
func (s service) uwsgiFile() (file string) {
	if s.Info.Server != "uwsgi" {
		return ""
	}
	kinds := []string{"ini", "xml", "yaml", "yml", "json"}
	for _, kind := range kinds {
		file = cmp.Or(s.Info.Env["UWSGI_"+strings.ToUpper(kind)], file)
	}
	for i, arg := range s.Command {
		name, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch kind := strings.TrimPrefix(filepath.Ext(arg), "."); {
		case !strings.HasPrefix(arg, "-") && slices.Contains(kinds, kind) && i > 0:
			file = arg
		case strings.HasPrefix(arg, "--") && joined && slices.Contains(kinds, name):
			file = value
		}
	}
	return file
}

// unless names what would override the variable of a setting unseen.
func (s service) unless() string {
	if why := runtimes.Unless(s.Info); why != "" {
		return "; " + why
	}
	return ""
}

// reworked is a command with another number of workers of the process's server; nil if
// it sets none.
func (s service) reworked(command []string, n int) []string {
	return runtimes.Reworked(s.Info, command, n)
}

// verify returns a change and the command that measures its effect, under the present limit
// and those that are advised.
func (s service) verify(change string, limits ...float64) []string {
	if command := trial.Command(&s.Process, s.others, limits...); command != "" {
		return []string{change, "verify: " + command}
	}
	return []string{change}
}

// measured returns the command that measures which setting is best, for a finding
// without a recommended change.
func (s service) measured() []string {
	if command := trial.Command(&s.Process, s.others); command != "" {
		return []string{"measure: " + command}
	}
	return nil
}
