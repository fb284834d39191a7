package runtimes

import (
	"path"
	"strconv"
	"strings"
)

// Evidence is what /proc and the executable show of one process. Nothing in it
// is decided yet; what could not be read is empty.
type Evidence struct {
	PID, PPID int
	Exe       string // target of the link exe, as the process's mount namespace has it
	Args      []string
	Env       map[string]string // variables of EnvKnobs, those that state versions, and PORT
	Mappings  []Mapping
	Threads   int
	// ThreadNames are the names of its threads, each once.
	ThreadNames []string
	Affinity    int    // CPUs of its mask
	Ticks       uint64 // CPU time used, in clock ticks
	Workers     int    // worker processes below it
	Binary      Binary
	JavaRelease string // text of the JVM's file "release"
	Gomaxprocs  int    // read from the memory of a Go process
	// Unread are the reasons why parts are missing, a sentence each.
	Unread []string
}

// Mapping is a line of maps that has a file.
type Mapping struct {
	Start, Offset uint64
	Path          string
}

// versionEnv are variables by which the official images state the version.
var versionEnv = map[string]Name{
	"NODE_VERSION": Node, "BUN_VERSION": Bun, "DENO_VERSION": Deno, "JAVA_VERSION": JVM,
	"PYTHON_VERSION": Python, "DOTNET_VERSION": DotNet, "RUBY_VERSION": Ruby, "NGINX_VERSION": Nginx,
}

// clusterWorker is in the environment of the workers of Node's cluster module.
const clusterWorker = "NODE_UNIQUE_ID"

// parseArgs splits cmdline: arguments, each ended by a NUL. A process that
// rewrote its title may have fewer NULs, or spaces for them.
func parseArgs(text []byte) []string {
	s := strings.TrimRight(string(text), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// portVariable is by which a platform tells a process where to listen.
const portVariable = "PORT"

// parseEnv takes from environ what says something of the runtime. All else is
// none of this package's business, and may be secret.
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

// parseMaps reads maps (proc_pid_maps(5)): "start-end perms offset dev inode
// path". Only lines with a file are kept, and of each file the first.
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

// status is what is taken from /proc/PID/status (proc_pid_status(5)).
type status struct{ ppid, threads, affinity int }

func parseStatus(text []byte) status {
	var s status
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "PPid":
			s.ppid, _ = strconv.Atoi(value)
		case "Threads":
			s.threads, _ = strconv.Atoi(value)
		case "Cpus_allowed_list":
			s.affinity = parseList(value)
		}
	}
	return s
}

// maxCPUs bounds what a list of CPUs may name; the kernel's own bound is 8192.
const maxCPUs = 1 << 16

// parseList counts the CPUs of "0-3,8,10-11"; 0 where it is no such list.
func parseList(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(low, 10, 16)
		if err != nil {
			return 0
		}
		b := a
		if isRange {
			if b, err = strconv.ParseUint(high, 10, 16); err != nil || b < a {
				return 0
			}
		}
		if n += int(b-a) + 1; n > maxCPUs {
			return 0
		}
	}
	return n
}

// parseStat reads the parent and the CPU time from stat (proc_pid_stat(5)). The
// second field is the name in brackets, which may hold anything.
func parseStat(text []byte) (ppid int, ticks uint64, ok bool) {
	s := string(text)
	end := strings.LastIndexByte(s, ')')
	if end < 0 {
		return 0, 0, false
	}
	fields := strings.Fields(s[end+1:]) // from the third field on
	if len(fields) < 13 {
		return 0, 0, false
	}
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0, 0, false
	}
	user, err1 := strconv.ParseUint(fields[11], 10, 64)
	system, err2 := strconv.ParseUint(fields[12], 10, 64)
	return ppid, user + system, err1 == nil && err2 == nil
}

// parseListeners reads net/tcp and net/tcp6: the inodes of listening sockets
// (state 0A) by port.
func parseListeners(text []byte) map[string]int {
	inodes := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != "0A" {
			continue
		}
		colon := strings.LastIndexByte(fields[1], ':')
		port, err := strconv.ParseUint(fields[1][colon+1:], 16, 16)
		if err == nil {
			inodes[fields[9]] = int(port)
		}
	}
	return inodes
}

// library finds a mapped file whose base name begins so.
func (e Evidence) library(prefix string) (Mapping, bool) {
	for _, m := range e.Mappings {
		if strings.HasPrefix(path.Base(m.Path), prefix) {
			return m, true
		}
	}
	return Mapping{}, false
}

// bias is what a position-independent executable's addresses are moved by: the
// address of its first mapping less its first segment's.
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
