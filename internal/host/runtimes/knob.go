package runtimes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// Knob is how a runtime's parallelism is set from outside.
type Knob struct {
	// Env is the environment variable; "" if there is none.
	Env string `json:"env,omitempty"`
	// Setting is a setting in File, which overrides any variable: a path, or a place in
	// words. Words then end with "change it there".
	Setting string `json:"setting,omitempty"`
	File    string `json:"file,omitempty"`
	// Command: the number is set on the command line.
	Command bool `json:"command,omitempty"`
	// Words describe the setting for readers: "GOMAXPROCS=n", or why there is none
	// and what to do instead.
	Words string `json:"words"`

	prefix string // before the number in Env's value
	keep   bool   // Env's value has other options too, which are kept
	// Env acts only with an option of the command, which is after a word of it.
	option, after string
}

// None reports whether there is no setting, so that only replicas help.
func (k Knob) None() bool { return k.Env == "" && !k.Command }

// KnobFor finds the setting of a service whose command can be changed too: the option of
// an application server that sets its workers is then a setting.
func KnobFor(info Info, command []string) Knob {
	if s, ok := serverNamed(info.Server); ok {
		if _, option := s.changed(command, 1); option != "" {
			return Knob{Command: true, Words: s.name + " " + option + " n"}
		}
	}
	return KnobOf(info)
}

// KnobOf returns the setting for the parallelism of a process.
func KnobOf(info Info) Knob {
	switch info.Runtime {
	case Go:
		return Knob{Env: "GOMAXPROCS", Words: "GOMAXPROCS=n"}
	case DotNet:
		name, _, _ := processorCount(info)
		return Knob{Env: name, Words: name + "=n"}
	case JVM:
		return jvmKnob(info)
	case Rust:
		return rustKnob(info)
	case Deno:
		if isDenoParallel(info.Flags) {
			return Knob{Env: "DENO_JOBS", Words: "DENO_JOBS=n"}
		}
		if slices.Contains(info.Flags, "serve") {
			return Knob{Env: "DENO_JOBS", option: "--parallel", after: "serve", Words: "DENO_JOBS=n and deno serve --parallel"}
		}
	case Nginx:
		if slices.ContainsFunc(info.Flags, workerProcesses.MatchString) {
			return Knob{Command: true, Words: `nginx -g "worker_processes n;"`}
		}
		return Knob{Setting: "worker_processes", File: "nginx's configuration", Words: "worker_processes is set in nginx's configuration, and nginx rejects a second value: change it there"}
	case Python, Ruby:
		if info.loops() || info.Server != "" {
			return serverKnob(info)
		}
		return Knob{Words: info.Runtime.Title() + " has no global lock here: the program sets the number of its threads; see its own options, or add replicas"}
	case PHP:
		return Knob{Setting: "pm.max_children", File: "the pool's configuration", Words: "pm.max_children is set in the pool's configuration: change it there"}
	case Erlang:
		name := "ERL_FLAGS"
		if strings.Contains(info.Env["ERL_ZFLAGS"], "+S") { // it comes last
			name = "ERL_ZFLAGS"
		}
		return Knob{Env: name, prefix: "+S ", keep: true, Words: name + "=+S n"}
	}
	switch p := programOf(info.Runtime); {
	case p.title != "":
		return p.knob()
	case info.loops() && info.Workers > 1:
		return Knob{Words: fmt.Sprintf("%s runs one event loop in each process, and the program starts %s: change their number in the program or its options",
			info.Runtime.Title(), count(info.Workers, "worker process"))}
	case info.loops():
		return Knob{Words: fmt.Sprintf("%s runs its code on one event loop: no setting gives it a second CPU; add replicas", info.Runtime.Title())}
	}
	return Knob{Words: "no setting is known for this program: see its own options, or add replicas"}
}

func jvmKnob(info Info) Knob {
	switch where := jvmOptions(info).where; where {
	case "", "JAVA_TOOL_OPTIONS":
		return Knob{Env: "JAVA_TOOL_OPTIONS", prefix: processorsFlag, keep: true,
			Words: "JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=n"}
	default:
		return Knob{Setting: "-XX:ActiveProcessorCount", File: "the JVM's options", Words: "-XX:ActiveProcessorCount is set in " + where + ", which overrides JAVA_TOOL_OPTIONS: change it there"}
	}
}

// argumentFile reports whether an argument of java names a file with more of them.
func argumentFile(arg string) bool { return strings.HasPrefix(arg, "@") }

// Unless is what would override the variable of a setting where it cannot be seen from
// outside; "": nothing.
func Unless(info Info) string {
	knob := KnobOf(info)
	s, ok := serverNamed(info.Server)
	switch {
	case knob.Env == "":
	case info.Runtime == Rust:
		return rustSetting(info) + " in the program's code overrides it: if it is there, change it instead"
	case info.Runtime == JVM && slices.ContainsFunc(info.Flags, argumentFile):
		return "-XX:ActiveProcessorCount in a file of arguments (" + info.Flags[slices.IndexFunc(info.Flags, argumentFile)] + ") overrides it: if it is there, change it instead"
	case ok && s.name == "puma" && (info.Env[s.env] == "" || info.Env[s.env] == "auto"):
		return "-w in puma's command and workers in config/puma.rb override it: if one of them is there, change it instead"
	}
	return ""
}

