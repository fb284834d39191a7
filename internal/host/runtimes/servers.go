package runtimes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// server is a row of the table of servers that run the code of Python or Ruby in worker
// processes. The order of precedence is the command, then the file, then the variable:
// only a command without these options and a file without the setting leave it to the
// variable.
type server struct {
	name    string
	options []string // that set the number of workers; those of one letter may be joined with it: -w2
	args    string   // the variable with more options, which the command overrides; "": none
	env     string   // the variable that sets it; "": there is none
	setting string   // in a configuration file
	file    string   // that file, in words
	host    bool     // the default is the host's CPUs; else 1
	forks   bool     // its workers have its command, and share no socket with it
	few     string   // why more workers are not advised, in words; "": they are
}

const granian = "granian"

// slowUvicorn is measured: with WEB_CONCURRENCY=2 instead of 1 it answered 361 instead of
// 1,060 requests/s, each in 44 ms (uvicorn 0.54, h11). Probably it is Nagle's algorithm,
// which asyncio leaves on for sockets that workers inherit, with delayed acknowledgements.
const slowUvicorn = "several workers of one uvicorn can be slower than one, because each answer may wait 40 ms for a delayed acknowledgement"

// servers is that table; docs/runtimes.md has the sources. Sidekiq is not in it: its
// concurrency is threads that share the VM lock.
var servers = []server{
	{name: "gunicorn", options: []string{"-w", "--workers"}, args: "GUNICORN_CMD_ARGS", env: "WEB_CONCURRENCY", setting: "workers", file: "gunicorn.conf.py"},
	{name: "uvicorn", options: []string{"--workers"}, env: "WEB_CONCURRENCY", few: slowUvicorn},
	{name: "hypercorn", options: []string{"-w", "--workers"}, setting: "workers", file: "hypercorn's configuration file"},
	{name: granian, options: []string{"--workers"}, env: "GRANIAN_WORKERS", forks: true},
	{name: "uwsgi", options: []string{"-p", "--processes", "--workers"}, env: "UWSGI_PROCESSES", setting: "processes", file: "uWSGI's configuration file"},
	{name: "celery", options: []string{"-c", "--autoscale", "--concurrency"}, setting: "worker_concurrency", file: "Celery's configuration", host: true, forks: true},
	{name: "puma", options: []string{"-w", "--workers"}, env: "WEB_CONCURRENCY", setting: "workers", file: "config/puma.rb"},
	{name: "unicorn", setting: "worker_processes", file: "unicorn's configuration file"},
}

// otherProtocols are programs beside the table whose port does not speak HTTP.
var otherProtocols = []string{"keydb-server", "mongod", "pgbouncer", "nats-server", "sshd"}

// SpeaksHTTP reports whether a program may speak HTTP on its port. PHP-FPM speaks FastCGI.
func SpeaksHTTP(info Info) bool {
	return !programOf(info.Runtime).other && !slices.Contains(otherProtocols, info.Program)
}

// FewWorkers is why more worker processes than a server has are not advised, in words;
// "": they are.
func FewWorkers(info Info) string {
	s, _ := serverNamed(info.Server)
	return s.few
}

// workerOptions are the options of a command that set its number of workers. Those of one
// letter may be joined with the number.
func workerOptions(info Info) []string {
	if s, ok := serverNamed(info.Server); ok {
		return s.options
	}
	return programOf(info.Runtime).options
}

// Reworked is a command with another number of workers; nil if it sets none.
func Reworked(info Info, command []string, n int) []string {
	changed, _ := reworked(workerOptions(info), command, n)
	return changed
}

// reworked replaces the number after options of a command. option is the one that the
// command has; "": none, and changed is nil.
func reworked(options, command []string, n int) (changed []string, option string) {
	changed = slices.Clone(command)
	number := func(present string) string { // of celery --autoscale=max,min the maximum
		if _, least, ok := strings.Cut(present, ","); ok {
			return strconv.Itoa(n) + "," + least
		}
		return strconv.Itoa(n)
	}
	for i, arg := range command {
		for _, o := range options {
			rest, ok := strings.CutPrefix(arg, o)
			switch {
			case !ok:
			case rest == "" && i+1 < len(command):
				changed[i+1], option = number(command[i+1]), o
			case strings.HasPrefix(rest, "="):
				changed[i], option = o+"="+number(rest), o
			case len(o) == 2 && rest != "" && '0' <= rest[0] && rest[0] <= '9':
				changed[i], option = o+strconv.Itoa(n), o
			}
		}
	}
	if option == "" {
		return nil, ""
	}
	return changed, option
}

