package runtimes

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes/executable"
)

// FS reads processes from a mounted procfs.
type FS struct {
	host     *procfiles.Host
	children map[int][]int // child pids by parent pid; nil: all processes are searched

	identify func(fs.FileInfo) (key any, ok bool) // key of an executable; nil: no cache
	binaries map[any]known                        // cache of executables by that key
}

// Host is this machine's /proc.
func Host() FS { return On(procfiles.New("/proc")) }

// On reads the processes of a procfs by host, whose bounds of time are those of a scan.
func On(host *procfiles.Host) FS { return FS{host: host} }

// WithChildren returns the procfs with a known process tree: child pids by parent
// pid. Without it, each call that needs the children of a process searches all
// processes.
func (f FS) WithChildren(children map[int][]int) FS {
	f.children = children
	return f
}

// WithCache returns the procfs with a cache of executables, so that each file is read
// once. identify returns a comparable key of a file; ok is false if there is none.
// The result is not safe for concurrent use.
func (f FS) WithCache(identify func(fs.FileInfo) (key any, ok bool)) FS {
	f.identify, f.binaries = identify, map[any]known{}
	return f
}

// Detect detects the runtime of a process on this machine. An error means that there
// is no such process; a part that could not be read is a note in Info.
func Detect(pid int) (Info, error) { return Host().Detect(pid) }

// Detect is like the function Detect, for this procfs.
func (f FS) Detect(pid int) (Info, error) {
	e, err := f.Evidence(pid)
	if err != nil {
		return Info{}, err
	}
	return Decide(e), nil
}

