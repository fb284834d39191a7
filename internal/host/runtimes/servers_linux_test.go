package runtimes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/mathlib"
	"github.com/millicore/millicore/test/testkit"
)

// until starts a server, waits until the detection of its first process returns what
// good accepts, and ends the server by signal. A server that does not end is killed with
// all of its processes: granian, stopped while its workers start, waits for them forever.
func until(t *testing.T, cmd *exec.Cmd, end syscall.Signal, good func(Info) bool) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		all := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		_ = cmd.Process.Signal(end)
		stuck := time.AfterFunc(10*time.Second, all)
		_ = cmd.Wait()
		stuck.Stop()
		all()
	})
	var info Info
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("got %s: %+v with %d workers, %v", info, info.Parallelism, info.Workers, err)
		}
	}()
	testkit.Until(t, "the server is detected with its workers", func() bool {
		info, err = Detect(cmd.Process.Pid)
		return err == nil && good(info)
	})
}

func TestRealPHP(t *testing.T) {
	all, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(all) == 0 {
		t.Skip("php-fpm is not installed")
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "fpm.conf")
	write(t, conf, "[global]\nerror_log=/dev/stderr\ndaemonize=no\n[www]\nuser=nobody\nlisten="+dir+"/socket\npm=static\npm.max_children=3\n")
	until(t, exec.Command(all[0], "-y", conf, "-R"), syscall.SIGTERM, func(info Info) bool {
		return info.Runtime == PHP && info.Version != "" && info.Workers == 3 && info.Parallelism.Value == 3
	})
}

// HAProxy's threads are those of its affinity mask.
func TestRealHAProxy(t *testing.T) {
	haproxy := installed(t, "haproxy")
	dir := t.TempDir()
	conf := filepath.Join(dir, "haproxy.cfg")
	write(t, conf, "defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\nfrontend f\n bind "+dir+"/socket\n")
	until(t, exec.Command(haproxy, "-f", conf), syscall.SIGTERM, func(info Info) bool {
		n, _ := Default(info, LimitOf(0.5), Machine{Affinity: info.Affinity, Online: info.Affinity})
		return info.Runtime == HAProxy && info.Parallelism == Parallelism{info.Affinity, Read, "its threads"} && n == info.Affinity
	})
}

// The I/O threads of Redis are counted, though Debian's redis-server is a link to
// redis-check-rdb.
func TestRealRedis(t *testing.T) {
	redis := installed(t, "redis-server")
	for _, n := range []int{1, 3} {
		cmd := exec.Command(redis, "--port", freePort(t), "--bind", "127.0.0.1", "--save", "", "--io-threads", strconv.Itoa(n))
		cmd.Dir = t.TempDir()
		until(t, cmd, syscall.SIGTERM, func(info Info) bool {
			return info.Runtime == Redis && info.Program == "redis-server" && info.Parallelism == Parallelism{n, Read, "its threads io_thd_n, and the main thread"}
		})
	}
}

func TestRealMemcached(t *testing.T) {
	memcached := installed(t, "memcached")
	for _, args := range [][]string{nil, {"-t", "2"}} {
		cmd := exec.Command(memcached, append([]string{"-u", "root", "-s", filepath.Join(t.TempDir(), "socket")}, args...)...)
		until(t, cmd, syscall.SIGTERM, func(info Info) bool {
			n, _ := Default(info, LimitOf(0.5), Machine{Online: 64})
			return info.Runtime == Memcached && info.Parallelism == Parallelism{n, Read, "its threads mc-worker"}
		})
	}
}

