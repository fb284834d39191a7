package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
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
	also map[string]string // addresses by what is spoken there, if not HTTP/1.1 without TLS
	cmd  *exec.Cmd
	end  func()
}

func (t *target) url() string { return "http://" + t.addr + "/" }

// at gives a load its address.
func (t *target) at(l load) load {
	l.Addr, l.URL = t.addr, t.url()
	if l.Speaks != "" {
		l.Addr, l.URL = t.also[l.Speaks], "http://"+t.also[l.Speaks]+"/"
	}
	if overTLS(l.Speaks) {
		l.URL = "https://" + l.Addr + "/"
	}
	return l
}

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
  ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
  server {
    listen %[2]s backlog=4096; listen %[4]s http2; listen %[5]s ssl http2;
    location / { default_type text/plain; return 200 "%[3]s"; }
  }
  server { listen %[6]s ssl; location / { default_type text/plain; return 200 "%[3]s"; } }
}
`

// free are addresses that nothing listens at.
func free(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that each is another one
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// certificate writes that of net/http/httptest, cert.pem and key.pem.
func certificate(dir string) error {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := &s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600),
		os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
}

// startNginx starts an nginx on a CPU. It ends with ctx at the latest.
func startNginx(ctx context.Context, program, dir string, cpu int) (*target, error) {
	addrs, err := free(4)
	if err := errors.Join(err, certificate(dir)); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfig, dir, addrs[0], strings.Repeat("x", 200), addrs[1], addrs[2], addrs[3]), 0o600); err != nil {
		return nil, err
	}
	t, err := startServer(ctx, cpu, addrs[0], program, "-e", "stderr", "-p", dir, "-c", file)
	if err == nil {
		t.also = map[string]string{h2c: addrs[1], h2: addrs[2], https: addrs[3]}
	}
	return t, err
}

// startFortio starts fortio's server of gRPC on a CPU.
func startFortio(ctx context.Context, program string, cpu int) (*target, error) {
	addrs, err := free(1)
	if err != nil {
		return nil, err
	}
	t, err := startServer(ctx, cpu, addrs[0], program, "server", "-quiet", "-http-port", "disabled", "-tcp-port", "disabled", "-udp-port", "disabled",
		"-redirect-port", "disabled", "-grpc-port", addrs[0])
	if err == nil {
		t.also = map[string]string{grpc: addrs[0]}
	}
	return t, err
}

// startServer starts a server on a CPU, and waits until it accepts.
func startServer(ctx context.Context, cpu int, addr, program string, args ...string) (*target, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := command(ctx, program, args...)
	var words bytes.Buffer
	cmd.Stderr = &words
	if err := startOn(cpu, cmd); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", program, err)
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
	return nil, fmt.Errorf("%s does not accept on %s: %s", program, addr, &words)
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
