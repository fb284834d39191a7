// Package trial writes the command of millicore try that measures a process of the host again,
// beside the one that runs. It is pure.
package trial

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// process is a process among the others of its host.
type process struct {
	*inspect.Process
	others []inspect.Process
}

// longest is the maximum length of a command in bytes: a longer one is cut after the
// program's name.
const longest = 160

// Command is the command of millicore try with the same limits, to be pasted into a shell
// of the same host: in the process's working folder, with the program's absolute path, with
// the variables that change its runtime, and with ${port} instead of the port that is in
// use. others are the processes of the host, limits other CPU limits to try. It is "" where
// try cannot measure the process.
func Command(p *inspect.Process, others []inspect.Process, limits ...float64) string {
	s := process{p, others}
	if s.CPU.CPUs <= 0 || !s.loadable() {
		return ""
	}
	cpus := []string{Quantity(s.CPU.CPUs)}
	for _, limit := range limits {
		if q := Quantity(limit); limit > 0 && !slices.Contains(cpus, q) {
			cpus = append(cpus, q)
		}
	}
	text := "millicore try --cpu " + strings.Join(cpus, ",")
	if s.Memory.Limit > 0 {
		text += fmt.Sprintf(" --memory %s", Mebibytes(s.Memory.Limit))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Info.Env)) {
		entry := commandline.Quoted([]string{name + "=" + s.Info.Env[name]})
		if len(entry) > longest {
			entry = name + "=…"
		}
		text += " --env " + entry
	}
	text += " -- "
	if s.ContainerID == "" && filepath.IsAbs(s.Folder) && s.Folder != "/" {
		text = "cd " + commandline.Quoted([]string{s.Folder}) + " && " + text
	}
	words := s.again()
	command := commandline.Quoted(words)
	switch {
	case len(words) == 0:
		return text + "COMMAND…"
	case len(command) > longest:
		return text + commandline.Quoted(words[:1]) + " …"
	}
	return text + command
}

// loadable reports whether try can load the process under the same limit: it listens on a
// TCP port, or one of its parent and its children does, as far as that is known; it may speak
// HTTP there; and the limit has the period that try sets.
func (s process) loadable() bool {
	if s.CPU.Period != 0 && s.CPU.Period != period || !runtimes.SpeaksHTTP(s.Info) {
		return false
	}
	if s.Listens == nil || *s.Listens {
		return true
	}
	return slices.ContainsFunc(s.others, func(p inspect.Process) bool { return s.kin(p) && p.Listens != nil && *p.Listens })
}

// kin reports whether a process is the parent or a child under the same limit.
func (s process) kin(p inspect.Process) bool {
	return (p.PID == s.Parent || p.Parent == s.PID) && p.CPU.Dir == s.CPU.Dir
}

// port is the port on which the process listens, else its parent or a child, as the workers
// of granian do; 0: none known.
func (s process) port() int {
	if s.Port > 0 {
		return s.Port
	}
	for _, p := range s.others {
		if s.kin(p) && p.Port > 0 {
			return p.Port
		}
	}
	return 0
}

// period is that of the limits that try sets.
const period = 100 * time.Millisecond

// again is the command that starts the process again on a free port. A program that was
// found in PATH is named by its executable, unless that is an interpreter: a virtual
// environment finds its packages by the name of the link.
func (s process) again() []string {
	words := Absolute(s.Process, commandline.StartedBy(s.Command))
	if len(words) == 0 || s.Info.Runtime == runtimes.Erlang { // erl starts the emulator, with variables that it sets
		return nil
	}
	if port := s.port(); port > 0 {
		for i, word := range words[1:] {
			words[i+1] = commandline.WithPort(word, strconv.Itoa(port))
		}
	}
	return words
}

// Absolute is a command of the process with the absolute path of its program, if that is
// known.
func Absolute(s *inspect.Process, command []string) []string {
	exe := s.Exe
	if s.Info.Runtime == runtimes.Python || s.Info.Runtime == runtimes.Ruby {
		exe = ""
	}
	return commandline.Absolute(command, s.Folder, exe)
}

// Quantity writes CPUs as Kubernetes does: 2, 1500m.
func Quantity(cpus float64) string {
	millis := int64(math.Round(cpus * 1000))
	if millis%1000 == 0 {
		return strconv.FormatInt(millis/1000, 10)
	}
	return strconv.FormatInt(millis, 10) + "m"
}

// Mebibytes writes a size as Kubernetes does: 256Mi.
func Mebibytes(bytes int64) string {
	if bytes%(1<<20) != 0 {
		return strconv.FormatInt(bytes, 10)
	}
	return strconv.FormatInt(bytes>>20, 10) + "Mi"
}