// Servers with one setting for the number of their threads or processes.
func TestRealNumbers(t *testing.T) {
	for _, test := range []struct {
		program, conf string // DIR and PORT are replaced
		args          []string
		want          Info
		setting       string
	}{
		{"lighttpd", "server.document-root = \"DIR\"\nserver.port = PORT\nserver.bind = \"127.0.0.1\"\nserver.max-worker = 3\n",
			[]string{"-D", "-f", "CONF"}, Info{Runtime: Lighttpd, Parallelism: Parallelism{3, Read, "3 worker processes"}}, "server.max-worker"},
		{"named", "options { directory \"DIR\"; listen-on port PORT { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none; };\ncontrols { };\n",
			[]string{"-f", "-c", "CONF", "-n", "3"}, Info{Runtime: BIND, Parallelism: Parallelism{3, Read, "half of its threads isc-net-n"}}, "-n"},
		{"unbound", "server:\n interface: 127.0.0.1\n port: PORT\n num-threads: 3\n chroot: \"\"\n username: \"\"\n pidfile: \"\"\n use-syslog: no\n directory: \"DIR\"\nremote-control:\n control-enable: no\n",
			[]string{"-d", "-c", "CONF"}, Info{Runtime: Unbound, Parallelism: Parallelism{3, Read, "its threads"}}, "num-threads"},
		{"h2o", "num-threads: 3\nlisten:\n  port: PORT\n  host: 127.0.0.1\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: DIR\n",
			[]string{"-m", "worker", "-c", "CONF"}, Info{Runtime: H2O}, "num-threads"},
	} {
		t.Run(test.program, func(t *testing.T) {
			program := installed(t, test.program)
			dir := t.TempDir()
			conf := filepath.Join(dir, "conf")
			write(t, conf, strings.NewReplacer("DIR", dir, "PORT", freePort(t)).Replace(test.conf))
			for i, arg := range test.args {
				if arg == "CONF" {
					test.args[i] = conf
				}
			}
			until(t, exec.Command(program, test.args...), syscall.SIGTERM, func(info Info) bool {
				return info.Runtime == test.want.Runtime && info.Parallelism == test.want.Parallelism && KnobOf(info).Setting == test.setting
			})
		})
	}
}

// Polars has the threads of its variable. Each is named polars-n.
func TestRealPolars(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(home, ".cache/millicore/advice/venv/bin/python") // of test/advice
	if exec.Command(python, "-c", "import polars").Run() != nil {
		t.Skip("Polars is not installed")
	}
	env, ok := mathlib.Setting("Polars", nil, 3, 0, 0)
	cmd := start(t, "ready", []string{"POLARS_MAX_THREADS=" + env["POLARS_MAX_THREADS"]}, python, "-c",
		"import polars, time; polars.thread_pool_size(); print('ready', flush=True); time.sleep(100)")
	testkit.Until(t, "all threads of the pool have named themselves", func() bool {
		names, _ := Host().threadNames(cmd.Process.Pid)
		return len(slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "polars-") })) == 3
	})
	if info, err := Detect(cmd.Process.Pid); err != nil || !ok || info.Math != "Polars" || info.Env["POLARS_MAX_THREADS"] != "3" {
		t.Errorf("%q with %v, %v", info.Math, info.Env, err)
	}
}

// The child processes of Apache are counted, and no parallelism is stated.
func TestRealApache(t *testing.T) {
	apache := installed(t, "apache2")
	modules := "/usr/lib/apache2/modules/"
	if _, err := os.Stat(modules + "mod_mpm_event.so"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "apache.conf")
	write(t, conf, "LoadModule mpm_event_module "+modules+"mod_mpm_event.so\nLoadModule authz_core_module "+modules+"mod_authz_core.so\n"+
		"Listen 127.0.0.1:"+freePort(t)+"\nServerName x\nPidFile "+dir+"/pid\nErrorLog "+dir+"/error\nUser nobody\nGroup nogroup\nDefaultRuntimeDir "+dir+"\nStartServers 2\nServerLimit 2\nMinSpareThreads 50\nMaxRequestWorkers 50\n")
	until(t, exec.Command(apache, "-DFOREGROUND", "-f", conf), syscall.SIGTERM, func(info Info) bool { return info.Runtime == Apache && info.Workers == 2 })
}

