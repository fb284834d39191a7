package program

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

// endIn bounds how long a command may take to end after a signal. The program promises
// 2 s; what is more is for a busy machine. Each command would take minutes by itself.
const endIn = 10 * time.Second

// silent is a server that accepts connections and never answers.
func silent(t *testing.T, network, address string) (l net.Listener, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			if _, err := l.Accept(); err != nil { // connections end with the process
				return
			}
			connections.Add(1)
		}
	}()
	return l, connections
}

// stuck is a command that waits for something that does not happen.
type stuck struct {
	name   string
	args   []string
	env    []string
	root   bool          // sets limits
	unread bool          // nobody reads its output
	server *atomic.Int64 // the connections of a server that it waits for; nil: it sleeps while it waits
	starts string        // a file that its service makes; "": there is none
	code   int           // that it ends with
	said   bytes.Buffer  // what it wrote to standard error
}

// waits reports whether a process waits: all its threads slept, and used no CPU time, in
// several looks in a row.
func waits(c *exec.Cmd) func() bool {
	before, looks := "", 0
	return func() bool {
		if c.Process == nil {
			return false
		}
		now := ""
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", c.Process.Pid))
		for _, task := range tasks {
			stat, err1 := os.ReadFile(filepath.Join(task, "stat"))
			used, err2 := os.ReadFile(filepath.Join(task, "schedstat"))
			if errors.Join(err1, err2) != nil || !strings.Contains(string(stat), ") S ") {
				return false
			}
			now += string(used)
		}
		if looks++; now == "" || now != before {
			before, looks = now, 0
		}
		return looks >= 5
	}
}

func stuckCommands(t *testing.T) []stuck {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ran, tried := filepath.Join(dir, "ran"), filepath.Join(dir, "tried")
	starts := write("starts.yaml", "name: starts\nservices:\n  a: {command: [sh, -c, \"echo > "+ran+"; exec sleep 1000\"], ready_timeout: 10m}\nlimits: {cpu: 500m}\n"+
		"load: {request: {path: /}, users: 1}\nmeasure: {warmup: 1s, duration: 1s, repeats: 1}\n")
	image := write("image.yaml", "name: image\nservices:\n  a: {image: nothing}\nlimits: {cpu: 500m}\n"+
		"load: {request: {path: /}, users: 1}\nmeasure: {warmup: 1s, duration: 1s, repeats: 1}\n")
	loaded, connections := silent(t, "tcp", "127.0.0.1:0")
	redirects, followed := silent(t, "tcp", "127.0.0.1:0")
	server, daemon := loaded.Addr().String(), filepath.Join(dir, "docker.sock")
	silent(t, "unix", daemon)
	cluster := func(name string) (config string, asked *atomic.Int64) {
		api, asked := silent(t, "tcp", "127.0.0.1:0")
		return write(name, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"http://"+api.Addr().String()+"\"}}]\n"+
			"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\nusers: [{name: u, user: {}}]\n"), asked
	}
	toRun, runAsked := cluster("run.kubeconfig")
	toClean, cleanAsked := cluster("clean.kubeconfig")
	docker := []string{"DOCKER_HOST=unix://" + daemon}
	dirOfCase := filepath.Join(dir, "record")
	cases := corpus.Cases()
	if err := cases[slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == "two-identical" })].Write(dirOfCase, 1); err != nil {
		t.Fatal(err)
	}
	return []stuck{
		{name: "report", args: []string{"report", dirOfCase, "--json"}, unread: true, code: 130},
		{name: "compare", args: []string{"compare", dirOfCase + "#0", dirOfCase + "#1", "--json"}, unread: true, code: 130},
		{name: "doctor", args: []string{"doctor", "--for", "1h", "--level", "critical", "--pid", strconv.Itoa(os.Getpid())}, code: 0},
		{name: "top", args: []string{"top", "--plain", "--every", "1h"}, code: 0},
		{name: "load of a silent server", args: []string{"load", "-c", "5", "--timeout", "60s", "http://" + server + "/"}, server: connections, code: 130},
		{name: "load that follows redirects", args: []string{"load", "--follow", "--timeout", "60s", "http://" + redirects.Addr().String() + "/"}, server: followed, code: 130},
		{name: "run of a pipe", args: []string{"run", pipe}, code: 130},
		{name: "run while a service starts", args: []string{"run", starts, "--out", filepath.Join(dir, "run")}, starts: ran, root: true, code: 130},
		{name: "try while the server starts", args: []string{"try", "--cpu", "500m", "--ready-timeout", "10m", "--out", filepath.Join(dir, "try"), "--", "sh", "-c", "echo > " + tried + "; exec sleep 1000"}, starts: tried, root: true, code: 130},
		{name: "run while Docker hangs", args: []string{"run", "--on", "docker", image, "--out", filepath.Join(dir, "docker")}, env: docker, root: true, code: 130},
		{name: "clean while Docker hangs", args: []string{"clean", "--on", "docker"}, env: docker, code: 130},
		{name: "run while the API server hangs", args: []string{"run", "--on", "kubernetes", "--kubeconfig", toRun, image, "--out", filepath.Join(dir, "cluster")}, server: runAsked, code: 130},
		{name: "clean while the API server hangs", args: []string{"clean", "--on", "kubernetes", "--kubeconfig", toClean}, server: cleanAsked, code: 130},
	}
}