// changed is a command of the server with another number of workers, and the option that
// sets it. A server without a variable gets the option if the command starts it directly;
// nil: the number cannot be set in this command.
func (s server) changed(command []string, n int) (changed []string, option string) {
	if changed, option = reworked(s.options, command, n); changed != nil {
		return changed, option
	}
	if s.env != "" || len(s.options) == 0 || !s.startedBy(command) {
		return nil, ""
	}
	option = s.options[len(s.options)-1]
	return append(slices.Clone(command), option, strconv.Itoa(n)), option
}

// startedBy reports whether a word of a command is the server's program or module, so that
// an option at the command's end is the server's.
func (s server) startedBy(command []string) bool {
	return slices.ContainsFunc(command[:min(len(command), 4)], func(word string) bool { return path.Base(word) == s.name }) &&
		!slices.Contains(command, "--")
}

// serverNamed finds a row; ok is false for another name, and for "".
func serverNamed(name string) (s server, ok bool) {
	i := slices.IndexFunc(servers, func(s server) bool { return s.name == name })
	if i < 0 {
		return server{}, false
	}
	return servers[i], true
}

// serverOf finds an application server in a command: as the program, its script, the
// module after -m, or in a process title as gunicorn and puma set it.
func serverOf(args []string) string {
	for _, arg := range args[:min(len(args), 4)] {
		first, _, _ := strings.Cut(arg, " ") // of a title, which may contain a URL or a file
		word, _, _ := strings.Cut(path.Base(arg), " ")
		for _, name := range []string{path.Base(first), word} {
			if s, ok := serverNamed(strings.TrimSuffix(name, ":")); ok {
				return s.name
			}
		}
	}
	return ""
}

// optionFlags returns the options that set a number, with it, unchanged: -w 2, -w2,
// --workers 2, --workers=2.
func optionFlags(options, args []string) []string {
	var found []string
	for i, arg := range args {
		for _, option := range options {
			rest, ok := strings.CutPrefix(arg, option)
			switch {
			case !ok:
			case rest == "":
				found = append(found, arg)
				if i+1 < len(args) {
					found = append(found, args[i+1])
				}
			case rest[0] == '=' || len(option) == 2 && '0' <= rest[0] && rest[0] <= '9':
				found = append(found, arg)
			}
		}
	}
	return found
}

// declared is the number of workers that the command sets, else a variable.
func (s server) declared(info Info) (n int, where string) {
	if n := optionNumber(s.options, info.Flags); n > 0 {
		return n, "the command"
	}
	if n := optionNumber(s.options, optionFlags(s.options, strings.Fields(info.Env[s.args]))); n > 0 {
		return n, s.args
	}
	if s.env == "" {
		return 0, ""
	}
	if v, ok := positive(info.Env[s.env]); ok {
		return v, s.env
	}
	return 0, ""
}

// optionNumber is the number among the results of optionFlags; 0: none.
func optionNumber(options, flags []string) (n int) {
	for _, flag := range flags {
		for _, option := range append([]string{""}, options...) {
			if v, ok := positive(strings.TrimPrefix(strings.TrimPrefix(flag, option), "=")); ok {
				n = v
			}
		}
	}
	return n
}

// serverDefault is the number of worker processes of a server of which no worker was
// found.
func serverDefault(info Info, m Machine) (n int, why string, ok bool) {
	s, ok := serverNamed(info.Server)
	if !ok {
		return 0, "", false
	}
	if n, where := s.declared(info); n > 0 {
		if where == s.env {
			return n, fmt.Sprintf("%s=%d is set for %s", s.env, n, s.name), true
		}
		return n, fmt.Sprintf("%s of %s, by %s", count(n, "worker process"), s.name, where), true
	}
	if s.host {
		n = max(m.Online, 1)
		return n, fmt.Sprintf("%s starts a process for each of the host's %d CPUs, regardless of limit and affinity", s.name, n), true
	}
	return 0, "", false
}