func TestRealVarnish(t *testing.T) {
	varnish := installed(t, "varnishd")
	dir := t.TempDir()
	cmd := exec.Command(varnish, "-F", "-a", "127.0.0.1:0", "-b", "127.0.0.1:1", "-n", dir, "-j", "none", "-T", "none")
	until(t, cmd, syscall.SIGTERM, func(info Info) bool {
		return info.Runtime == Varnish && info.Parallelism.Value == 0 && info.Workers == 1
	})
}

// OpenMP is found by its library, and has the threads of its variable.
func TestRealOpenMP(t *testing.T) {
	gcc := installed(t, "gcc")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.c"), "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n#pragma omp parallel\n{ }\nputs(\"ready\"); fflush(stdout); pause(); }\n")
	if out, err := exec.Command(gcc, "-fopenmp", "-o", filepath.Join(dir, "a"), filepath.Join(dir, "a.c")).CombinedOutput(); err != nil {
		t.Skipf("needs gcc with OpenMP: %v: %s", err, out)
	}
	env, ok := mathlib.Setting("OpenMP", nil, 3, 3, 0)
	cmd := start(t, "ready", []string{"OMP_NUM_THREADS=" + env["OMP_NUM_THREADS"]}, filepath.Join(dir, "a"))
	if info, err := Detect(cmd.Process.Pid); err != nil || !ok || info.Math != "OpenMP" || info.Threads != 3 {
		t.Errorf("%q with %d threads, %v", info.Math, info.Threads, err)
	}
}

// Without an option the schedulers are those of its threads that ran.
func TestRealErlangThreads(t *testing.T) {
	erl := installed(t, "erl")
	for _, online := range []string{"4:2", "4:1"} {
		cmd := start(t, "ready", nil, erl, "+S", online, "-noshell", "-noinput", "-eval",
			`[spawn(fun F() -> lists:seq(1, 1000), F() end) || _ <- lists:seq(1, 4)], io:format("ready~n").`)
		var e Evidence
		testkit.Until(t, "all schedulers that are online ran", func() (done bool) {
			var err error
			e, err = Host().Evidence(cmd.Process.Pid)
			return err == nil && strconv.Itoa(e.Schedulers) == online[2:]
		})
	}
}

// ERL_FLAGS overrides the command.
func TestRealErlang(t *testing.T) {
	erl := installed(t, "erl")
	cmd := start(t, "ready 1", []string{"ERL_FLAGS=" + KnobOf(Info{Runtime: Erlang}).value("", 1)}, erl,
		"+S", "2:2", "-noshell", "-noinput", "-eval", `io:format("ready ~p~n", [erlang:system_info(schedulers_online)]).`)
	info, err := Detect(cmd.Process.Pid)
	if err != nil || info.Runtime != Erlang || info.Version == "" || info.Parallelism != (Parallelism{1, Declared, "+S in its options"}) {
		t.Errorf("got %+v, %v", info, err)
	}
}

// The emulator has the options that the variable sets, and these are seen.
func TestRealErlangBusyWaiting(t *testing.T) {
	erl := installed(t, "erl")
	env, ok := QuietSetting(Info{Runtime: Erlang})
	cmd := start(t, "ready", []string{"ERL_FLAGS=" + env["ERL_FLAGS"]}, erl, "-noshell", "-noinput", "-eval", `io:format("ready~n").`)
	info, err := Detect(cmd.Process.Pid)
	if _, again := QuietSetting(info); err != nil || !ok || again {
		t.Errorf("%v is set, and still advised: %v, %v", env, info.Flags, err)
	}
}

