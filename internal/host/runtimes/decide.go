package runtimes

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/host/mathlib"
	"github.com/millicore/millicore/internal/host/runtimes/executable"
)

var (
	pythonName = regexp.MustCompile(`^(?:python|pypy)(\d+(?:\.\d+)*)?(t?)$`)
	rubyName   = regexp.MustCompile(`^(?:ruby|jruby|truffleruby)(\d+(?:\.\d+)*)?$`)
	// 8.0.1 in /usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so
	dotnetPath  = regexp.MustCompile(`/Microsoft\.NETCore\.App/(\d+\.\d+\.\d+)`)
	rubyLibrary = regexp.MustCompile(`libruby(?:-\d+\.\d+)?\.so\.(\d+\.\d+(?:\.\d+)?)$`)
	pyLibrary   = regexp.MustCompile(`libpython(\d+\.\d+)(t?)`)
	uvLibrary   = regexp.MustCompile(`libuv\.so\.(1\.\d+\.\d+)$`)
	javaVersion = regexp.MustCompile(`(?m)^JAVA_VERSION="([^"\n]{1,40})"`)
)

// Decide determines the runtime from the evidence. It is pure.
func Decide(e Evidence) Info {
	info := Info{
		PID: e.PID, Program: path.Base(e.Exe), Threads: e.Threads, Workers: e.Workers,
		Affinity: e.Affinity, Notes: slices.Clone(e.Unread), Refused: e.Refused,
	}
	if e.Exe == "" {
		info.Program = ""
	}
	decideRuntime(e, &info)
	if info.Runtime == Unknown {
		info.Program = startedAs(e)
	}
	if info.Version == "" {
		for name, runtime := range versionEnv {
			if v := e.Env[name]; v != "" && runtime == info.Runtime {
				info.Version, info.VersionFrom = strings.TrimPrefix(v, "v"), Declared
			}
		}
	}
	for name, value := range e.Env {
		if IsEnvKnob(name) {
			if info.Env == nil {
				info.Env = map[string]string{}
			}
			info.Env[name] = value
		}
	}
	if port, ok := positive(e.Env[portVariable]); ok {
		info.PortEnv = port
	}
	if info.Runtime == Python || info.Runtime == Ruby {
		info.Server = serverOf(e.Args)
	}
	info.Flags = flags(info.Runtime, info.Server, e.Args)
	info.Math = mathlib.Of(e.files())
	decideParallelism(e, &info)
	return info
}

// startedAs is the name as which a program was started. Its executable may be the target of
// a link with another name: Debian's redis-server is a link to redis-check-rdb. A title,
// which replaces the command, begins with the name. Of the candidates the kernel's name
// decides, of which it keeps 15 bytes.
func startedAs(e Evidence) string {
	base := func(file string) string {
		if file == "" {
			return ""
		}
		return path.Base(file)
	}
	var whole, word string
	if len(e.Args) > 0 {
		whole = base(e.Args[0]) // a path may have a space
		word, _, _ = strings.Cut(e.Args[0], " ")
		word = strings.TrimSuffix(strings.TrimPrefix(base(word), "-"), ":")
	}
	for _, name := range []string{word, whole, base(e.Exe)} {
		if e.Name != "" && strings.HasPrefix(name, e.Name) {
			return name
		}
	}
	return cmp.Or(word, e.Name, base(e.Exe))
}

// byName is Info.By of runtimes that are recognized by the name of their executable only.
const byName = "executable name"

