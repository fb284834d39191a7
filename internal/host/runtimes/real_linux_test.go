package runtimes

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes/executable"
	"github.com/millicore/millicore/test/testkit"
)

// start runs a program until the test ends, and returns once it has written a
// line that begins so, or at once for "".
func start(t *testing.T, line string, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	if line == "" {
		testkit.Start(t, cmd)
	} else {
		testkit.StartReady(t, cmd, line)
	}
	return cmd
}

func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// listening is a listener on a free port, for a program that takes it over. A port
// that is only chosen may be somebody else's before the program listens on it.
func listening(t *testing.T) (listener *os.File, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if listener, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

const goProgram = `package main

import (
	"fmt"
	_ "net/http/pprof"
	"runtime/debug"
)

func main() {
	debug.SetGCPercent(100)
	fmt.Println("ready")
	select {}
}
`

func TestRealGo(t *testing.T) {
	goTool := installed(t, "go")
	tests := []struct {
		name, line string // of go.mod
		build      []string
		env        string
		want       Parallelism
		aware      bool
		heap       bool // its code can set the limit of its heap
	}{
		{"with symbols", "1.25", nil, "GOMAXPROCS=3", Parallelism{3, Read, "runtime.gomaxprocs in the process's memory"}, true, false},
		{"position-independent", "1.25", []string{"-buildmode=pie"}, "GOMAXPROCS=5", Parallelism{5, Read, "runtime.gomaxprocs in the process's memory"}, true, true},
		{"stripped", "1.25", []string{"-ldflags=-s -w"}, "GOMAXPROCS=3", Parallelism{3, Declared, "GOMAXPROCS in the environment"}, true, true},
		{"with an old go line", "1.24", nil, "GOMAXPROCS=2", Parallelism{2, Read, "runtime.gomaxprocs in the process's memory"}, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			program := goProgram
			if test.heap {
				program = strings.Replace(program, "SetGCPercent(100)", "SetMemoryLimit(1 << 30)", 1)
			}
			write(t, filepath.Join(dir, "main.go"), program)
			write(t, filepath.Join(dir, "go.mod"), "module program\n\ngo "+test.line+"\n")
			build := exec.Command(goTool, append(append([]string{"build", "-o", "program"}, test.build...), ".")...)
			build.Dir = dir
			build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			cmd := start(t, "ready", []string{test.env}, filepath.Join(dir, "program"))
			info, err := Detect(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			if info.Runtime != Go || info.VersionFrom != Read || !strings.HasPrefix(info.Version, "go1.") || info.Go == nil {
				t.Fatalf("got %+v", info)
			}
			if len(info.Notes) > 0 && test.want.Source == Read {
				t.Skipf("the process's memory may not be read here: %v", info.Notes)
			}
			if info.Parallelism != test.want || info.Go.Aware != test.aware || !info.Go.Pprof || info.Go.HeapInCode != test.heap || info.Threads < 1 || info.Affinity < 1 {
				t.Errorf("got %+v, %+v", info, *info.Go)
			}
		})
	}
}

func TestRealNode(t *testing.T) {
	node := installed(t, "node")
	script := `require("http").createServer().listen(0, "127.0.0.1", () => console.log("ready"))`
	cmd := start(t, "ready", []string{"UV_THREADPOOL_SIZE=7"}, node, "-e", script)
	info, err := Detect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(node, "-p", "process.versions.node").Output()
	if err != nil {
		t.Fatal(err)
	}
	if info.Runtime != Node || info.Version != strings.TrimSpace(string(version)) || info.VersionFrom != Read ||
		info.Pool == nil || info.Pool.Value != 7 || info.Parallelism.Value != 1 {
		t.Errorf("got %+v, version %s", info, version)
	}
}

func TestRealNodeCluster(t *testing.T) {
	node := installed(t, "node")
	script := filepath.Join(t.TempDir(), "cluster.js")
	write(t, script, `const cluster = require("cluster")
if (cluster.isPrimary) {
  let n = 0
  cluster.on("listening", () => { if (++n === 2) console.log("ready") })
  cluster.fork(); cluster.fork()
} else require("http").createServer().listen(0, "127.0.0.1")
`)
	cmd := start(t, "ready", nil, node, script)
	info, err := DetectTree([]int{cmd.Process.Pid}, 0)
	if err != nil || info.Workers != 2 || info.Parallelism.Value != 2 || info.Parallelism.Source != Read {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestRealShellBeforePython(t *testing.T) {
	python := installed(t, "python3")
	port := freePort(t)
	cmd := start(t, "", nil, "sh", "-c", python+" -u -m http.server --bind 127.0.0.1 "+port+" & echo $!; wait")
	number, _ := strconv.Atoi(port)
	var info Info
	testkit.Until(t, "the server under the shell is found", func() bool {
		var err error
		info, err = DetectTree(below(cmd.Process.Pid), number)
		return err == nil && info.Runtime == Python && info.Parallelism.Value == 1
	})
	t.Cleanup(func() {
		if process, err := os.FindProcess(info.PID); err == nil && info.PID > 0 {
			process.Kill()
		}
	})
	if info.PID == cmd.Process.Pid {
		t.Error("the shell was taken for the server")
	}
}

// below are a process and its children, until there is one that is no copy of it.
func below(pid int) []int {
	all := []int{pid}
	for _, child := range Host().pids() {
		text, _ := Host().read(child, "stat")
		if stat, err := proc.ParseStat(text); err == nil && stat.Parent == pid {
			all = append(all, child)
		}
	}
	return all
}

func TestRealNginx(t *testing.T) {
	nginx := installed(t, "nginx")
	dir := t.TempDir()
	listener, port := listening(t)
	conf := filepath.Join(dir, "nginx.conf")
	write(t, conf, "pid "+dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\n access_log off;\n client_body_temp_path "+dir+
		"/a;\n proxy_temp_path "+dir+"/b;\n fastcgi_temp_path "+dir+"/c;\n uwsgi_temp_path "+dir+"/d;\n scgi_temp_path "+dir+
		"/e;\n server { listen 127.0.0.1:"+port+"; }\n}\n")
	cmd := exec.Command(nginx, "-c", conf, "-g", "daemon off; worker_processes 3;")
	cmd.Env = append(os.Environ(), "NGINX=3;") // it takes over the listener, as from an nginx that it replaces
	cmd.ExtraFiles = []*os.File{listener}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) // the master ends its workers
		cmd.Wait()
	})
	number, _ := strconv.Atoi(port)
	testkit.Until(t, "nginx has three workers", func() bool {
		info, err := DetectTree(below(cmd.Process.Pid), number)
		return err == nil && info.Runtime == Nginx && info.PID == cmd.Process.Pid && info.Workers == 3 &&
			info.Parallelism == Parallelism{3, Read, "3 worker processes"}
	})
	info, _ := Detect(cmd.Process.Pid)
	if knob := KnobOf(info); !knob.Command {
		t.Errorf("worker_processes stands on the command line: %+v, %q", knob, info.Flags)
	}
}

