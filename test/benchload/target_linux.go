package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/millicore/millicore/test/freeze"
)

// target is what is loaded: a server on a CPU of its own.
type target struct {
	addr string
	cmd  *exec.Cmd
	end  func()
}

func (t *target) url() string { return "http://" + t.addr + "/" }

// pid is of the process that answers.
func (t *target) pid() int { return t.cmd.Process.Pid }

// nginxConfig is one worker that answers 200 bytes, writes no log, and keeps
// connections open indefinitely.
const nginxConfig = `daemon off; master_process off; worker_processes 1;
pid %[1]s/pid; error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s backlog=4096; location / { default_type text/plain; return 200 "%[3]s"; } }
}
`

// startNginx starts an nginx on a CPU. It ends with ctx at the latest.
func startNginx(ctx context.Context, program, dir string, cpu int) (*target, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfig, dir, addr, strings.Repeat("x", 200)), 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := command(ctx, program, "-e", "stderr", "-p", dir, "-c", file)
	var words bytes.Buffer
	cmd.Stderr = &words
	if err := startOn(cpu, cmd); err != nil {
		cancel()
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	t := &target{addr: addr, cmd: cmd, end: func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}}
	for range 500 {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return t, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.end()
	return nil, fmt.Errorf("nginx does not accept on %s: %s", addr, &words)
}

// asFreezing in the environment makes this program a server that freezes: its
// value is the service, and where its clock begins.
const asFreezing = "MILLICORE_BENCHLOAD_FREEZES"

// freezing is what the program does then.
func freezing(text string) error {
	var s freeze.Service
	var from time.Duration
	if _, err := fmt.Sscan(text, &s.Work, &s.Period, &s.Still, &from); err != nil {
		return err
	}
	return freeze.Serve(s, from, os.Stdin, os.Stdout)
}

// startFreezing starts such a server on a CPU. late ends it and says how late it
// woke up.
func startFreezing(ctx context.Context, s freeze.Service, from time.Duration, cpu int) (t *target, late func() (freeze.Lateness, error), err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := command(ctx, program)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %d", asFreezing, s.Work, s.Period, s.Still, from))
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		cancel()
		return nil, nil, err
	}
	if err := startOn(cpu, cmd); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("start the server that freezes: %w", err)
	}
	t = &target{cmd: cmd, end: func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}}
	words := bufio.NewReader(out)
	if _, err := fmt.Fscan(words, &t.addr); err != nil {
		t.end()
		return nil, nil, fmt.Errorf("start the server that freezes: %w", err)
	}
	return t, func() (freeze.Lateness, error) {
		in.Close()
		l, err := freeze.ReadLateness(words)
		t.end()
		return l, err
	}, nil
}
