package golang_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/workloads/contract"
)

// program builds millicore-go as it ships, once, for the tests that need it, and
// returns its path.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "millicore-go")
	build := exec.Command("go", "build", "-o", path, "github.com/millicore/millicore/cmd/millicore-go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build millicore-go: %w\n%s", err, out)
	}
	return path, nil
})

// scratch is a directory that lasts as long as the tests.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(inScratch(m.Run))
}

func inScratch(run func() int) int {
	dir, err := os.MkdirTemp("", "millicore-go-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return run()
}

// process is a millicore-go.
type process struct {
	*exec.Cmd
	url    string // once it listens
	stdout *bufio.Reader
	stderr *bytes.Buffer
}

// frameworks are the values of FRAMEWORK.
var frameworks = []string{"net/http", "fasthttp"}

var listening = regexp.MustCompile(`^millicore-go listening on (http://127\.0\.0\.1:\d+), GOMAXPROCS (\d+), (go\S+)\n$`)

// start runs millicore-go on a free port of loopback with env on top of an
// empty environment, and ends it with the test. It returns when it listens.
func start(t *testing.T, env ...string) process {
	t.Helper()
	p := launch(t, env...)
	p.awaitListening(t)
	return p
}

// launch starts it as start does, without the wait.
func launch(t *testing.T, env ...string) process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	p := process{Cmd: exec.Command(path, "--port", "0"), stderr: new(bytes.Buffer)}
	p.Env = append([]string{"HOST=127.0.0.1"}, env...)
	p.Stderr = p.stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	testkit.Start(t, p.Cmd)
	return p
}

// awaitListening returns when the process has said where it listens.
func (p *process) awaitListening(t *testing.T) {
	t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("no line from millicore-go: %v; standard error: %s", err, p.stderr)
	}
	parts := listening.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("first line %q, want the form of %v", line, listening)
	}
	if parts[3] != runtime.Version() {
		t.Errorf("it says %s, and was built with %s", parts[3], runtime.Version())
	}
	p.url = parts[1]
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestContract(t *testing.T) {
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			contract.Run(t, start(t, "FRAMEWORK="+framework).url)
		})
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) { contract.RunIdle(t, start(t, "FRAMEWORK="+framework).Process.Pid) })
	}
}

func TestContractWithWorkers(t *testing.T) {
	contract.Run(t, start(t, "WORKERS=5").url, contract.Workers(5))
}

func TestMaxProcsIsThatOfTheEnvironment(t *testing.T) {
	_, body := get(t, start(t, "GOMAXPROCS=3").url+"/maxProcs")
	if want := fmt.Sprintf("Go is using 3 CPUs and there are %d CPUs available\n", runtime.NumCPU()); body != want {
		t.Errorf("%q, want %q", body, want)
	}
}

func TestMetricsTellTheRuntime(t *testing.T) {
	_, body := get(t, start(t, "GOMAXPROCS=3").url+"/metrics")
	for _, line := range []string{
		"go_sched_gomaxprocs_threads 3\n", // by which doctor and the report read it
		"go_info{version=\"" + runtime.Version() + "\"} 1\n",
		"process_resident_memory_bytes ",
	} {
		if !strings.Contains(body, line) {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

func TestProfilesNeedTheEnvironment(t *testing.T) {
	for _, framework := range frameworks {
		p := start(t, "PPROF=1", "FRAMEWORK="+framework)
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1"} {
			if status, _ := get(t, p.url+path); status != http.StatusOK {
				t.Errorf("GET %s on %s: status %d with PPROF=1", path, framework, status)
			}
		}
	}
}

// Over fasthttp's own limit of a body, 4 MiB, the service never sees the request.
func TestAHugeBodyIsRefusedOnFasthttp(t *testing.T) {
	p := start(t, "FRAMEWORK=fasthttp")
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "POST /devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.HasPrefix(string(body), `{"error":"`) {
		t.Errorf("status %d, body %q, %v; want 413 and a reason", resp.StatusCode, body, err)
	}
}

// maxResident is the promise of workloads/README.md, in bytes.
const maxResident = 25_000_000

func TestMemoryAtRest(t *testing.T) {
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			p := start(t, "FRAMEWORK="+framework)
			for _, path := range []string{"/healthz", "/devices", "/isPrime/7", "/metrics"} {
				if status, _ := get(t, p.url+path); status != http.StatusOK {
					t.Fatalf("GET %s: status %d", path, status)
				}
			}
			wantSmall(t, p)
		})
	}
}

// wantSmall checks what the process holds in memory.
func wantSmall(t *testing.T, p process) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs /proc to read a process's memory")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "\nVmRSS:")
	var kib int
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); !found || err != nil {
		t.Fatalf("no VmRSS in %s", status)
	}
	t.Logf("VmRSS %.1f MB", float64(kib)*1024/1e6)
	if kib*1024 >= maxResident {
		t.Errorf("VmRSS %d kB, want under %d bytes", kib, maxResident)
	}
}

// TestSignalAwaitsTheRequestInFlight holds a request open by its body, so that
// it is in flight for as long as the test wants.
func TestSignalAwaitsTheRequestInFlight(t *testing.T) {
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) { awaitsRequest(t, start(t, "FRAMEWORK="+framework)) })
	}
}

func awaitsRequest(t *testing.T, p process) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A service that stops answering fails the test, and does not hang it.
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	const body = `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`
	fmt.Fprintf(conn, "POST /devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v; want 100 Continue, the sign that the handler reads", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil { // the empty line behind it
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitRefusal(t, conn.RemoteAddr().String())
	fmt.Fprint(conn, body)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatalf("the request in flight got no answer: %v", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("status %d, want 201", resp.StatusCode)
	}
	if err := p.Wait(); err != nil || p.stderr.Len() != 0 {
		t.Errorf("it ended with %v and said %q; want exit code 0 and silence", err, p.stderr)
	}
}

// awaitRefusal returns when address takes no more connections.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	testkit.Until(t, "no connection is accepted", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}
