package local

import (
	"slices"
	"strings"
)

// knobs are environment variables by which runtimes choose their parallelism,
// memory and scheduling. Left in the caller's shell they would change what is
// measured without a word in the record, so services do not inherit them: an
// experiment that wants one states it under env.
var knobs = []string{
	"GOMAXPROCS", "GODEBUG", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GORACE", "GOCOVERDIR",
	"NODE_OPTIONS", "UV_THREADPOOL_SIZE", "UV_USE_IO_URING",
	"BUN_OPTIONS", "WTF_numberOfProcessorCores", "DENO_V8_FLAGS",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	"PYTHON_CPU_COUNT", "PYTHONMALLOC", "WEB_CONCURRENCY",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
	"TOKIO_WORKER_THREADS", "RAYON_NUM_THREADS",
	"GLIBC_TUNABLES",
}

// knobFamilies are beginnings of such names.
var knobFamilies = []string{"BUN_JSC_", "DOTNET_", "COMPlus_", "MALLOC_", "RUBY_GC_"}

// messages are variables between the caller and whoever started it, which would
// mislead a service; MILLICORE_ are this program's own.
var messages = []string{"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "MILLICORE_SCOPE", "PORT"}

// inherited is the caller's environment without what services must not inherit,
// and the names of the knobs among that.
func inherited(environ []string) (env, dropped []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case isKnob(name):
			dropped = append(dropped, name)
		case !slices.Contains(messages, name):
			env = append(env, line)
		}
	}
	return env, dropped
}

func isKnob(name string) bool {
	return slices.Contains(knobs, name) ||
		slices.ContainsFunc(knobFamilies, func(family string) bool { return strings.HasPrefix(name, family) })
}

// environment is that of a replica: what is inherited, PORT, what the unit
// states, less what it unsets. Each name is in it once, sorted.
func environment(inherited []string, port string, stated map[string]string, unset []string) []string {
	all := map[string]string{}
	for _, line := range inherited {
		if name, value, ok := strings.Cut(line, "="); ok && name != "" {
			all[name] = value
		}
	}
	if port != "" {
		all["PORT"] = port
	}
	for name, value := range stated {
		all[name] = value
	}
	for _, name := range unset {
		delete(all, name)
	}
	env := make([]string, 0, len(all))
	for name, value := range all {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// lookup returns a variable's value.
func lookup(env []string, name string) string {
	for _, line := range env {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}