// Evidence gathers what can be read of a process.
func (f FS) Evidence(pid int) (Evidence, error) {
	text, err := f.read(pid, "status")
	if err != nil {
		return Evidence{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	s := proc.ParseStatus(text)
	e := Evidence{PID: pid, PPID: s.Parent, Threads: s.Threads, Affinity: s.CPUs}
	unread := func(what string, err error) {
		if refused, ok := errors.AsType[*procfiles.Refused](err); ok {
			e.Refused = cmp.Or(e.Refused, refused.Why)
			return
		}
		if errors.Is(err, fs.ErrPermission) {
			err = errors.New("permission denied; run as the process's user or as root")
		}
		e.Unread = append(e.Unread, fmt.Sprintf("%s could not be read: %v", what, err))
	}
	if text, err = f.read(pid, "stat"); err == nil {
		if stat, err := proc.ParseStat(text); err == nil {
			e.Used, e.Name = stat.Used(), stat.Name
		}
	}
	if text, err = f.read(pid, "cmdline"); err != nil {
		unread("its command", err)
	} else {
		e.Args = proc.ParseArgs(text)
	}
	if text, err = f.read(pid, "environ"); err != nil {
		unread("its environment", err)
	} else {
		e.Env = parseEnv(text)
	}
	if text, err = f.read(pid, "maps"); err != nil {
		unread("its mapped files", err)
	} else {
		e.Mappings = parseMaps(text)
	}
	if e.Exe, err = os.Readlink(f.path(pid, "exe")); err != nil {
		unread("its executable", err)
	} else {
		e.Exe = strings.TrimSuffix(e.Exe, " (deleted)")
		if e.Binary, err = f.inspect(pid); err != nil {
			unread("its executable", err)
		}
	}
	e.ThreadNames, e.Schedulers = f.threadNames(pid)
	if e.JavaRelease, err = f.javaRelease(e); err != nil {
		unread("its Java version", err)
	}
	e.Workers = f.workers(e)
	if e.Binary.Gomaxprocs != 0 {
		if e.Gomaxprocs, err = f.gomaxprocs(e); err != nil {
			unread("its GOMAXPROCS", err)
		}
	}
	return e, nil
}

func (f FS) path(pid int, name string) string { return f.host.Path(pid, name) }

func (f FS) read(pid int, name string) ([]byte, error) { return f.host.Read(pid, name) }

// mostBinaries bounds the cache of executables.
const mostBinaries = 4096

// known is the result of reading an executable.
type known struct {
	binary executable.Facts
	err    error
}

// inspect reads the executable of a process.
func (f FS) inspect(pid int) (executable.Facts, error) {
	read := func() (executable.Facts, error) { return procfiles.Executable(f.host, pid, executable.Read) }
	if f.identify == nil {
		return read()
	}
	info, err := f.host.Stat(pid, "exe")
	if err != nil {
		return executable.Facts{}, err
	}
	key, ok := f.identify(info)
	if k, seen := f.binaries[key]; ok && seen {
		return k.binary, k.err
	}
	b, err := read()
	if ok && procfiles.Lasts(err) {
		if len(f.binaries) >= mostBinaries {
			clear(f.binaries)
		}
		f.binaries[key] = known{b, err}
	}
	return b, err
}

// gomaxprocs reads the Go runtime's variable gomaxprocs, an int32, from the
// process's memory. That needs the permissions of ptrace, but does not stop the
// process.
func (f FS) gomaxprocs(e Evidence) (int, error) {
	bias, ok := e.bias()
	if !ok {
		return 0, errors.New("the address of its executable is not known")
	}
	word, err := f.host.Memory(e.PID, e.Binary.Gomaxprocs+bias, 4)
	if err != nil {
		return 0, err
	}
	n := int32(binary.NativeEndian.Uint32(word))
	if n < 1 || n > 1<<20 {
		return 0, fmt.Errorf("the value %d is out of range", n)
	}
	return int(n), nil
}

// mostThreads bounds how many threads of a process are looked at.
const mostThreads = 4096

// threadNames reads the names of the threads, and the highest number of a scheduler of
// Erlang that ran.
func (f FS) threadNames(pid int) (names []string, schedulers int) {
	tasks, _ := f.host.Names(pid, "task", mostThreads)
	for _, task := range tasks {
		text, _ := f.read(pid, filepath.Join("task", task, "comm"))
		name := strings.TrimSpace(string(text))
		if name != "" {
			names = append(names, name)
		}
		if n := scheduler(name); n > schedulers {
			text, _ := f.read(pid, filepath.Join("task", task, "schedstat"))
			if stat, err := proc.ParseSchedstat(text); err == nil && stat.Ran >= schedulerRan {
				schedulers = n
			}
		}
	}
	return names, schedulers
}

// javaRelease reads the file "release" in the JVM's folder, which is two to five
// levels above that of libjvm.so (lib/server/, jre/lib/amd64/server/).
func (f FS) javaRelease(e Evidence) (string, error) {
	jvm, ok := e.library("libjvm.so")
	if !ok {
		return "", nil
	}
	home := path.Dir(jvm.Path)
	for range 5 {
		home = path.Dir(home)
		name := path.Join(home, "release")
		file, err := f.host.Within(e.PID, name, 1<<16)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return "", &procfiles.Refused{Why: "its user may not read " + procfiles.Short(name)}
		case err == nil && javaVersion.Match(file.Text):
			return string(file.Text), nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", err
		}
	}
	return "", nil
}

// pids returns the pids of all processes.
func (f FS) pids() []int {
	entries, _ := os.ReadDir(f.host.Root())
	var all []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// titles reports whether a program that names its processes' roles named this one, and
// whether it is a worker: nginx, PHP-FPM and PostgreSQL, whose processes are none.
func titles(title string) (worker, titled bool) {
	for program, role := range map[string]string{"nginx: ": "worker process", "php-fpm: ": "pool ", "postgres: ": "\x00"} {
		if rest, ok := strings.CutPrefix(title, program); ok {
			return strings.HasPrefix(rest, role), true
		}
	}
	return false, false
}

// workers counts the worker processes of e: children of the same program with a
// worker's title (nginx, PHP-FPM), with the variable of Node's cluster module, with the
// same command (Celery, granian), or with a listening socket that they
// share with e (gunicorn, uvicorn, puma).
func (f FS) workers(e Evidence) int {
	n := 0
	var shared map[string]int
	server, _ := serverNamed(serverOf(e.Args))
	candidates := f.children[e.PID]
	if f.children == nil {
		candidates = f.pids()
	}
	for _, pid := range candidates {
		text, err := f.read(pid, "stat")
		if err != nil {
			continue
		}
		if stat, err := proc.ParseStat(text); err != nil || stat.Parent != e.PID {
			continue
		}
		if exe, err := os.Readlink(f.path(pid, "exe")); err != nil || strings.TrimSuffix(exe, " (deleted)") != e.Exe {
			continue
		}
		cmdline, _ := f.read(pid, "cmdline")
		environ, _ := f.read(pid, "environ")
		if worker, titled := titles(string(cmdline)); titled {
			if worker {
				n++
			}
			continue
		}
		if server.forks && slices.Equal(proc.ParseArgs(cmdline), e.Args) {
			n++
			continue
		}
		if _, ok := parseEnv(environ)[clusterWorker]; ok {
			n++
			continue
		}
		if shared == nil {
			shared = f.listening(e.PID)
		}
		if shares(shared, f.listening(pid)) || len(shared) == 0 && shares(f.listeningUnix(e.PID), f.listeningUnix(pid)) {
			n++
		}
	}
	return n
}

// shares reports whether two sets of sockets have one in common.
func shares(a, b map[string]int) bool {
	for inode := range a {
		if _, ok := b[inode]; ok {
			return true
		}
	}
	return false
}

// listening returns the ports of a process's listening TCP sockets, by inode.
func (f FS) listening(pid int) map[string]int {
	all := map[string]int{}
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		text, _ := f.read(pid, name)
		_ = proc.ParseInet(bytes.NewReader(text), func(s proc.Socket) bool { // of a malformed table, the lines before the first such
			if s.Listens {
				all[strconv.FormatUint(s.Inode, 10)] = int(s.Local.Port())
			}
			return true
		})
	}
	return f.held(pid, all)
}

// listeningUnix returns a process's listening Unix sockets, by inode.
func (f FS) listeningUnix(pid int) map[string]int {
	all := map[string]int{}
	text, _ := f.read(pid, "net/unix")
	_ = proc.ParseUnix(bytes.NewReader(text), func(s proc.Socket) bool {
		if s.Listens {
			all[strconv.FormatUint(s.Inode, 10)] = 0
		}
		return true
	})
	return f.held(pid, all)
}

// held returns those of some sockets, by inode, that a process has open.
func (f FS) held(pid int, all map[string]int) map[string]int {
	held := map[string]int{}
	_ = f.host.Sockets(pid, func(inode string) { // of a process that may not be read: none
		if port, ok := all[inode]; ok {
			held[inode] = port
		}
	})
	return held
}