// decideRuntime checks the evidence from the strongest to the weakest: libraries that
// only one runtime has, Go's build information, marks in the executable, its name.
func decideRuntime(e Evidence, info *Info) {
	is := func(runtime Name, by, version string) {
		info.Runtime, info.By = runtime, by
		if version != "" {
			info.Version, info.VersionFrom = version, Read
		}
	}
	_, isJVM := e.library("libjvm.so")
	dotnet, isDotNet := e.library("libcoreclr.so")
	_, hasNode := e.library("libnode.so")
	python, hasPython := e.library("libpython")
	ruby, hasRuby := e.library("libruby")
	pythonExe := pythonName.FindStringSubmatch(info.Program)
	rubyExe := rubyName.FindStringSubmatch(info.Program)
	server, name, isServer := programNamed(info.Program, startedAs(e))

	switch b := e.Binary; {
	case isJVM:
		is(JVM, "libjvm.so, which it loads", first(javaVersion, e.JavaRelease))
	case isDotNet:
		is(DotNet, "libcoreclr.so, which it loads", first(dotnetPath, dotnet.Path))
	case b.Go != nil:
		is(Go, "Go's build information in the executable", b.Go.GoVersion)
		info.Go = goFacts(b)
	case b.Bun != "":
		is(Bun, "Bun's version in the executable", b.Bun)
	case b.Deno != "" && !b.NodeSymbol:
		is(Deno, "Deno's version in the executable", b.Deno)
	case b.NodeSymbol || hasNode:
		by := "the symbol node::Start of the executable"
		if hasNode {
			by = "libnode.so, which it loads"
		}
		is(Node, by, b.Node)
		if uv, ok := e.library("libuv.so"); ok {
			info.Libuv = first(uvLibrary, uv.Path)
		}
	case pythonExe != nil:
		is(Python, byName, pythonExe[1])
		info.Lockless = pythonExe[2] != "" && e.Env["PYTHON_GIL"] != "1"
	case isServer && rubyExe == nil: // libpython or libruby is for modules of it, as of Unbound
		by := byName
		if name != info.Program {
			info.Program, by = name, "the name as which it was started"
		}
		is(server.runtime, by, first(server.version, e.Exe))
		_, info.Musl = e.library("ld-musl-")
	case hasPython:
		is(Python, path.Base(python.Path)+", which it loads", first(pyLibrary, python.Path))
		info.Lockless = pyLibrary.MatchString(python.Path) && pyLibrary.FindStringSubmatch(python.Path)[2] != "" && e.Env["PYTHON_GIL"] != "1"
	case rubyExe != nil || hasRuby:
		is(Ruby, byName, first(rubyLibrary, ruby.Path))
		info.Lockless = strings.HasPrefix(info.Program, "truffleruby")
		if rubyExe == nil {
			info.By = path.Base(ruby.Path) + ", which it loads"
		}
	case b.Rustc != "":
		is(Rust, "the Rust compiler's mark in the executable", b.Rustc)
		info.Tokio = b.Tokio || slices.ContainsFunc(e.ThreadNames, isTokio)
		info.Rayon, info.Actix = b.Rayon, slices.ContainsFunc(e.ThreadNames, isActix)
		info.RoundsUp = info.Tokio && b.TokioVersion != "" && !atLeast(b.TokioVersion, 1, 39) ||
			!info.Tokio && info.Rayon && b.RayonVersion != "" && !atLeast(b.RayonVersion, 1, 12)
	default:
		is(Unknown, "", "")
	}
}

func isTokio(thread string) bool {
	return strings.HasPrefix(thread, "tokio-rt-worker") || strings.HasPrefix(thread, "tokio-runtime-w")
}

// isActix: actix-web's workers are "actix-rt|system:0|arbiter:1" in its own system, and
// "actix-server worker 1" in a runtime of Tokio; the kernel keeps 15 bytes.
func isActix(thread string) bool {
	return strings.HasPrefix(thread, "actix-rt|") || strings.HasPrefix(thread, "actix-server")
}

func goFacts(b executable.Facts) *GoFacts {
	facts := &GoFacts{Pprof: b.Pprof, Memlimit: b.Memlimit}
	for _, dep := range b.Go.Deps {
		switch dep.Path {
		case executable.Automaxprocs:
			facts.Automaxprocs = moduleVersion(dep)
		case executable.Automemlimit:
			facts.Automemlimit = moduleVersion(dep)
		}
	}
	facts.HeapInCode = b.HeapInCode && !facts.Memlimit && facts.Automemlimit == ""
	for _, s := range b.Go.Settings {
		if s.Key == executable.DefaultGODEBUG {
			facts.DefaultGODEBUG = s.Value
		}
	}
	off, _ := godebug(facts.DefaultGODEBUG, "containermaxprocs")
	facts.Aware = GoAtLeast(b.Go.GoVersion, "go1.25") && off != "0"
	return facts
}

func moduleVersion(m *debug.Module) string {
	if m.Replace != nil {
		m = m.Replace
	}
	if m.Version == "" {
		return "(devel)"
	}
	return m.Version
}

