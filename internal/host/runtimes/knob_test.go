package runtimes

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/runtimes/executable"
)

func TestSettings(t *testing.T) {
	eight := Machine{Online: 8}
	read := func(i Info, n int) Info {
		i.Parallelism = Parallelism{Value: n, Source: Read, From: "read"}
		return i
	}
	tests := []struct {
		name    string
		info    Info
		limit   Limit
		on      Machine
		command []string
		want    []string // label: value, env or command
	}{
		{"Go under half a CPU", goInfo("go1.26.8", true, nil), LimitOf(0.5), eight, nil,
			[]string{"as it is 2", "GOMAXPROCS=1 1"}},
		{"Go under 2.5 CPUs", goInfo("go1.26.8", true, nil), LimitOf(2.5), eight, nil,
			[]string{"as it is 3", "GOMAXPROCS=1 1", "GOMAXPROCS=2 2"}},
		{"an old Go", goInfo("go1.22.1", false, nil), LimitOf(1.5), eight, nil,
			[]string{"as it is 8", "GOMAXPROCS=1 1", "GOMAXPROCS=2 2"}},
		{"Go that is set to much", goInfo("go1.26.8", true, map[string]string{"GOMAXPROCS": "16"}), LimitOf(3), eight, nil,
			[]string{"as it is 16", "GOMAXPROCS=1 1", "GOMAXPROCS=3 3"}},
		{"Go that is set to 1 gets its default too", goInfo("go1.26.8", true, map[string]string{"GOMAXPROCS": "1"}), LimitOf(1), eight, nil,
			[]string{"as it is 1", "GOMAXPROCS=2 2"}},
		{"Go that sets its own", read(goInfo("go1.26.8", true, nil), 7), LimitOf(1), eight, nil,
			[]string{"as it is 7", "GOMAXPROCS=1 1", "GOMAXPROCS=2 2"}},
		{"at most the CPUs that there are", goInfo("go1.26.8", true, nil), LimitOf(6), Machine{Online: 2}, nil,
			[]string{"as it is 2", "GOMAXPROCS=1 1"}},
		{"Go without a limit", goInfo("go1.26.8", true, nil), Limit{}, eight, nil,
			[]string{"as it is 8", "GOMAXPROCS=1 1"}},
		{"the JVM keeps its other options", Info{Runtime: JVM, Env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g -XX:ActiveProcessorCount=4 -Dx=y"}}, LimitOf(1.5), eight, nil,
			[]string{"as it is 4",
				"JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=1 1 JAVA_TOOL_OPTIONS=-Xmx1g -Dx=y -XX:ActiveProcessorCount=1",
				"JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2 2 JAVA_TOOL_OPTIONS=-Xmx1g -Dx=y -XX:ActiveProcessorCount=2"}},
		{"a JVM whose command says it", Info{Runtime: JVM, Flags: []string{"-XX:ActiveProcessorCount=4"}}, LimitOf(1.5), eight, nil,
			[]string{"as it is 4"}},
		{"a JVM that counts one CPU gets a second one", Info{Runtime: JVM}, LimitOf(1), eight, nil,
			[]string{"as it is 1", "JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2 2 JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2"}},
		{"a JVM on a machine with one CPU", Info{Runtime: JVM}, LimitOf(1), Machine{Online: 1}, nil,
			[]string{"as it is 1"}},
		{"gunicorn with one worker under one CPU", Info{Runtime: Python, Server: "gunicorn"}, LimitOf(1), eight, nil,
			[]string{"as it is 1", "WEB_CONCURRENCY=2 2"}},
		{".NET", Info{Runtime: DotNet}, LimitOf(2), eight, nil,
			[]string{"as it is 2", "DOTNET_PROCESSOR_COUNT=1 1"}},
		{"Tokio", Info{Runtime: Rust, Tokio: true}, LimitOf(1.5), eight, nil,
			[]string{"as it is 1", "TOKIO_WORKER_THREADS=2 2"}},
		{"Rust alone", Info{Runtime: Rust}, LimitOf(1.5), eight, nil, []string{"as it is 1"}},
		{"gunicorn", Info{Runtime: Python, Server: "gunicorn"}, LimitOf(1.5), eight, nil,
			[]string{"as it is 1", "WEB_CONCURRENCY=2 2"}},
		{"gunicorn with -w", Info{Runtime: Python, Server: "gunicorn", Workers: 4, Flags: []string{"-w", "4"}}, LimitOf(1.5), eight, nil,
			[]string{"as it is 4"}},
		{"gunicorn whose command says it", Info{Runtime: Python, Server: "gunicorn", Workers: 4, Flags: []string{"-w", "4"}}, LimitOf(1.5), eight, []string{"gunicorn", "-w", "4", "app:app"},
			[]string{"as it is 4", "gunicorn -w 1 1 gunicorn|-w|1|app:app", "gunicorn -w 2 2 gunicorn|-w|2|app:app"}},
		{"gunicorn whose title hides its command", Info{Runtime: Python, Server: "gunicorn", Workers: 4}, LimitOf(0.5), eight, []string{"gunicorn", "--workers=4", "app:app"},
			[]string{"as it is 4", "gunicorn --workers 1 1 gunicorn|--workers=1|app:app"}},
		{"gunicorn in a shell", Info{Runtime: Python, Server: "gunicorn", Workers: 4, Flags: []string{"-w", "4"}}, LimitOf(0.5), eight, []string{"sh", "-c", "gunicorn -w 4 app:app"},
			[]string{"as it is 4"}},
		{"uvicorn has no more workers", Info{Runtime: Python, Server: "uvicorn", Workers: 2, Flags: []string{"--workers", "2"}}, LimitOf(3), eight, []string{"uvicorn", "app:app", "--workers", "2"},
			[]string{"as it is 2", "uvicorn --workers 1 1 uvicorn|app:app|--workers|1"}},
		{"uwsgi", Info{Runtime: Python, Server: "uwsgi", Workers: 4}, LimitOf(0.5), eight, []string{"uwsgi", "-p", "4", "-w", "app"},
			[]string{"as it is 4", "uwsgi -p 1 1 uwsgi|-p|1|-w|app"}},
		{"puma", Info{Runtime: Ruby, Server: "puma", Workers: 2}, LimitOf(0.5), eight, []string{"bundle", "exec", "puma", "-w2"},
			[]string{"as it is 2", "puma -w 1 1 bundle|exec|puma|-w1"}},
		{"hypercorn has no variable", Info{Runtime: Python, Server: "hypercorn"}, LimitOf(1.5), eight, []string{"python", "-m", "hypercorn", "app:app"},
			[]string{"as it is 1", "hypercorn --workers 2 2 python|-m|hypercorn|app:app|--workers|2"}},
		{"hypercorn in a shell", Info{Runtime: Python, Server: "hypercorn"}, LimitOf(1.5), eight, []string{"sh", "-c", "hypercorn app:app"}, []string{"as it is 1"}},
		{"hypercorn with operands", Info{Runtime: Python, Server: "hypercorn"}, LimitOf(1.5), eight, []string{"hypercorn", "--", "app:app"}, []string{"as it is 1"}},
		{"granian", Info{Runtime: Python, Server: "granian"}, LimitOf(1.5), eight, nil, []string{"as it is 1", "GRANIAN_WORKERS=2 2"}},
		{"Rayon", Info{Runtime: Rust, Rayon: true}, LimitOf(1.5), eight, nil, []string{"as it is 1", "RAYON_NUM_THREADS=2 2"}},
		{"Python alone", Info{Runtime: Python}, LimitOf(1.5), eight, nil, []string{"as it is 1"}},
		{"Node", Info{Runtime: Node}, LimitOf(1.5), eight, nil, []string{"as it is 1"}},
		{"deno serve", Info{Runtime: Deno, Flags: []string{"serve"}}, LimitOf(1.5), eight, []string{"deno", "serve", "m.ts"},
			[]string{"as it is 1", "DENO_JOBS=2 and --parallel 2 deno|serve|--parallel|m.ts"}},
		{"deno serve --parallel", Info{Runtime: Deno, Flags: []string{"serve", "--parallel"}}, LimitOf(2), eight, nil,
			[]string{"as it is 2", "DENO_JOBS=1 1"}},
		{"nginx whose command says it", Info{Runtime: Nginx, Workers: 4, Flags: []string{"daemon off; worker_processes 4;"}}, LimitOf(1.5), eight,
			[]string{"nginx", "-g", "daemon off; worker_processes 4;"},
			[]string{"as it is 4",
				"worker_processes 1 1 nginx|-g|daemon off; worker_processes 1;",
				"worker_processes 2 2 nginx|-g|daemon off; worker_processes 2;",
				"worker_processes 8 8 nginx|-g|daemon off; worker_processes 8;"}},
		{"nginx whose configuration says it", Info{Runtime: Nginx, Workers: 4}, LimitOf(1.5), eight, []string{"nginx"},
			[]string{"as it is 4"}},
		{"Envoy whose command says it", Info{Runtime: Envoy, Flags: []string{"--concurrency", "8"}}, LimitOf(1.5), eight, []string{"envoy", "--concurrency", "8", "-c", "x"},
			[]string{"as it is 8", "--concurrency 1 1 envoy|--concurrency|1|-c|x", "--concurrency 2 2 envoy|--concurrency|2|-c|x"}},
		{"Envoy whose command does not", Info{Runtime: Envoy, Flags: []string{"--cpuset-threads"}}, LimitOf(1.5), eight, []string{"/bin/envoy", "--cpuset-threads"},
			[]string{"as it is 1", "--concurrency 2 2 /bin/envoy|--cpuset-threads|--concurrency|2"}},
		{"Envoy in a script", Info{Runtime: Envoy}, LimitOf(1.5), eight, []string{"sh", "-c", "envoy -c x"}, []string{"as it is 8"}},
		{"gunicorn's arguments in a variable", Info{Runtime: Python, Server: "gunicorn", Env: map[string]string{"GUNICORN_CMD_ARGS": "-w 3"}}, LimitOf(1.5), eight, nil,
			[]string{"as it is 3", "GUNICORN_CMD_ARGS=-w 1 1", "GUNICORN_CMD_ARGS=-w 2 2"}},
		{".NET 5", Info{Runtime: DotNet, Version: "5.0.1"}, LimitOf(2), eight, nil, []string{"as it is 2", "COMPlus_PROCESSOR_COUNT=1 1"}},
		{"an unknown program", Info{Runtime: Unknown}, LimitOf(1.5), eight, nil, []string{"as it is 0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			before := slices.Clone(test.command)
			for _, s := range Settings(test.info, test.limit, test.on, test.command) {
				line := s.Label + " " + strconv.Itoa(s.Value)
				if v, ok := s.Env["JAVA_TOOL_OPTIONS"]; ok {
					line += " JAVA_TOOL_OPTIONS=" + v
				} else if s.Command != nil {
					line += " " + strings.Join(s.Command, "|")
				} else if len(s.Env) > 0 && !strings.HasSuffix(s.Label, "="+s.Env[KnobOf(test.info).Env]) {
					t.Errorf("the label %q is not the variable %v", s.Label, s.Env)
				}
				if s.Reason == "" {
					t.Errorf("%q has no reason", s.Label)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if !slices.Equal(before, test.command) {
				t.Error("the caller's command was changed")
			}
		})
	}
}

func TestKnobOfNoneSaysWhatToDo(t *testing.T) {
	for _, runtime := range []Name{Node, Bun, Deno, Python, Ruby, Rust, Unknown} {
		knob := KnobOf(Info{Runtime: runtime})
		if !knob.None() || !strings.Contains(knob.Words, "add replicas") {
			t.Errorf("%s: %+v", runtime, knob)
		}
	}
}

// Erlang's option is a word before its value, and other options stay.
func TestKnobKeepsOtherOptions(t *testing.T) {
	knob := KnobOf(Info{Runtime: Erlang})
	for present, want := range map[string]string{
		"":                  "+S 2",
		"+S 4:4 +sbwt none": "+sbwt none +S 2",
		"+sbwt none +S4":    "+sbwt none +S 2",
		"+SDcpu 4:4 -smp x": "+SDcpu 4:4 -smp x +S 2",
	} {
		if got := knob.value(present, 2); got != want {
			t.Errorf("%q became %q, want %q", present, got, want)
		}
	}
}

// A setting in a file or in the command is named with its place.
func TestKnobOfAFile(t *testing.T) {
	for want, info := range map[string]Info{
		"pm.max_children":          {Runtime: PHP},
		"nbthread":                 {Runtime: HAProxy},
		"worker_processes":         {Runtime: Nginx},
		"-XX:ActiveProcessorCount": {Runtime: JVM, Flags: []string{"-XX:ActiveProcessorCount=4"}},
		"HttpServer::workers":      {Runtime: Rust, Tokio: true, Actix: true},
		"workers":                  {Runtime: Python, Server: "hypercorn"},
		"worker_concurrency":       {Runtime: Python, Server: "celery"},
	} {
		knob := KnobOf(info)
		if !knob.None() || knob.Setting != want || knob.File == "" || !strings.HasSuffix(knob.Words, "change it there") {
			t.Errorf("%s: got %+v", want, knob)
		}
	}
}

func TestIsEnvKnob(t *testing.T) {
	for _, name := range append(slices.Clone(envKnobs), "DOTNET_PROCESSOR_COUNT", "BUN_JSC_useJIT", "MALLOC_ARENA_MAX") {
		if !IsEnvKnob(name) {
			t.Errorf("%s is a knob", name)
		}
	}
	for _, name := range []string{"PATH", "HOME", "PORT", "GOPATH", ""} {
		if IsEnvKnob(name) {
			t.Errorf("%q is none", name)
		}
	}
}

func TestASettingSaysWhereTheMachineIsSmallerThanTheLimit(t *testing.T) {
	all := Settings(goInfo("go1.26.8", true, map[string]string{"GOMAXPROCS": "16"}), LimitOf(6), Machine{Online: 4}, nil)
	last := all[len(all)-1]
	if want := "the limit of 6 CPUs, rounded down: it cannot use up the quota early, but this machine has 4 CPUs"; last.Value != 4 || last.Reason != want {
		t.Errorf("%d, %q, want 4, %q", last.Value, last.Reason, want)
	}
}

// deno serve has an option for more event loops; other programs of Deno do not.
func TestKnobOfDeno(t *testing.T) {
	for args, want := range map[string]string{
		"deno serve m.ts":                   "DENO_JOBS=n and deno serve --parallel",
		"deno --quiet serve --port 80 m.ts": "DENO_JOBS=n and deno serve --parallel",
		"deno serve --parallel m.ts":        "DENO_JOBS=n",
		"deno run m.ts serve":               "no setting gives it a second CPU; add replicas",
		"deno task serve":                   "no setting gives it a second CPU; add replicas",
	} {
		info := Decide(Evidence{Exe: "/usr/bin/deno", Binary: executable.Facts{Deno: "2.9.6"}, Args: strings.Fields(args)})
		if got := KnobOf(info).Words; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// A program that already runs several event loops has the number of them in its own hands.
func TestKnobOfACluster(t *testing.T) {
	for workers, want := range map[int]string{
		0: "Node.js runs its code on one event loop: no setting gives it a second CPU; add replicas",
		4: "Node.js runs one event loop in each process, and the program starts 4 worker processes: change their number in the program or its options",
	} {
		if got := KnobOf(Info{Runtime: Node, Workers: workers}).Words; got != want {
			t.Errorf("%d workers: %q, want %q", workers, got, want)
		}
	}
}
