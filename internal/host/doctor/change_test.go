package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// gunicorn is a server that uses all of its only worker under a limit of 2 CPUs.
func gunicorn(change func(*inspect.Process)) inspect.Process {
	p := watched(goService(1, 2), 0, 412, 0.5)
	p.Info = runtimes.Info{PID: 42, Runtime: runtimes.Python, Server: "gunicorn", Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	p.Command = []string{"/venv/bin/python", "/venv/bin/gunicorn", "app:app"}
	change(&p)
	return p
}

// The change is made in the place that has the last word.
func TestThePlaceOfAChange(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*inspect.Process)
		want   Change
	}{
		{"WEB_CONCURRENCY", func(p *inspect.Process) { p.Info.Env = map[string]string{"WEB_CONCURRENCY": "1"} },
			Change{Env: map[string]string{"WEB_CONCURRENCY": "2"}, Value: 2}},
		{"the configuration file", func(p *inspect.Process) {
			p.Info.Env, p.Config = map[string]string{"WEB_CONCURRENCY": "3"}, "/srv/gunicorn.conf.py"
		}, Change{Setting: "workers", File: "/srv/gunicorn.conf.py", Value: 2}},
		{"GUNICORN_CMD_ARGS over the file", func(p *inspect.Process) {
			p.Info.Env, p.Config = map[string]string{"GUNICORN_CMD_ARGS": "--workers=1 --threads 4"}, "/srv/gunicorn.conf.py"
		}, Change{Env: map[string]string{"GUNICORN_CMD_ARGS": "--workers=2 --threads 4"}, Value: 2}},
		{"uvicorn, whose workers can be slower", func(p *inspect.Process) { p.Info.Server = "uvicorn" }, Change{Replicas: true}},
		{"uWSGI", func(p *inspect.Process) {
			p.Info.Server, p.Command = "uwsgi", []string{"uwsgi", "--http", ":80", "--mount", "/app=app.py"}
		}, Change{Env: map[string]string{"UWSGI_PROCESSES": "2"}, Value: 2}},
		{"uWSGI's file over its variable", func(p *inspect.Process) {
			p.Info.Server, p.Command = "uwsgi", []string{"uwsgi", "--ini", "/etc/uwsgi.ini"}
			p.Info.Env = map[string]string{"UWSGI_PROCESSES": "1"}
		}, Change{Setting: "processes", File: "/etc/uwsgi.ini", Value: 2}},
		{"uWSGI's file without an option", func(p *inspect.Process) { p.Info.Server, p.Command = "uwsgi", []string{"uwsgi", "uwsgi.yaml"} },
			Change{Setting: "processes", File: "uwsgi.yaml", Value: 2}},
		{"uWSGI's file by a variable", func(p *inspect.Process) {
			p.Info.Server, p.Command, p.Info.Env = "uwsgi", []string{"uwsgi"}, map[string]string{"UWSGI_INI": "/app/uwsgi.ini"}
		}, Change{Setting: "processes", File: "/app/uwsgi.ini", Value: 2}},
		{"the command over all", func(p *inspect.Process) {
			p.Info.Env, p.Config = map[string]string{"GUNICORN_CMD_ARGS": "--workers=1"}, "/srv/gunicorn.conf.py"
			p.Info.Flags, p.Command = []string{"-w", "1"}, append(p.Command, "-w", "1")
		}, Change{Setting: "workers", File: "the command", Value: 2, Command: []string{"/venv/bin/python", "/venv/bin/gunicorn", "app:app", "-w", "2"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := examine(gunicorn(test.change))
			if len(all) != 1 {
				t.Fatalf("got %q", titles(all))
			}
			if diff := cmp.Diff([]Change{test.want}, all[0].Changes); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// The advised limit is verified beside the present one.
func TestTheCommandThatVerifiesALimit(t *testing.T) {
	p := watched(goService(2, 0.35), 400, 412, 1)
	p.Throttling.Watch.Stopped = 400 * 99 * time.Millisecond
	f := examine(p)[0]
	if f.Changes[0].CPUs != 1.4 || f.Fix[1] != "verify: millicore try --cpu 350m,1400m -- /app/api --port 80" {
		t.Errorf("got %+v, %q", f.Changes, f.Fix)
	}
	if f = examine(watched(goService(2, 2), 52, 412, 0.12))[0]; f.Changes[1].CPUs != 2.5 || !strings.HasPrefix(f.Fix[1], "verify: millicore try --cpu 2,2500m -- ") {
		t.Errorf("a burst or a limit: got %+v, %q", f.Changes, f.Fix)
	}
}

// An option of the program is not one of the interpreter.
func TestOptionsOfTheScript(t *testing.T) {
	p := goService(1, 2)
	p.Info.Runtime, p.Command = runtimes.Node, []string{"node", "app.js", "--max-old-space-size=4096"}
	if h := heaps.Of(p); h.Bytes != 0 {
		t.Errorf("got %v", h)
	}
}

// The JVM's and V8's own maxima, and what overrides them.
func TestMaximumHeap(t *testing.T) {
	const mib = 1 << 20
	java := func(env string, args ...string) inspect.Process {
		return inspect.Process{Info: runtimes.Info{Runtime: runtimes.JVM, Env: map[string]string{"JAVA_TOOL_OPTIONS": env}}, Command: append([]string{"java"}, args...)}
	}
	node := func(version string) inspect.Process {
		return inspect.Process{Info: runtimes.Info{Runtime: runtimes.Node, Version: version}, Command: []string{"node", "app.js"}}
	}
	dotnet := func(env map[string]string) inspect.Process {
		return inspect.Process{Info: runtimes.Info{Runtime: runtimes.DotNet, Env: env}}
	}
	read := java("-Xmx1g")
	read.Heap = &inspect.Heap{Max: 300 * mib, From: "/tmp/hsperfdata_root/7"}
	for _, test := range []struct {
		name  string
		of    inspect.Process
		limit int64
		want  int64
		from  runtimes.Source
		by    string
	}{
		{"a quarter", java(""), 2048 * mib, 512 * mib, runtimes.Predicted, ""},
		{"at least 124.8 MiB", java(""), 300 * mib, 1248 * mib / 10, runtimes.Predicted, ""},
		{"half of a small limit", java(""), 128 * mib, 64 * mib, runtimes.Predicted, ""},
		{"which MaxRAMPercentage does not change", java("-XX:MaxRAMPercentage=75"), 128 * mib, 64 * mib, runtimes.Predicted, ""},
		{"but MinRAMPercentage", java("-XX:MinRAMPercentage=75"), 128 * mib, 96 * mib, runtimes.Predicted, "-XX:MinRAMPercentage"},
		{"three quarters", java("-XX:MaxRAMPercentage=75"), 1024 * mib, 768 * mib, runtimes.Predicted, "-XX:MaxRAMPercentage"},
		{"-Xmx over a percentage after it", java("-Xmx100m -XX:MaxRAMPercentage=75"), 1024 * mib, 100 * mib, runtimes.Declared, "-Xmx"},
		{"the command over a variable", java("-Xmx100m", "-Xmx200m", "Main", "-Xmx1m"), 1024 * mib, 200 * mib, runtimes.Declared, "-Xmx"},
		{"what the JVM reports over all", read, 1024 * mib, 300 * mib, runtimes.Read, "-Xmx"},
		{"V8", node("20.20.2"), 512 * mib, 256 * mib, runtimes.Predicted, ""},
		{"V8 of much memory", node("22.1.0"), 8192 * mib, 2048 * mib, runtimes.Predicted, ""},
		{"V8 of an old Node", node("14.1.0"), 512 * mib, 0, "", ""},
		{".NET", dotnet(nil), 400 * mib, 300 * mib, runtimes.Predicted, ""},
		{".NET by a percentage, which is hexadecimal", dotnet(map[string]string{"DOTNET_GCHeapHardLimitPercent": "0x32"}), 400 * mib, 200 * mib, runtimes.Predicted, "DOTNET_GCHeapHardLimitPercent"},
		{".NET by a size", dotnet(map[string]string{"DOTNET_GCHeapHardLimit": "C800000"}), 400 * mib, 200 * mib, runtimes.Declared, "DOTNET_GCHeapHardLimit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.of.Memory = inspect.Memory{State: inspect.Limited, Limit: test.limit}
			if h := heaps.Of(test.of); h.Bytes>>10 != test.want>>10 || h.Source != test.from || h.By != test.by {
				t.Errorf("got %+v", h)
			}
		})
	}
}

func TestACommandWithOtherWorkers(t *testing.T) {
	for _, c := range []struct{ server, command, want string }{
		{"gunicorn", "gunicorn -w 4 app", "gunicorn -w 2 app"},
		{"gunicorn", "gunicorn -w4 app", "gunicorn -w2 app"},
		{"uvicorn", "uvicorn --workers=4 -w app", "uvicorn --workers=2 -w app"},
		{"celery", "celery worker -c 4", "celery worker -c 2"},
		{"celery", "celery worker --autoscale=4,1", "celery worker --autoscale=2,1"},
		{"celery", "celery worker --autoscale 4,1", "celery worker --autoscale 2,1"},
		{"uwsgi", "uwsgi --processes 4 -w app", "uwsgi --processes 2 -w app"},
		{"unicorn", "unicorn -w 4", ""},
		{"", "server -w 4", ""},
	} {
		got := service{Process: inspect.Process{Info: runtimes.Info{Server: c.server}}}.reworked(strings.Fields(c.command), 2)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s of %s: %q, want %q", c.command, c.server, got, c.want)
		}
	}
}

// puma's title hides its command, which overrides the variable, and so does its file.
func TestWhatOverridesPumasVariable(t *testing.T) {
	const override = "; -w in puma's command and workers in config/puma.rb override it"
	for value, want := range map[string]bool{"": true, "1": false} {
		p := gunicorn(func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Server, p.Command = runtimes.Ruby, "puma", []string{"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]"}
			p.Info.Env = map[string]string{"WEB_CONCURRENCY": value}
		})
		fix := examine(p)[0].Fix[0]
		if !strings.HasPrefix(fix, "try WEB_CONCURRENCY=2") || strings.Contains(fix, override) != want {
			t.Errorf("WEB_CONCURRENCY=%s: got %q", value, fix)
		}
	}
	f := examine(gunicorn(func(p *inspect.Process) {
		p.Info.Runtime, p.Info.Server, p.Command, p.Config = runtimes.Ruby, "puma", []string{"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]"}, "/srv/config/puma.rb"
	}))[0]
	if c := f.Changes[0]; c.File != "/srv/config/puma.rb" || c.Setting != "workers" || c.Value != 2 || c.Env != nil {
		t.Errorf("with a file that sets workers: %+v", f.Changes)
	}
}