// decideParallelism sets a parallelism that was read or declared. The others are
// predicted by Default, which needs the limit too.
func decideParallelism(e Evidence, info *Info) {
	set := func(n int, source Source, from string) {
		info.Parallelism = Parallelism{Value: n, Source: source, From: from}
	}
	switch info.Runtime {
	case Go:
		declared, ok := positive(e.Env["GOMAXPROCS"])
		switch {
		case e.Gomaxprocs > 0:
			set(e.Gomaxprocs, Read, "runtime.gomaxprocs in the process's memory")
			if ok && declared != e.Gomaxprocs {
				info.Notes = append(info.Notes, fmt.Sprintf(
					"GOMAXPROCS=%d is set, but the process runs with %d: it sets its own value, so the variable has no effect", declared, e.Gomaxprocs))
			}
		case ok:
			set(declared, Declared, "GOMAXPROCS in the environment")
		}
	case JVM:
		if o := jvmOptions(*info); o.processors > 0 {
			set(o.processors, Declared, "-XX:ActiveProcessorCount in "+o.where)
		}
	case DotNet:
		if name, n, ok := processorCount(*info); ok {
			set(n, Declared, name+" in the environment")
		}
	case Rust:
		info.Pooled = pooled(e, *info)
		if name := rustEnv(*info); name != "" {
			if n, ok := positive(e.Env[name]); ok {
				set(n, Declared, name+" in the environment")
			}
		}
	case Nginx, Lighttpd:
		set(max(info.Workers, 1), Read, count(max(info.Workers, 1), "worker process"))
	case PHP:
		if info.Workers > 0 {
			set(info.Workers, Read, count(info.Workers, "worker process")+" at present")
		}
	case Erlang:
		if n, ok := erlangSchedulers(info.Flags); ok {
			set(n, Declared, "+S in its options")
		} else if e.Schedulers > 0 {
			set(e.Schedulers, Read, "the highest number of its scheduler threads that ran")
		}
	case Deno:
		if isDenoParallel(info.Flags) {
			if n, ok := positive(e.Env["DENO_JOBS"]); ok {
				set(n, Declared, "DENO_JOBS in the environment")
			}
			return
		}
	default:
		if p := programOf(info.Runtime).counted(e.ThreadNames, info.Threads); p.Value > 0 {
			info.Parallelism = p
		}
	}
	if info.loops() {
		n := max(info.Workers, 1)
		set(n, Read, count(n, "process")+", one thread of code per process")
	}
	switch {
	case info.Runtime == Node:
		info.Pool = nodePool(e.Env)
	case info.Server == granian:
		info.Pool = granianPool(e)
	}
}

// nodePool is libuv's thread pool: 4 threads by default, at most 1024.
func nodePool(env map[string]string) *Parallelism {
	if n, ok := positive(env["UV_THREADPOOL_SIZE"]); ok {
		return &Parallelism{Value: min(n, 1024), Source: Declared, From: "UV_THREADPOOL_SIZE in the environment"}
	}
	return &Parallelism{Value: 4, Source: Predicted, From: "libuv's pool has 4 threads on any number of CPUs"}
}

// granianPool is the number of threads of granian's I/O runtime in each worker, which run
// beside the thread of Python code.
func granianPool(e Evidence) *Parallelism {
	for _, name := range []string{"runtime-threads", "threads"} { // older releases have the second
		if n, ok := lastNumber(e.Args, "--"+name); ok && n > 0 {
			return &Parallelism{Value: n, Source: Declared, From: "--" + name + " of granian, in each worker"}
		}
		variable := "GRANIAN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if n, ok := positive(e.Env[variable]); ok {
			return &Parallelism{Value: n, Source: Declared, From: variable + " in the environment, in each worker"}
		}
	}
	return &Parallelism{Value: 1, Source: Predicted, From: "granian has 1 thread for I/O in each worker, regardless of the CPUs"}
}

// first is the first group of a pattern; "" without a match or a pattern.
func first(pattern *regexp.Regexp, s string) string {
	if pattern == nil {
		return ""
	}
	if found := pattern.FindStringSubmatch(s); found != nil {
		return found[1]
	}
	return ""
}
