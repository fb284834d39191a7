package try

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
)

func TestReplicasAreTriedWhereThereIsNoSettingAndAPortCanBeGiven(t *testing.T) {
	node := runtimes.Info{Runtime: runtimes.Node}
	set := runtimes.Info{Runtime: runtimes.Node, PortEnv: 41000}
	for _, c := range []struct {
		name    string
		command []string
		change  func(*Ask)
		seen    Seen
		tried   bool
		advice  string
	}{
		{"the command takes a port", []string{"node", "server.js", "${port}"}, nil, Seen{Info: node}, true, ""},
		{"the environment takes a port", []string{"java", "-jar", "x.jar"}, func(a *Ask) { a.Env = map[string]string{"_JAVA_OPTIONS": "-Dport=${port} -XX:ActiveProcessorCount=1"} },
			Seen{Info: runtimes.Info{Runtime: runtimes.JVM, Env: map[string]string{"_JAVA_OPTIONS": "-Dport=${port} -XX:ActiveProcessorCount=1"}}}, true, ""},
		{"PORT is honoured", []string{"npm", "start"}, nil, Seen{Info: set, Port: 41000}, true, ""},
		{"PORT is ignored", []string{"npm", "start"}, nil, Seen{Info: set, Port: 3000}, false,
			"2 replicas were not tested, because all would listen on port 3000; let the server listen on ${port} or $PORT."},
		{"the port is stated", []string{"npm", "start"}, func(a *Ask) { a.Port = 41000 }, Seen{Info: set}, false,
			"2 replicas were not tested, because all would listen on port 41000; leave out --port, and let the server listen on ${port} or $PORT."},
		{"a runtime with a setting", []string{"./server", "${port}"}, nil, Seen{Info: goInfo}, false, ""},
		{"only as it is", []string{"npm", "start"}, func(a *Ask) { a.AsIsOnly = true }, Seen{Info: set, Port: 3000}, false, ""},
		{"an option of the command", []string{"gunicorn", "-w", "2", "-b", "127.0.0.1:${port}", "app:app"}, nil,
			Seen{Info: runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn", Workers: 2, Flags: []string{"-w", "2"}}}, false, ""},
		{"more workers that are not advised", []string{"uvicorn", "--port", "${port}", "app:app"}, nil,
			Seen{Info: runtimes.Info{Runtime: runtimes.Python, Server: "uvicorn"}}, true, "Several workers of one uvicorn can be slower than one"},
		{"nginx with a configuration", []string{"nginx", "-g", "daemon off;"}, nil, Seen{Info: runtimes.Info{Runtime: runtimes.Nginx}, Port: 80}, false,
			"change it there. 2 replicas were not tested, because all would listen on port 80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testAsk(c.command...)
			if c.change != nil {
				c.change(a)
			}
			variants := Variants(a, experiment.Limits{CPUMillis: 1500}, c.seen, runtimes.Machine{Online: 4})
			i := slices.IndexFunc(variants, func(v Variant) bool { return v.Replicas > 1 })
			if (i >= 0) != c.tried {
				t.Fatalf("replicas tried: %v, want %v", i >= 0, c.tried)
			}
			if advice := variants[0].Advice; !strings.Contains(advice, c.advice) || c.advice == "" && strings.Contains(advice, "were not tested") {
				t.Errorf("advice %q, want %q in it", advice, c.advice)
			}
			e, err := file.Build(a.Name(), a.Settings(variants), nil)
			if err != nil {
				t.Fatal(err)
			}
			if i < 0 {
				return
			}
			v, cell := variants[i], e.Cells[i]
			if cell.Service.Name != "replicas-2" || cell.Limits.Replicas != 2 || cell.Limits.CPUMillis != 1500 || cell.Service.FindPort || cell.Service.Port != 0 {
				t.Errorf("%+v with %+v, want 2 replicas under 1500m each on ports that they are given", cell.Service, cell.Limits)
			}
			if !strings.Contains(v.Limits, "each") || !strings.Contains(v.Reason, "2 limits") {
				t.Errorf("%q (%q) does not say that there are two limits", v.Limits, v.Reason)
			}
			if e.Cells[0].Limits.Replicas > 1 || e.Cells[len(e.Cells)-1].Limits.Replicas > 1 {
				t.Error("the others have more replicas too")
			}
		})
	}
}

// The settings of servers that take minutes to search, as they would be run.
func TestSettingsStandWhereTheRuntimeReadsThem(t *testing.T) {
	java := testAsk("java", "-jar", "server.jar")
	java.Env = map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g"}
	for _, c := range []struct {
		name string
		ask  *Ask
		info runtimes.Info
		want []string // of each cell: its command, and what of its environment is the runtime's
	}{
		{"a JVM", java, runtimes.Info{Runtime: runtimes.JVM, Version: "17.0.15", Env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g"}}, []string{
			"as-is: java -jar server.jar JAVA_TOOL_OPTIONS=-Xmx1g",
			"tool-options-xx-activeprocessorcount-1: java -jar server.jar JAVA_TOOL_OPTIONS=-Xmx1g -XX:ActiveProcessorCount=1",
			"tool-options-xx-activeprocessorcount-3: java -jar server.jar JAVA_TOOL_OPTIONS=-Xmx1g -XX:ActiveProcessorCount=3",
			"no-limit: java -jar server.jar JAVA_TOOL_OPTIONS=-Xmx1g",
		}},
		{"nginx whose command says its workers", testAsk("nginx", "-g", "daemon off; worker_processes 8;"),
			runtimes.Info{Runtime: runtimes.Nginx, Workers: 8, Flags: []string{"daemon off; worker_processes 8;"},
				Parallelism: runtimes.Parallelism{Value: 8, Source: runtimes.Read, From: "8 worker processes"}}, []string{
				"as-is: nginx -g daemon off; worker_processes 8;",
				"worker-processes-1: nginx -g daemon off; worker_processes 1;",
				"worker-processes-3: nginx -g daemon off; worker_processes 3;",
				"worker-processes-4: nginx -g daemon off; worker_processes 4;",
				"no-limit: nginx -g daemon off; worker_processes 8;",
			}},
		{"gunicorn whose command says its workers", testAsk("gunicorn", "-w", "2", "app:app"),
			runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn", Workers: 2, Flags: []string{"-w", "2"},
				Parallelism: runtimes.Parallelism{Value: 2, Source: runtimes.Read, From: "2 worker processes"}}, []string{
				"as-is: gunicorn -w 2 app:app",
				"gunicorn-w-1: gunicorn -w 1 app:app",
				"gunicorn-w-3: gunicorn -w 3 app:app",
				"gunicorn-w-4: gunicorn -w 4 app:app",
				"no-limit: gunicorn -w 2 app:app",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ask.CPU = "3500m"
			variants := Variants(c.ask, experiment.Limits{CPUMillis: 3500}, Seen{Info: c.info}, runtimes.Machine{Online: 4})
			e, err := file.Build("x", c.ask.Settings(variants), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cell := range e.Cells {
				line := cell.Service.Name + ": " + strings.Join(cell.Service.Command, " ")
				for _, name := range slices.Sorted(maps.Keys(cell.Service.Env)) {
					line += " " + name + "=" + cell.Service.Env[name]
				}
				got = append(got, line)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The reason for replicas claims no more than is known of the settings.
func TestWhyReplicasAreTried(t *testing.T) {
	for _, c := range []struct {
		name    string
		info    runtimes.Info
		command []string
		present int
		want    string
	}{
		{"one event loop", runtimes.Info{Runtime: runtimes.Node}, nil, 1, "no known setting gives it a second CPU"},
		{"several event loops", runtimes.Info{Runtime: runtimes.Node, Workers: 4}, nil, 4, "no known setting changes the number of its worker processes"},
		{"a file", runtimes.Info{Runtime: runtimes.HAProxy}, nil, 2, "its parallelism is set in the global section of HAProxy's configuration, which try does not change"},
		{"a command in a shell", runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn", Flags: []string{"-w", "2"}}, []string{"sh", "-c", "gunicorn -w 2"}, 2,
			"its parallelism is set in the command, which try does not change"},
		{"an option of the command", runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn", Flags: []string{"-w", "2"}}, []string{"gunicorn", "-w", "2"}, 2, ""},
		{"as many workers as CPUs", runtimes.Info{Runtime: runtimes.Python, Server: "uvicorn"}, []string{"uvicorn"}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := noSecondCPU(runtimes.KnobFor(c.info, c.command), c.info, c.present, 1.5); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestASettingWithoutEffectIsSaidAndLeftOut(t *testing.T) {
	read := func(n int) runtimes.Parallelism {
		return runtimes.Parallelism{Value: n, Source: runtimes.Read, From: "runtime.gomaxprocs in the process's memory"}
	}
	for _, c := range []struct {
		name  string
		found runtimes.Parallelism
		want  string
	}{
		{"it took effect", read(1), ""},
		{"the program sets its own", read(4), "it still ran with 4 (runtime.gomaxprocs in the process's memory)"},
		{"it cannot be read", runtimes.Parallelism{}, ""},
		{"declared proves nothing", runtimes.Parallelism{Value: 4, Source: runtimes.Declared}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := noEffect(1, c.found); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}

	a := testAsk("./server")
	variants := Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	variants[1].NoEffect = noEffect(1, read(4))
	e, err := file.Build("x", a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != 2 || e.Cells[0].Service.Name != "as-is" || e.Cells[1].Service.Name != "no-limit" {
		t.Errorf("%d cells, want as-is and no-limit", len(e.Cells))
	}
	found := summaryOf(cellOf("as-is", 400, 380, 420), cellOf("no-limit", 900, 850, 950))
	if e.CommonLoad() == nil {
		t.Error("no common load is planned, so what the limit costs in latency is not measured")
	}
	if got := answer("server", variants, found, nil); strings.Contains(got, "GOMAXPROCS") {
		t.Errorf("%s", got)
	}
	if set := Announce(a, goInfo, variants, e, 3*time.Minute, display.Terminal{}); !strings.Contains(set, "has no effect and is skipped: it still ran with 4") {
		t.Errorf("%s", set)
	}
}

func TestReplicasAreNoSettingAtTheOneLimit(t *testing.T) {
	a := testAsk("node", "server.js", "${port}")
	variants := Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: runtimes.Info{Runtime: runtimes.Node}}, runtimes.Machine{Online: 4})
	rate := 280.0
	at := func(service string, p99 float64) summary.Cell {
		c := cellOf(service, 0, 0, 0)
		c.Load.Rate, c.LatencyMS = &rate, &summary.Quantiles{P99: p99}
		return c
	}
	level := summaryOf(at("as-is", 45), at("replicas-2", 12))
	for i := range 6 {
		for k, v := range []float64{45, 12} {
			v += float64(i) / 100
			level.Cells[k].PerTrial = append(level.Cells[k].PerTrial, summary.TrialFigures{P99: &v})
		}
	}
	bound := boundOf("replicas-2", 800)
	none := cellOf("replicas-2", 0, 0, 0)
	none.Breaking.Reason = "other processes took CPU."
	for name, replicas := range map[string]summary.Cell{"they hold more": cellOf("replicas-2", 800, 780, 820), "they were not seen to break": bound, "none was found": none} {
		t.Run(name, func(t *testing.T) {
			if got := answer("node", variants, summaryOf(cellOf("as-is", 400, 380, 420), replicas, cellOf("no-limit", 900, 850, 950)), level); strings.Contains(got, "2 replicas") {
				t.Errorf("replicas are compared as a setting:\n%s", got)
			}
		})
	}
}