// The order of Erlang's variables, and shares of the schedulers.
func TestRealErlangSchedulers(t *testing.T) {
	erl := installed(t, "erl")
	for _, test := range []struct {
		name string
		env  []string
		args []string
	}{
		{"the command over ERL_AFLAGS", []string{"ERL_AFLAGS=+S 2:2"}, []string{"+S", "2:1"}},
		{"ERL_ZFLAGS over the command", []string{"ERL_ZFLAGS=+S 2:1"}, []string{"+S", "2:2"}},
		{"ERL_ZFLAGS over ERL_FLAGS", []string{"ERL_FLAGS=+S 2:2", "ERL_ZFLAGS=+S 2:1"}, nil},
		{"a share", nil, []string{"+SP", "100:50"}},
		{"a share of what is set", nil, []string{"+SP", "100:50", "+S", "4:2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append(test.args, "-noshell", "-noinput", "-eval", `io:format("ready ~p~n", [erlang:system_info(schedulers_online)]).`)
			cmd := start(t, "ready 1", test.env, erl, args...)
			info, err := Detect(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			if n, why := Default(info, Limit{}, Machine{Online: info.Affinity, Affinity: 2}); n != 1 {
				t.Errorf("got %d (%s) by %v, and Erlang has 1", n, why, info.Flags)
			}
		})
	}
}

// Envoy's threads are those of --concurrency, else those of its rule.
func TestRealEnvoy(t *testing.T) {
	envoy := installed(t, "envoy")
	conf := filepath.Join(t.TempDir(), "envoy.yaml")
	write(t, conf, "static_resources: {}\n")
	for name, args := range map[string][]string{"by the command": {"--concurrency", "3"}, "by its rule": nil, "by the affinity": {"--cpuset-threads"}} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(envoy, append([]string{"-c", conf, "--disable-hot-restart", "-l", "off"}, args...)...)
			until(t, cmd, syscall.SIGTERM, func(info Info) bool {
				n, _ := Default(info, Limit{}, Machine{Online: info.Affinity, Affinity: info.Affinity})
				return info.Runtime == Envoy && info.Parallelism == Parallelism{n, Read, "its threads wrk:worker_n"}
			})
		})
	}
}

func TestRealPostgres(t *testing.T) {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(all) == 0 {
		t.Skip("PostgreSQL is not installed")
	}
	if os.Getuid() == 0 {
		t.Skip("PostgreSQL does not run as root; its detection is tested in TestDecide")
	}
	dir := t.TempDir()
	if out, err := exec.Command(filepath.Join(filepath.Dir(all[0]), "initdb"), "-D", dir, "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, exec.Command(all[0], "-D", dir, "-k", dir, "-h", ""), syscall.SIGINT, func(info Info) bool {
		return info.Runtime == Postgres && info.Workers == 0 && info.Parallelism.Value == 0
	})
}

// Servers of PyPI, where they are installed: the number of workers by the variable that
// is said to set it, and by the command.
func TestRealPythonServers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "app.py"), "async def app(scope, receive, send):\n    pass\n")
	write(t, filepath.Join(dir, "tasks.py"), "from celery import Celery\napp = Celery('tasks', broker='memory://')\n")
	tests := map[string][]string{
		"gunicorn":  {"app:app", "-b", "127.0.0.1:0"},
		"hypercorn": {"app:app", "-b", "127.0.0.1:0", "-w", "3"},
		"granian":   {"--interface", "asgi", "--host", "127.0.0.1", "--port", "", "app:app"},
		"celery":    {"-A", "tasks", "worker", "-c", "3"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			program := installed(t, name)
			for i, arg := range args {
				if arg == "" {
					args[i] = freePort(t)
				}
			}
			cmd := exec.Command(program, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
			if s, _ := serverNamed(name); s.env != "" {
				cmd.Env = append(cmd.Env, s.env+"="+strconv.Itoa(3))
			}
			until(t, cmd, syscall.SIGTERM, func(info Info) bool {
				return info.Runtime == Python && info.Server == name && info.Workers == 3 && strings.HasPrefix(info.Parallelism.From, "3 worker processes")
			})
		})
	}
}
