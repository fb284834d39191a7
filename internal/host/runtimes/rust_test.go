package runtimes

import (
	"reflect"
	"strings"
	"testing"
)

// A pool is smaller than its variable or the rule gives only if the code sets it. It may seem
// larger, because other threads are counted too.
func TestPool(t *testing.T) {
	for _, test := range []struct {
		name             string
		pooled, declared int
		ruled            int
		want             int
	}{
		{"as the rule gives", 4, 0, 4, 0},
		{"with other threads", 9, 0, 4, 0},
		{"fewer than the rule gives", 1, 0, 4, 1},
		{"fewer than the variable gives", 1, 2, 2, 1},
		{"not known", 0, 0, 4, 0},
	} {
		info := Info{Runtime: Rust, Tokio: true, Pooled: test.pooled, Parallelism: Parallelism{Value: test.declared}}
		if p, ok := Pool(info, test.ruled); p.Value != test.want || ok != (test.want > 0) {
			t.Errorf("%s: %+v, %v", test.name, p, ok)
		}
	}
}

// A variable is the setting only where it can act.
func TestRustSettings(t *testing.T) {
	const code = "the program's code"
	for _, test := range []struct {
		name string
		info Info
		want Knob // without its words
		less string
	}{
		{"Tokio", Info{Tokio: true, Pooled: 1, Threads: 2}, Knob{Env: "TOKIO_WORKER_THREADS"}, "worker_threads in " + code},
		{"Tokio's current_thread", Info{Tokio: true, Pooled: 1, Threads: 1}, Knob{Setting: "worker_threads", File: code}, ""},
		{"Rayon", Info{Rayon: true, Pooled: 1, Threads: 2}, Knob{Env: "RAYON_NUM_THREADS"}, "num_threads in " + code},
		{"Rayon that is not used", Info{Rayon: true, Pooled: 1, Threads: 1}, Knob{Setting: "num_threads", File: code}, ""},
		{"neither", Info{Threads: 1}, Knob{}, ""},
	} {
		test.info.Runtime = Rust
		knob := KnobOf(test.info)
		knob.Words = ""
		if !reflect.DeepEqual(knob, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, knob, test.want)
		}
		if why := Unless(test.info); len(why) < len(test.less) || why[:len(test.less)] != test.less || test.less == "" && why != "" {
			t.Errorf("%s: %q", test.name, why)
		}
	}
}

// Options in a file of arguments come after those of the variable.
func TestUnlessAFileOfArguments(t *testing.T) {
	for command, want := range map[string]bool{"java @/srv/options Main": true, "java Main @all": false, "java -jar a.jar @all": false} {
		info := Info{Runtime: JVM, Flags: flags(JVM, "", strings.Fields(command))}
		if why := Unless(info); strings.HasPrefix(why, "-XX:ActiveProcessorCount in a file of arguments (@/srv/options)") != want || !want && why != "" {
			t.Errorf("%s: %q", command, why)
		}
	}
}

// A server with another number of workers than its variable gives has it from elsewhere.
func TestWorkersFromElsewhere(t *testing.T) {
	for _, test := range []struct {
		server, variable, value string
		workers                 int
		want                    bool // the variable
	}{
		{"puma", "WEB_CONCURRENCY", "4", 1, false},
		{"puma", "WEB_CONCURRENCY", "1", 1, true},
		{"puma", "WEB_CONCURRENCY", "", 3, false},
		{"puma", "WEB_CONCURRENCY", "auto", 3, true},
		{"puma", "WEB_CONCURRENCY", "", 0, true},
		{"gunicorn", "WEB_CONCURRENCY", "", 1, true},
		{"uvicorn", "WEB_CONCURRENCY", "", 4, false},
		{"uwsgi", "UWSGI_PROCESSES", "8", 2, true},
	} {
		info := Info{Runtime: Python, Server: test.server, Workers: test.workers, Env: map[string]string{test.variable: test.value}}
		if knob := KnobOf(info); (knob.Env == test.variable) != test.want || knob.None() == test.want {
			t.Errorf("%s=%s of %s with %d workers: %+v", test.variable, test.value, test.server, test.workers, knob)
		}
	}
}