func TestRealJava(t *testing.T) {
	java := installed(t, "java")
	source := filepath.Join(t.TempDir(), "Wait.java")
	write(t, source, `public class Wait {
  public static void main(String[] a) throws Exception {
    System.out.println("ready " + Runtime.getRuntime().availableProcessors());
    System.in.read();
    Thread.sleep(600000);
  }
}
`)
	cmd := start(t, "ready 5", []string{"JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=5"}, java, source)
	info, err := Detect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if info.Runtime != JVM || info.Version == "" || info.VersionFrom != Read ||
		info.Parallelism != (Parallelism{5, Declared, "-XX:ActiveProcessorCount in JAVA_TOOL_OPTIONS"}) {
		t.Errorf("got %+v", info)
	}
}

func TestRealRust(t *testing.T) {
	rustc := installed(t, "rustc")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "wait.rs"), `fn main() { println!("ready"); std::thread::sleep(std::time::Duration::from_secs(600)); }`)
	build := exec.Command(rustc, "-O", "-o", filepath.Join(dir, "wait"), filepath.Join(dir, "wait.rs"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("rustc cannot build here: %v: %s", err, out)
	}
	cmd := start(t, "ready", nil, filepath.Join(dir, "wait"))
	info, err := Detect(cmd.Process.Pid)
	if err != nil || info.Runtime != Rust || info.Version == "" || info.Tokio {
		t.Errorf("got %+v, %v", info, err)
	}
}

