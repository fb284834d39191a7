package runtimes

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/host/runtimes/executable"
)

// Evidence is what was read of one process from /proc and its executable, without
// conclusions. A part that could not be read is empty.
type Evidence struct {
	PID, PPID int
	Name      string // the kernel's, 15 bytes at most: of the file that was executed
	Exe       string // target of the link exe, in the process's mount namespace
	Args      []string
	Env       map[string]string // variables that IsEnvKnob accepts, those that state versions, and PORT
	Mappings  []Mapping
	Threads   int
	// ThreadNames are the names of its threads, one for each.
	ThreadNames []string
	// Schedulers is the highest number of a scheduler thread of Erlang that ran for more than
	// its start.
	Schedulers  int
	Affinity    int           // CPUs of its mask
	Used        time.Duration // CPU time since its start
	Workers     int           // worker processes below it
	Binary      executable.Facts
	JavaRelease string // text of the JVM's file "release"
	Gomaxprocs  int    // read from the memory of a Go process
	// Unread are the reasons why parts are missing, a sentence each.
	Unread []string
	// Refused is the first reason not to look at the process any further; "": none.
	Refused string
}

// Mapping is a line of maps with a file.
type Mapping struct {
	Start, Offset uint64
	Path          string
}

// versionEnv are variables in which the official images state the version.
var versionEnv = map[string]Name{
	"NODE_VERSION": Node, "BUN_VERSION": Bun, "DENO_VERSION": Deno, "JAVA_VERSION": JVM,
	"PYTHON_VERSION": Python, "DOTNET_VERSION": DotNet, "RUBY_VERSION": Ruby, "NGINX_VERSION": Nginx, "PHP_VERSION": PHP,
}

// clusterWorker is in the environment of the workers of Node's cluster module.
const clusterWorker = "NODE_UNIQUE_ID"

// portVariable is the variable by which platforms set a process's port.
const portVariable = "PORT"

// parseEnv returns the variables of environ that concern the runtime. It drops all
// others, because they may contain secrets.
func parseEnv(text []byte) map[string]string {
	env := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\x00") {
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		if _, version := versionEnv[name]; version || name == clusterWorker || name == portVariable || IsEnvKnob(name) {
			env[name] = value
		}
	}
	return env
}

// parseMaps parses maps (proc_pid_maps(5)): "start-end perms offset dev inode path".
// It keeps the first line of each file.
func parseMaps(text []byte) []Mapping {
	var all []Mapping
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		head, file, ok := strings.Cut(strings.TrimRight(line, "\n"), "/")
		fields := strings.Fields(head)
		if !ok || len(fields) < 5 {
			continue
		}
		file = "/" + strings.TrimSuffix(file, " (deleted)")
		if seen[file] {
			continue
		}
		begin, _, _ := strings.Cut(fields[0], "-")
		start, err := strconv.ParseUint(begin, 16, 64)
		if err != nil {
			continue
		}
		offset, err := strconv.ParseUint(fields[2], 16, 64)
		if err != nil {
			continue
		}
		seen[file] = true
		all = append(all, Mapping{Start: start, Offset: offset, Path: file})
	}
	return all
}

// files are the paths of the mapped files.
func (e Evidence) files() (paths []string) {
	for _, m := range e.Mappings {
		paths = append(paths, m.Path)
	}
	return paths
}

// library finds a mapped file by the beginning of its base name.
func (e Evidence) library(prefix string) (Mapping, bool) {
	for _, m := range e.Mappings {
		if strings.HasPrefix(path.Base(m.Path), prefix) {
			return m, true
		}
	}
	return Mapping{}, false
}

// bias is the offset at which a position-independent executable is loaded: the
// address of its first mapping minus that of its first segment.
func (e Evidence) bias() (uint64, bool) {
	if !e.Binary.Moved {
		return 0, true
	}
	for _, m := range e.Mappings {
		if m.Path == e.Exe && m.Offset == 0 {
			return m.Start - e.Binary.Base, true
		}
	}
	return 0, false
}
