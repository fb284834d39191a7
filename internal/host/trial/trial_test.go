package trial

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// gunicorn is a server under a limit of 2 CPUs.
func gunicorn(change func(*inspect.Process)) inspect.Process {
	p := inspect.Process{PID: 42, CPU: inspect.CPULimit{CPUs: 2, Period: period, Dir: "/group"}}
	p.Info = runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn"}
	p.Command = []string{"/venv/bin/python", "/venv/bin/gunicorn", "app:app"}
	change(&p)
	return p
}

// The command to verify a change works in a shell of the host: absolute, in the
// process's folder, on another port.
func TestTheCommandThatVerifies(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*inspect.Process)
		want   string
	}{
		{"as it is", func(*inspect.Process) {}, "millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"variables of its runtime", func(p *inspect.Process) {
			p.Info.Env = map[string]string{"WEB_CONCURRENCY": "3", "GUNICORN_CMD_ARGS": "-w 4 --threads 2"}
		}, "millicore try --cpu 2 --env 'GUNICORN_CMD_ARGS=-w 4 --threads 2' --env WEB_CONCURRENCY=3 -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"a variable that is too long to copy", func(p *inspect.Process) {
			p.Info.Env = map[string]string{"GUNICORN_CMD_ARGS": strings.Repeat("-", longest)}
		}, "millicore try --cpu 2 --env GUNICORN_CMD_ARGS=… -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"a process that listens on no port", func(p *inspect.Process) { p.Listens = new(bool) }, ""},
		{"a child of one that does", func(p *inspect.Process) { p.Listens, p.Parent = new(bool), 41 },
			"millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"a program that does not speak HTTP", func(p *inspect.Process) { p.Info.Runtime, p.Info.Program = runtimes.Redis, "redis-server" }, ""},
		{"PHP-FPM, which speaks FastCGI", func(p *inspect.Process) { p.Info.Runtime = runtimes.PHP }, ""},
		{"another period than that of try", func(p *inspect.Process) { p.CPU.Period = 10 * time.Millisecond }, ""},
		{"a port", func(p *inspect.Process) {
			p.Port, p.Command = 80, append(p.Command, "--bind", "127.0.0.1:80", "--limit", "8080", "80")
		},
			"millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app --bind '127.0.0.1:${port}' --limit 8080 '${port}'"},
		{"a working folder", func(p *inspect.Process) { p.Folder = "/srv/my app" },
			"cd '/srv/my app' && millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"a folder of a container", func(p *inspect.Process) { p.Folder, p.ContainerID = "/srv", "c1" },
			"millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app"},
		{"a relative program", func(p *inspect.Process) { p.Folder, p.Command = "/srv", []string{"./bin/api"} },
			"cd /srv && millicore try --cpu 2 -- /srv/bin/api"},
		{"a program of PATH", func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Server, p.Exe, p.Command = runtimes.Node, "", "/usr/bin/node", []string{"node", "app.js"}
		}, "millicore try --cpu 2 -- /usr/bin/node app.js"},
		{"an interpreter of PATH, which may be of a virtual environment", func(p *inspect.Process) { p.Exe, p.Command = "/usr/bin/python3", []string{"python3", "app.py"} },
			"millicore try --cpu 2 -- python3 app.py"},
		{"nginx", func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Server, p.Exe = runtimes.Nginx, "", "/usr/sbin/nginx"
			p.Command = []string{"nginx: master process nginx -g daemon off; user root; -c /etc/n.conf"}
		}, "millicore try --cpu 2 -- /usr/sbin/nginx -g 'daemon off; user root;' -c /etc/n.conf"},
		{"a title", func(p *inspect.Process) { p.Command = []string{"gunicorn: master [app:app]"} }, "millicore try --cpu 2 -- COMMAND…"},
		{"Erlang, whose emulator does not start without erl", func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Server, p.Command = runtimes.Erlang, "", []string{"/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "--", "-root", "/usr/lib/erlang"}
		}, "millicore try --cpu 2 -- COMMAND…"},
		{"puma's title", func(p *inspect.Process) { p.Command = []string{"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]"} }, "millicore try --cpu 2 -- COMMAND…"},
		{"PHP-FPM's title", func(p *inspect.Process) {
			p.Command = []string{"php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)"}
		},
			"millicore try --cpu 2 -- COMMAND…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := gunicorn(test.change)
			yes := true
			parent := inspect.Process{PID: 41, CPU: p.CPU, Listens: &yes}
			if got := Command(&p, []inspect.Process{parent, p}); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A master that leaves the port to its workers is verified on another port too: the present
// one is in use.
func TestThePortOfAWorker(t *testing.T) {
	p := gunicorn(func(p *inspect.Process) {
		p.Listens, p.Command = new(bool), append(p.Command, "--port", "8043")
	})
	yes := true
	worker := inspect.Process{PID: 43, Parent: 42, CPU: p.CPU, Listens: &yes, Port: 8043}
	const command = "millicore try --cpu 2 -- /venv/bin/python /venv/bin/gunicorn app:app --port "
	if got := Command(&p, []inspect.Process{p, worker}); got != command+"'${port}'" {
		t.Errorf("got %s", got)
	}
	p.Listens, worker.CPU.Dir = &yes, "/other"
	if got := Command(&p, []inspect.Process{p, worker}); got != command+"8043" {
		t.Errorf("a child under another limit: got %s", got)
	}
}