// begun starts a command, and waits until it waits.
func (s *stuck) begun(t *testing.T) *exec.Cmd {
	t.Helper()
	if s.root && cgroups() != "" {
		testkit.Missing(t, cgroups())
	}
	c := exec.Command(filepath.Join(bin, "millicore"), s.args...)
	c.Env = append(append(os.Environ(), "TMPDIR="+t.TempDir()), s.env...)
	c.Stderr = &s.said
	if s.unread {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { read.Close(); write.Close() })
		if _, err := unix.FcntlInt(write.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()); err != nil {
			t.Fatal(err)
		}
		c.Stdout = write
	}
	waiting := waits(c)
	if s.starts != "" {
		waiting = func() bool { _, err := os.Stat(s.starts); return err == nil }
	}
	if s.server != nil {
		before := s.server.Load()
		waiting = func() bool { return s.server.Load() > before }
	}
	testkit.Start(t, c)
	testkit.Until(t, "the command waits", waiting)
	return c
}

// ended waits for the end of a command.
func ended(t *testing.T, c *exec.Cmd) {
	t.Helper()
	over := make(chan struct{})
	go func() { _ = c.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(endIn):
		t.Fatalf("it did not end within %v", endIn)
	}
}

// Whatever a command waits for, it ends within 2 s after the first signal.
func TestASignalEndsEveryCommand(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, s := range stuckCommands(t) {
			t.Run(s.name+", "+unix.SignalName(signal), func(t *testing.T) {
				t.Parallel() // they only wait
				c := s.begun(t)
				if err := c.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				sent := time.Now()
				ended(t, c)
				t.Logf("it ended after %v", time.Since(sent).Round(time.Millisecond))
				if got := c.ProcessState.ExitCode(); got != s.code {
					t.Errorf("it ended with %v, want %d\n%s", c.ProcessState, s.code, &s.said)
				}
			})
		}
	}
}

// The second signal ends a command at once, as a signal does without a handler.
func TestASecondSignalEndsACommandAtOnce(t *testing.T) {
	for _, s := range stuckCommands(t) {
		if s.name != "load of a silent server" {
			continue
		}
		c := s.begun(t)
		over := make(chan struct{})
		go func() { _ = c.Wait(); close(over) }()
		testkit.Until(t, "the command ends", func() bool {
			_ = c.Process.Signal(syscall.SIGTERM)
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
		if status, _ := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
			t.Errorf("it ended with %v, want SIGTERM", c.ProcessState)
		}
	}
}
