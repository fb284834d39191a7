package agent

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// asAgent in the environment makes the test's binary an agent.
const asAgent = "MILLICORE_TEST_AS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is an agent in a separate process.
type process struct {
	io.Reader
	io.WriteCloser
}

// startProcess starts an agent, on one CPU where that is asked for (cpu >= 0),
// and returns the lab's end.
func startProcess(tb testing.TB, cpu int) *Client {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := pinned(cpu, self)
	cmd.Env = append(os.Environ(), asAgent+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	c := NewClient(process{out, in})
	tb.Cleanup(func() {
		c.Close()
		cmd.Wait()
	})
	return c
}

// pinned is a command bound to one CPU, if cpu is not negative and taskset is
// installed.
func pinned(cpu int, name string, args ...string) *exec.Cmd {
	if _, err := exec.LookPath("taskset"); err != nil || cpu < 0 || cpu >= runtime.NumCPU() {
		return exec.Command(name, args...)
	}
	return exec.Command("taskset", append([]string{"-c", fmt.Sprint(cpu), name}, args...)...)
}

// startNginx starts an nginx with one worker, bound to a CPU, that answers with
// 200 bytes, and returns its address.
func startNginx(tb testing.TB, cpu int) string {
	tb.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx = "/usr/sbin/nginx"; !isFile(nginx) {
			tb.Skip("nginx is not installed")
		}
	}
	dir := tb.TempDir()
	addr := freeAddr(tb)
	config := fmt.Sprintf(`daemon off; master_process off; worker_processes 1;
pid %[1]s/pid; error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s; location / { default_type text/plain; return 200 "%[3]s"; }
    location /login { default_type application/json; add_header Set-Cookie "sid=$request_id; Path=/; HttpOnly";
      return 200 '{"user": {"name": "%[3]s"}, "auth": {"token": "$request_id"}}'; } }
}
`, dir, addr, strings.Repeat("x", 200))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := pinned(cpu, nginx, "-e", "stderr", "-p", dir, "-c", file)
	cmd.Stderr = os.Stderr
	testkit.Start(tb, cmd) // of one process, without a master
	testkit.Value(tb, "nginx accepts connections", func() (net.Conn, error) { return net.Dial("tcp", addr) }).Close()
	return addr
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// freeAddr returns a loopback address without a listener.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