// Bun and Deno are detected by marks in their executables.
func TestRealBunAndDeno(t *testing.T) {
	for name, want := range map[string]Name{"bun": Bun, "deno": Deno} {
		t.Run(name, func(t *testing.T) {
			program := installed(t, name)
			args := map[Name][]string{
				Bun:  {"-e", `console.log("ready"); setInterval(() => {}, 1000)`},
				Deno: {"eval", `console.log("ready"); setInterval(() => {}, 1000)`},
			}[want]
			cmd := start(t, "ready", nil, program, args...)
			info, err := Detect(cmd.Process.Pid)
			if err != nil || info.Runtime != want || info.VersionFrom != Read {
				t.Errorf("got %+v, %v", info, err)
			}
		})
	}
}

func TestDetectOfNone(t *testing.T) {
	if _, err := On(procfiles.New(t.TempDir())).Detect(1); err == nil || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("got %v", err)
	}
	if _, err := DetectTree(nil, 0); err == nil {
		t.Error("a service without a process has no runtime")
	}
}

// A copy of /proc: the shell's child is the JVM, whose environment may not be read.
func TestDetectTreeOfACopy(t *testing.T) {
	root := t.TempDir()
	const jdk = "/opt/jdk"
	copied := map[string]string{
		"10/status":                  "Name:\tsh\nPPid:\t1\nThreads:\t1\n",
		"10/stat":                    "10 (sh) S 1 0 0 0 0 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0 1",
		"11/status":                  "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nName:\tjava\nPPid:\t10\nThreads:\t40\nCpus_allowed_list:\t0-7\n",
		"11/stat":                    "11 (java) S 10 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 1 0 100 0 1",
		"11/cmdline":                 "java\x00-jar\x00app.jar\x00",
		"11/maps":                    "7f00-7f10 r-xp 00000000 fd:01 9 " + jdk + "/lib/server/libjvm.so\n",
		"11/net/tcp6":                "head\n 0: 00000000000000000000000000000000:1F90 00:0 0A 0:0 0:0 0 0 0 99 1 0\n",
		"11/root" + jdk + "/release": "JAVA_VERSION=\"21.0.4\"\n",
		"11/task/11/comm":            "java\n",
		"self/something/unrelated":   "",
	}
	for name, text := range copied {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	if err := os.MkdirAll(filepath.Join(root, "11/fd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("socket:[99]", filepath.Join(root, "11/fd/3")); err != nil {
		t.Fatal(err)
	}
	info, err := On(procfiles.New(root)).DetectTree([]int{9, 10, 11}, 8080)
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != 11 || info.Runtime != JVM || info.Version != "21.0.4" || info.Threads != 40 || info.Affinity != 8 {
		t.Errorf("got %+v", info)
	}
	if len(info.Notes) != 2 {
		t.Errorf("what could not be read is a note: %q", info.Notes)
	}
}

// An executable is read once, and another of the same name again.
func TestRemembering(t *testing.T) {
	root := t.TempDir()
	exe := filepath.Join(root, "server")
	write(t, exe, "no executable, but one that is read")
	for _, pid := range []string{"10", "11"} {
		if err := os.MkdirAll(filepath.Join(root, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, pid, "status"), "PPid:\t1\nThreads:\t1\n")
		if err := os.Symlink(exe, filepath.Join(root, pid, "exe")); err != nil {
			t.Fatal(err)
		}
	}
	key := "first"
	f := On(procfiles.New(root)).WithCache(func(fs.FileInfo) (any, bool) { return key, true })
	f.binaries[key] = known{binary: executable.Facts{Go: &debug.BuildInfo{GoVersion: "go1.26.8"}}}
	for pid := 10; pid < 12; pid++ {
		if info, err := f.Detect(pid); err != nil || info.Runtime != Go {
			t.Errorf("process %d: got %+v, %v", pid, info, err)
		}
	}
	key = "second"
	if info, err := f.Detect(10); err != nil || info.Runtime != Unknown {
		t.Errorf("another file: got %+v, %v", info, err)
	}
}

// With a known process tree, only a process's children are read to find workers.
func TestWithChildren(t *testing.T) {
	root := t.TempDir()
	process := func(pid, parent int, title string) {
		t.Helper()
		dir := filepath.Join(root, strconv.Itoa(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "status"), fmt.Sprintf("PPid:\t%d\nThreads:\t1\n", parent))
		write(t, filepath.Join(dir, "stat"), fmt.Sprintf("%d (nginx) S %d 0 0 0 0 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0 1", pid, parent))
		write(t, filepath.Join(dir, "cmdline"), title+"\x00")
		if err := os.Symlink("/usr/sbin/nginx", filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
	process(10, 1, "nginx: master process nginx")
	process(11, 10, "nginx: worker process")
	process(12, 10, "nginx: worker process")
	for name, test := range map[string]struct {
		fs   FS
		want int
	}{
		"looked for among all": {On(procfiles.New(root)), 2},
		"known":                {On(procfiles.New(root)).WithChildren(map[int][]int{1: {10}, 10: {11, 12}}), 2},
		"known to have none":   {On(procfiles.New(root)).WithChildren(map[int][]int{1: {10}}), 0},
	} {
		if info, err := test.fs.Detect(10); err != nil || info.Workers != test.want {
			t.Errorf("%s: got %d workers, %v; want %d", name, info.Workers, err, test.want)
		}
	}
}

// A worker behind a Unix socket used the most CPU time; its master is the service.
func TestTheMasterBehindAUnixSocket(t *testing.T) {
	root := t.TempDir()
	const table = "Num RefCount Protocol Flags Type St Inode Path\n0: 00000002 00000000 00010000 0001 01 645 /run/x.sock\n"
	process := func(pid, parent, ticks int, sockets ...string) {
		t.Helper()
		dir := filepath.Join(root, strconv.Itoa(pid))
		for _, sub := range []string{"fd", "net"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(dir, "status"), fmt.Sprintf("PPid:\t%d\nThreads:\t1\n", parent))
		write(t, filepath.Join(dir, "stat"), fmt.Sprintf("%d (python) S %d 0 0 0 0 0 0 0 0 0 %d 0 0 0 20 0 1 0 100 0 1", pid, parent, ticks))
		write(t, filepath.Join(dir, "cmdline"), "python\x00gunicorn\x00-w\x002\x00")
		write(t, filepath.Join(dir, "net", "unix"), table)
		if err := os.Symlink("/usr/bin/python3.11", filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
		for i, socket := range sockets {
			if err := os.Symlink(socket, filepath.Join(dir, "fd", strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	process(9, 1, 3, "socket:[7]") // what started it has another socket
	process(10, 9, 5, "socket:[645]")
	process(11, 10, 40, "socket:[645]")
	process(12, 10, 60, "socket:[645]")
	for _, port := range []int{0, 8080} {
		info, err := On(procfiles.New(root)).DetectTree([]int{9, 10, 11, 12}, port)
		if err != nil || info.PID != 10 || info.Workers != 2 || info.Server != "gunicorn" {
			t.Errorf("port %d: got process %d with %d workers, %v; want 10 with 2", port, info.PID, info.Workers, err)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
