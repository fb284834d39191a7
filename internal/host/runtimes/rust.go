package runtimes

// rustEnv is the variable of the library that runs a Rust program's code: Tokio, else
// Rayon; "" if it has neither, or if actix-web runs its requests.
func rustEnv(info Info) string {
	switch {
	case info.Actix:
	case info.Tokio:
		return "TOKIO_WORKER_THREADS"
	case info.Rayon:
		return "RAYON_NUM_THREADS"
	}
	return ""
}

// rustSetting is what overrides rustEnv in the code of a program.
func rustSetting(info Info) string {
	if info.Tokio {
		return "worker_threads"
	}
	return "num_threads"
}

// pooled counts the threads that can be workers of Tokio or Rayon. Those of Tokio have a name,
// which its blocking tasks share and which the program may change. Those of Rayon have none;
// the main thread is not one of them. A process of one thread has no pool: its main thread
// runs the code, as with Tokio's flavor current_thread.
func pooled(e Evidence, info Info) (n int) {
	switch {
	case rustEnv(info) == "" || e.Threads == 0:
		return 0
	case e.Threads == 1:
		return 1
	case !info.Tokio:
		return e.Threads - 1
	}
	for _, name := range e.ThreadNames {
		if isTokio(name) {
			n++
		}
	}
	return n
}

// Pool is the parallelism of a Rust program that has fewer threads than its variable or the
// rule of its library gives: its code sets their number, and overrides the variable
// (worker_threads of tokio::runtime::Builder, num_threads of rayon's ThreadPoolBuilder).
func Pool(info Info, ruled int) (p Parallelism, ok bool) {
	if info.Pooled == 0 || info.Pooled >= max(info.Parallelism.Value, ruled) {
		return Parallelism{}, false
	}
	return Parallelism{Value: info.Pooled, Source: Read, From: "its threads"}, true
}

// SizedInCode describes where the code of a Rust program sets the number of its threads: a
// setting, and why no variable changes it.
func SizedInCode(info Info) (setting, why string, ok bool) {
	if rustEnv(info) == "" {
		return "", "", false
	}
	setting = rustSetting(info)
	return setting, "the program's code sets " + setting + ", which overrides " + rustEnv(info), true
}

// rustKnob is the setting of a program of Rust.
func rustKnob(info Info) Knob {
	const code = "the program's code"
	name := rustEnv(info)
	switch {
	case info.Actix:
		return Knob{Setting: "HttpServer::workers", File: code,
			Words: "actix-web does not read TOKIO_WORKER_THREADS: HttpServer::workers in the program's code sets the number of its workers: change it there"}
	case name == "":
		return Knob{Words: "Rust programs without Tokio and Rayon have no common setting: see the program's own options, or add replicas"}
	case info.Threads == 1 && info.Pooled == 1:
		pool := "Rayon's pool"
		if info.Tokio {
			pool = "Tokio's multi-threaded runtime"
		}
		return Knob{Setting: rustSetting(info), File: code,
			Words: "the process has one thread, so its code does not use " + pool + ", and " + name + " has no effect: set " + rustSetting(info) + " there"}
	}
	return Knob{Env: name, Words: name + "=n"}
}