// value is the new value of Env for n, given its present value.
func (k Knob) value(present string, n int) string {
	v := k.prefix + strconv.Itoa(n)
	if !k.keep {
		return v
	}
	var kept []string
	name, apart := strings.CutSuffix(k.prefix, " ") // the value is a word of its own
	words := strings.Fields(present)
	for i := 0; i < len(words); i++ {
		rest, ours := strings.CutPrefix(words[i], name)
		switch {
		case ours && apart && rest == "":
			i++ // and its value
		case ours && (!apart || '0' <= rest[0] && rest[0] <= '9'):
		default:
			kept = append(kept, words[i])
		}
	}
	return strings.Join(append(kept, v), " ")
}

// Setting is one way to run a service under the same limit.
type Setting struct {
	Label string `json:"label"` // "as it is", "GOMAXPROCS=1"
	// Value is the expected parallelism; 0: not known. A program may set its own
	// value, so the caller has to read it again once the program runs.
	Value  int               `json:"value"`
	Env    map[string]string `json:"env,omitempty"`
	Reason string            `json:"reason"`
	// Command replaces the service's command if the setting is part of it.
	Command []string `json:"command,omitempty"`
}

// AsItIs is the label of the first of Settings.
const AsItIs = "as it is"

// Settings returns the values worth trying under a limit: the present one first; then
// 1, the limit rounded down and up, and the runtime's default if something else is
// set; and 2 if all of these are 1. No value is above the number of CPUs, and none is
// repeated. command is the service's command, for a setting that is part of it. More
// workers than present are left out where FewWorkers advises against them. If the runtime
// has no setting, the result is the present one.
func Settings(info Info, limit Limit, m Machine, command []string) []Setting {
	present, why := Default(info, limit, m)
	if p := info.Parallelism; p.Source == Read && p.Value > 0 && p.Value != present {
		present, why = p.Value, p.From
	}
	asIs := Setting{Label: AsItIs, Value: present, Reason: why}
	knob := KnobFor(info, command)
	if knob.None() {
		return []Setting{asIs}
	}

	all := []Setting{asIs}
	tried := map[int]bool{present: true}
	add := func(n int, reason string) {
		if most := m.affinity(); n > most {
			n, reason = most, fmt.Sprintf("%s, but this machine has %s", reason, display.CPULimit(float64(most)))
		}
		n = max(n, 1)
		if tried[n] || n > present && FewWorkers(info) != "" {
			return
		}
		tried[n] = true
		if s, ok := knob.setting(info, n, command); ok {
			s.Reason = reason
			all = append(all, s)
		}
	}
	one := "one thread at a time: its threads do not compete for the quota"
	more := "two threads at a time: requests do not wait for the runtime's own work, such as garbage collection"
	if info.Server != "" || info.Runtime == Nginx {
		one = "one worker process: no other one competes for the quota"
		more = "two worker processes: one serves while the other waits"
	}
	add(1, one)
	if limit.CPUs > 0 {
		add(int(limit.CPUs), fmt.Sprintf("the limit of %s, rounded down: it cannot use up the quota early", display.CPULimit(limit.CPUs)))
		add(ceil(limit.CPUs), fmt.Sprintf("the limit of %s, rounded up", display.CPULimit(limit.CPUs)))
	}
	if n, why := Default(unset(info, knob.Env), limit, m); n > 0 {
		add(n, "the runtime's default: "+why)
	}
	if present == 1 && len(all) == 1 {
		add(2, more)
	}
	return all
}

// SettingOf is the way to run a service with a parallelism of n; ok is false if it has no
// setting that can be made from outside.
func SettingOf(info Info, n int, command []string) (s Setting, ok bool) {
	knob := KnobOf(info)
	if knob.None() {
		return Setting{}, false
	}
	return knob.setting(info, n, command)
}

func (k Knob) setting(info Info, n int, command []string) (Setting, bool) {
	s := Setting{Value: n}
	if k.Env != "" {
		v := k.value(info.Env[k.Env], n)
		s.Label, s.Env = fmt.Sprintf("%s=%s%d", k.Env, k.prefix, n), map[string]string{k.Env: v}
		if k.option != "" {
			at := slices.Index(command, k.after)
			if at < 0 {
				return Setting{}, false
			}
			s.Label, s.Command = s.Label+" and "+k.option, slices.Insert(slices.Clone(command), at+1, k.option)
		}
		return s, true
	}
	if p := programOf(info.Runtime); len(p.options) > 0 {
		s.Label, s.Command = fmt.Sprintf("%s %d", p.options[0], n), Reworked(info, command, n)
		if s.Command == nil {
			s.Command = p.withOption(command, n)
		}
		return s, s.Command != nil
	}
	if server, ok := serverNamed(info.Server); ok {
		changed, option := server.changed(command, n)
		s.Label, s.Command = fmt.Sprintf("%s %s %d", server.name, option, n), changed
		return s, changed != nil
	}
	s.Command = slices.Clone(command)
	for i, arg := range s.Command {
		if workerProcesses.MatchString(arg) {
			s.Command[i] = workerProcesses.ReplaceAllString(arg, "${1}"+strconv.Itoa(n)+"${3}")
			s.Label = fmt.Sprintf("worker_processes %d", n)
		}
	}
	return s, s.Label != ""
}

// unset returns info without a variable and without options on the command line.
func unset(info Info, env string) Info {
	kept := make(map[string]string, len(info.Env))
	for name, value := range info.Env {
		if name != env {
			kept[name] = value
		}
	}
	flags := info.Flags
	info.Env, info.Flags, info.Workers = kept, nil, 0
	if slices.Contains(flags, cpusetThreads) { // no number
		info.Flags = []string{cpusetThreads}
	}
	return info
}