// elsewhere reports whether a server runs another number of workers than its variable gives,
// so that something overrides it. The title of gunicorn or puma hides the command, and code may
// set it. uWSGI stops idle workers, and puma's "auto" is a number that it computes.
func (s server) elsewhere(info Info) bool {
	value := info.Env[s.env]
	n, ok := positive(value)
	if s.env == "" || s.name == "uwsgi" || info.Workers == 0 || value != "" && !ok {
		return false
	}
	return info.Workers != max(n, 1)
}

// serverKnob is the setting of a server's number of workers.
func serverKnob(info Info) Knob {
	s, ok := serverNamed(info.Server)
	switch {
	case !ok && info.Workers > 0:
		return Knob{Words: fmt.Sprintf("%s runs one thread of its code at a time, and the program starts %s: change their number in the program or its options, or add replicas",
			info.Runtime.Title(), count(info.Workers, "worker process"))}
	case !ok:
		return Knob{Words: info.Runtime.Title() + " runs one thread of its code at a time: no setting gives a process a second CPU; add replicas"}
	case len(info.Flags) > 0:
		over := ""
		if s.env != "" {
			over = ", which overrides " + s.env
		}
		return Knob{Setting: "workers", File: "the command",
			Words: fmt.Sprintf("%s gets its workers from the command (%s)%s: change it there", s.name, strings.Join(info.Flags, " "), over)}
	case s.args != "" && optionNumber(s.options, optionFlags(s.options, strings.Fields(info.Env[s.args]))) > 0:
		return Knob{Env: s.args, prefix: "-w ", keep: true, Words: s.args + "=-w n"}
	case s.elsewhere(info):
		return Knob{Setting: cmp.Or(s.setting, "workers"), File: "the command, the configuration file or the program's code",
			Words: fmt.Sprintf("%s runs %s, which %s does not set: the command, the configuration file or the program's code does: change it there", s.name, count(info.Workers, "worker process"), s.env)}
	case s.env != "":
		return Knob{Env: s.env, Words: s.env + "=n (worker processes of " + s.name + ")"}
	case len(s.options) > 0:
		return Knob{Setting: s.setting, File: s.file,
			Words: fmt.Sprintf("%s gets its workers from %s on the command line, else from %s in %s: change it there", s.name, s.options[len(s.options)-1], s.setting, s.file)}
	}
	return Knob{Setting: s.setting, File: s.file, Words: fmt.Sprintf("%s gets its workers from %s in %s: change it there", s.name, s.setting, s.file)}
}

const cpusetThreads = "--cpuset-threads"

// envoyDefault follows Envoy's source/server/options_impl_platform_linux.cc. From 1.37
// on the rule with --cpuset-threads includes the limit, rounded down. Without that
// option it is the host's CPUs, in releases to 1.39; no later one was checked.
func envoyDefault(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := lastNumber(info.Flags, "--concurrency"); ok {
		return max(n, 1), fmt.Sprintf("--concurrency %d is set", n)
	}
	if !slices.Contains(info.Flags, cpusetThreads) {
		n := max(m.Online, 1)
		return n, fmt.Sprintf("Envoy starts a worker thread for each of the host's %d CPUs, regardless of limit and affinity", n)
	}
	affinity := m.affinity()
	if limit.Leaf <= 0 || strings.EqualFold(info.Env["ENVOY_CGROUP_CPU_DETECTION"], "false") {
		return affinity, fmt.Sprintf("--cpuset-threads: all %d CPUs of the affinity mask", affinity)
	}
	return min(affinity, max(1, int(limit.Leaf))),
		fmt.Sprintf("Envoy 1.37 and later with --cpuset-threads rounds the limit of %s down, to at least 1", display.CPULimit(limit.Leaf))
}

// haproxyDefault: nbthread is the affinity mask, without a look at the limit.
func haproxyDefault(m Machine) (int, string) {
	affinity := m.affinity()
	return affinity, fmt.Sprintf("HAProxy starts a thread for each of the affinity mask's %d CPUs, regardless of the limit", affinity)
}

// lastNumber is the value of an option, "--name n" or "--name=n"; the last one counts.
func lastNumber(flags []string, name string) (n int, ok bool) {
	for i, flag := range flags {
		value, joined := strings.CutPrefix(flag, name+"=")
		if flag == name && i+1 < len(flags) {
			value, joined = flags[i+1], true
		}
		if v, err := strconv.Atoi(value); joined && err == nil && v >= 0 {
			n, ok = v, true
		}
	}
	return n, ok
}
