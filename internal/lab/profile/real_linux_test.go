package profile

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// sample starts the sample Go service with one processor and pprof, and returns
// its address.
func sample(t *testing.T) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed")
	}
	program := filepath.Join(t.TempDir(), "millicore-go")
	build := exec.Command(goTool, "build", "-o", program, "github.com/millicore/millicore/cmd/millicore-go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the sample service: %v: %s", err, out)
	}
	_, address := serve(t, []string{"GOMAXPROCS=1", "PPROF=1", "PORT=0"}, program)
	return address
}

// serve starts a service that says its address on its first line.
func serve(t *testing.T, env []string, name string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	_, rest, _ := strings.Cut(testkit.StartReady(t, cmd, ""), "http://")
	address, _, _ := strings.Cut(rest, ",")
	return cmd, strings.TrimSpace(address)
}

// press sends requests by several users until the function that it returns is
// called.
func press(t *testing.T, users int, url string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range users {
		wait.Go(func() {
			for ctx.Err() == nil {
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
				if response, err := http.DefaultClient.Do(request); err == nil {
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			}
		})
	}
	stop = sync.OnceFunc(func() {
		cancel()
		wait.Wait()
	})
	t.Cleanup(stop)
	return stop
}

func TestRealGoService(t *testing.T) {
	testkit.Long(t, "builds a service and profiles it for 2 s")
	address := sample(t)
	stop := press(t, 16, "http://"+address+"/isPrime/3000000")
	dir := t.TempDir()
	if err := CollectGo(t.Context(), "", address, dir, 2); err != nil {
		t.Fatal(err)
	}
	stop()
	p, err := Read(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	if p.Runtime != "go" || p.Seconds < 1 || len(p.Files) != 1 {
		t.Errorf("got %+v", p)
	}
	// The loop may be inlined into its handler, and still bears its own name.
	if len(p.Top) == 0 || !strings.HasSuffix(p.Top[0].Name, "golang.isPrime") || p.Top[0].SelfShare < 0.5 {
		t.Errorf("the loop burns the CPU: %+v", p.Top)
	} else if !strings.HasPrefix(p.Top[0].File, "golang/prime.go") {
		t.Errorf("it stands in %q", p.Top[0].File)
	}
}

func TestCollectFromServicesWithoutProfiles(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"no such route", http.NotFound, `serves no /debug/pprof/ (404 Not Found); add import _ "net/http/pprof"`},
		{"behind a password", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "without a password"},
		{"a page for every path", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") }, "not a profile of net/http/pprof"},
		{"redirected elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/login", http.StatusFound)
		}, "serves no /debug/pprof/"},
		{"in use already", func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "cmdline") {
				http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", 500)
			}
		}, "already in use"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			dir := t.TempDir()
			err := CollectGo(t.Context(), "", strings.TrimPrefix(server.URL, "http://"), dir, 1)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want …%s…", err, test.want)
			}
			if _, err := Read(os.DirFS(dir), "."); !errors.Is(err, ErrNone) {
				t.Errorf("nothing is left behind: %v", err)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if err := CollectGo(t.Context(), "", strings.TrimPrefix(server.URL, "http://"), t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a service that is gone: %v", err)
	}
}

const nodeService = `
const http = require("http")
function burn(ms) { const end = Date.now() + ms; while (Date.now() < end); }
http.createServer((request, response) => { burn(5); response.end("ok") })
  .listen(0, "127.0.0.1", function () { console.log("http://127.0.0.1:" + this.address().port) })
`

func TestRealNodeService(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	tests := []struct {
		name, more string
		signalled  bool // ends by SIGTERM itself
	}{
		{"that does not handle SIGTERM", "", true},
		{"that ends by itself", `process.on("SIGTERM", () => setTimeout(() => process.exit(0), 10))`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), `a "folder"`)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(t.TempDir(), "service.js")
			if err := os.WriteFile(script, []byte(nodeService+test.more), 0o644); err != nil {
				t.Fatal(err)
			}
			options, err := PrepareNode(dir, "--max-old-space-size=200")
			if err != nil {
				t.Fatal(err)
			}
			cmd, address := serve(t, []string{"NODE_OPTIONS=" + options}, node, script)
			if _, err := Read(os.DirFS(dir), "."); !errors.Is(err, ErrNone) {
				t.Errorf("before the end there is none: %v", err)
			}
			stop := press(t, 2, "http://"+address+"/")
			for range 20 {
				if response, err := http.Get("http://" + address + "/"); err != nil {
					t.Fatal(err)
				} else {
					response.Body.Close()
				}
			}
			stop()
			cmd.Process.Signal(syscall.SIGTERM)
			kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			cmd.Wait()
			kill.Stop()
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() != test.signalled {
				t.Errorf("it ended otherwise than without a profile: %v", cmd.ProcessState)
			}
			p, err := Read(os.DirFS(dir), ".")
			if err != nil {
				t.Fatal(err)
			}
			if p.Runtime != "node" || len(p.Files) != 1 || p.Seconds <= 0 || p.BusySeconds <= 0 {
				t.Errorf("got %+v", p)
			}
			cum := 0.0
			for _, f := range p.Top {
				if f.Name == "burn" && strings.HasSuffix(f.File, "service.js:3") {
					cum = f.CumShare
				}
			}
			if cum < 0.2 {
				t.Errorf("burn burns the CPU: %+v", p.Top)
			}
		})
	}
}
