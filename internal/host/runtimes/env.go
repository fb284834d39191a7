package runtimes

import (
	"slices"
	"strings"
)

// envKnobs are environment variables that set the parallelism, memory or scheduling
// of runtimes and their servers. Inherited from a caller's shell, they would change a
// measurement without a trace in the record.
var envKnobs = []string{
	"GOMAXPROCS", "GODEBUG", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GORACE", "GOCOVERDIR",
	"NODE_OPTIONS", "UV_THREADPOOL_SIZE", "UV_USE_IO_URING",
	"BUN_OPTIONS", "WTF_numberOfProcessorCores",
	"DENO_V8_FLAGS", "DENO_JOBS",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	"PYTHON_CPU_COUNT", "PYTHON_GIL", "PYTHONMALLOC",
	"WEB_CONCURRENCY", "GUNICORN_CMD_ARGS", "GRANIAN_WORKERS", "GRANIAN_RUNTIME_THREADS", "GRANIAN_THREADS", "GRANIAN_BLOCKING_THREADS", "GRANIAN_RUNTIME_MODE", "RAILS_MAX_THREADS", "PUMA_MIN_THREADS", "PUMA_MAX_THREADS",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME",
	"TOKIO_WORKER_THREADS", "RAYON_NUM_THREADS",
	"ERL_AFLAGS", "ERL_FLAGS", "ERL_ZFLAGS",
	"ENVOY_CGROUP_CPU_DETECTION", "NGINX_ENTRYPOINT_WORKER_PROCESSES_AUTOTUNE",
	"GLIBC_TUNABLES",
}

// envFamilies are prefixes of such names.
var envFamilies = []string{"BUN_JSC_", "DOTNET_", "COMPlus_", "MALLOC_", "RUBY_GC_", "UWSGI_"}

// IsEnvKnob reports whether a variable changes a runtime's parallelism, memory or
// scheduling.
func IsEnvKnob(name string) bool {
	return slices.Contains(envKnobs, name) ||
		slices.ContainsFunc(envFamilies, func(family string) bool { return strings.HasPrefix(name, family) })
}
