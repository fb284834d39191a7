package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/testkit"
)

// tried is the output of `millicore try --json`.
type tried struct {
	Verdict string                 `json:"verdict"`
	Cells   []analysis.CellSummary `json:"cells"`
	Record  string                 `json:"record"`
	Runtime struct {
		Runtime string `json:"runtime"`
	} `json:"runtime"`
	Variants []struct {
		Service  string `json:"service"`
		NoEffect string `json:"no_effect"`
	} `json:"variants"`

	said string // on standard error
}

// try runs `millicore try` with a server and returns its output.
func try(t *testing.T, args ...string) *tried {
	t.Helper()
	needCgroups(t)
	c := exec.Command(filepath.Join(bin, "millicore"), append([]string{"try", "--json", "--out", filepath.Join(t.TempDir(), "record")}, args...)...)
	c.Dir = t.TempDir()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	for _, dir := range groupsOf(c.Process.Pid) {
		t.Errorf("cgroup left behind: %s", dir)
	}
	got := testkit.Answer[tried](t, err, out.Bytes(), errs.String())
	t.Logf("%s", got.Verdict)
	got.said = errs.String()
	return got
}

// Servers that do not know Millicore, and choose their own port.
func TestTryDetectsPortAndRuntime(t *testing.T) {
	servers, err := filepath.Abs("servers")
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "nginx.conf")
	text := fmt.Sprintf("pid %[1]s/nginx.pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\n"+
		"server { listen 127.0.0.1:%[2]d; location / { return 200 hello; } } }\n", t.TempDir(), freePort(t))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// On a busy machine a search may have no result, but not for all servers.
	held, reasons := 0, []string(nil)
	for _, c := range []struct {
		runtime string
		command []string
	}{
		{"nginx", []string{"nginx", "-c", conf, "-g", "daemon off;"}},
		{"python", []string{"python3", "-m", "http.server", "0", "--bind", "127.0.0.1"}},
		{"node", []string{"node", filepath.Join(servers, "server.js")}},
		{"jvm", []string{"java", filepath.Join(servers, "Server.java")}},
		{"go", []string{filepath.Join(bin, "millicore-go")}},
	} {
		t.Run(c.runtime, func(t *testing.T) {
			if _, err := exec.LookPath(c.command[0]); err != nil {
				t.Skipf("%s is not installed", c.command[0])
			}
			args := []string{"--cpu", "500m", "--memory", "512Mi", "--traffic", "12s", "--as-is"}
			if c.runtime == "go" {
				args = append(args, "--get", "/devices")
			}
			got := try(t, append(append(args, "--"), c.command...)...)
			if got.Runtime.Runtime != c.runtime {
				t.Errorf("detected as %q, want %q", got.Runtime.Runtime, c.runtime)
			}
			if len(got.Cells) != 1 || got.Cells[0].Breaking == nil {
				t.Fatalf("%d cells, want one with a breaking point or its reason", len(got.Cells))
			}
			b := got.Cells[0].Breaking
			if b.Load() == nil && b.Reason == "" {
				t.Error("no breaking point, and no reason")
			}
			switch {
			case b.Load() != nil:
				held++
			case !undecided(b):
				reasons = append(reasons, c.runtime+": "+b.Reason)
			}
			if !strings.Contains(got.Verdict, "500m CPU") {
				t.Errorf("the verdict lacks the limit:\n%s", got.Verdict)
			}
			if b.Load() != nil && b.LimitedBy != "" && !strings.Contains(got.Verdict, b.Evidence) {
				t.Errorf("the verdict lacks the reason:\n%s", got.Verdict)
			}
		})
	}
	if held == 0 && len(reasons) > 0 {
		t.Errorf("no server has a breaking point: %q", reasons)
	}
}

// All settings, the run without a limit, and the saved experiment.
func TestTryOfAGoServer(t *testing.T) {
	needCgroups(t)
	file := filepath.Join(t.TempDir(), "saved.yaml")
	got := try(t, "--cpu", "1", "--traffic", "12s", "--get", "/ok", "--save", file, "--", filepath.Join(bin, "server"), "--port", "${port}")
	var services []string
	for _, c := range got.Cells {
		services = append(services, c.Service)
	}
	if !slices.Contains(services, "gomaxprocs-1") {
		t.Fatalf("%q were measured, want GOMAXPROCS=1 among them", services)
	}
	for _, v := range got.Variants {
		if v.NoEffect != "" {
			t.Errorf("%s is reported to have no effect: %s", v.Service, v.NoEffect)
		}
	}
	verdictCompares(t, got)
	first, last := got.Cells[0], got.Cells[len(got.Cells)-1]
	if first.Service != "as-is" || *first.Limits.CPUMillis != 1000 {
		t.Errorf("the first is %s with %v, want as-is under 1 CPU", first.Service, first.Limits)
	}
	if last.Service != "no-limit" || last.Limits.CPUMillis != nil {
		t.Errorf("the last is %s with %v, want no-limit without one", last.Service, last.Limits)
	}
	out, err := exec.Command(filepath.Join(bin, "millicore"), "run", file, "--set", "nonsense=1").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || strings.Contains(string(out), file+":") {
		t.Errorf("the saved file is not an experiment: %v\n%s", err, out)
	}
}

// undecided reports whether a search has no result because others took CPU.
func undecided(b *analysis.BreakingPoint) bool {
	return b.Load() == nil && strings.Contains(b.Reason, " took CPU ")
}

// verdictCompares checks that the verdict compares throughput and p99 if every search has
// a result, and otherwise has the reason of one without a result.
func verdictCompares(t *testing.T, got *tried) {
	t.Helper()
	compared := true
	for _, c := range got.Cells {
		if c.Breaking.Load() != nil {
			continue
		}
		compared = false
		if !undecided(c.Breaking) {
			t.Errorf("%s: no breaking point, though others did not disturb the search: %q", c.Service, c.Breaking.Reason)
		}
	}
	if !compared {
		return
	}
	for _, pattern := range []string{`For throughput`, `At [0-9.,]+ requests/s .*p99.* ms`} {
		if !regexp.MustCompile(pattern).MatchString(got.Verdict) {
			t.Errorf("the verdict lacks %s:\n%s", pattern, got.Verdict)
		}
	}
}

func TestTryReportsSettingsWithoutEffect(t *testing.T) {
	server := filepath.Join(t.TempDir(), "ownprocs")
	if out, err := exec.Command("go", "build", "-o", server, "./servers/ownprocs").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := try(t, "--cpu", "500m", "--traffic", "10s", "--", server)
	var services, idle []string
	for _, c := range got.Cells {
		services = append(services, c.Service)
	}
	for _, v := range got.Variants {
		if v.NoEffect != "" {
			idle = append(idle, v.Service)
		}
	}
	// The server sets 3, so try measures both 1 and the runtime's default of 2.
	if want := "as-is no-limit"; strings.Join(services, " ") != want {
		t.Errorf("%q were measured, want %s", services, want)
	}
	if !slices.Contains(idle, "gomaxprocs-1") {
		t.Errorf("%q are reported to have no effect, want GOMAXPROCS=1", idle)
	}
	if want := "GOMAXPROCS=1 has no effect and was not searched: it still ran with 3"; !strings.Contains(got.Verdict, want) || strings.Contains(got.Verdict, "For throughput") {
		t.Errorf("want %q, and no advice on settings, in:\n%s", want, got.Verdict)
	}
}

// Two replicas of a server that reads its port from PORT. The test runs the experiment
// that try saves before it searches.
func TestTryOfReplicas(t *testing.T) {
	needCgroups(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "saved.yaml")
	c := exec.Command(filepath.Join(bin, "millicore"), "try", "--cpu", "500m", "--save", file, "--out", filepath.Join(dir, "cut"), "--",
		"sh", "-c", `exec python3 -m http.server "$PORT" --bind 127.0.0.1`)
	c.Dir = dir
	var errs bytes.Buffer
	c.Stderr = &errs
	testkit.Start(t, c)
	testkit.Value(t, "try saves its experiment", func() (os.FileInfo, error) { return os.Stat(file) })
	c.Process.Signal(os.Interrupt)
	c.Wait() // the test has interrupted it
	nothingLeft(t, c.Process.Pid)

	out, err := exec.Command(filepath.Join(bin, "millicore"), "run", file, "--json", "--out", filepath.Join(dir, "record"), "--set", "load.find=null",
		"--set", "load.rate=40", "--set", "measure.warmup=200ms", "--set", "measure.duration=2s", "--set", "measure.repeats=1").Output()
	var s analysis.Summary
	if jsonErr := json.Unmarshal(out, &s); jsonErr != nil {
		t.Fatalf("%v, %v; the output of try:\n%s", err, jsonErr, &errs)
	}
	i := slices.IndexFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Service == "replicas-2" })
	if i < 0 {
		t.Fatalf("no replicas are planned:\n%s", &errs)
	}
	replicas := s.Cells[i]
	if replicas.Limits.Replicas != 2 || *replicas.Limits.CPUMillis != 500 {
		t.Errorf("%+v, want 2 replicas under 500m each", replicas.Limits)
	}
	if replicas.Trials != 1 || replicas.RateRPS == nil || *replicas.RateRPS == 0 {
		t.Errorf("%d trials with %v requests/s: want two replicas that serve", replicas.Trials, replicas.RateRPS)
	}
}

// Errors are reported before anything is measured.
func TestTryErrors(t *testing.T) {
	needCgroups(t)
	server := filepath.Join(bin, "server")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no command", nil, 2, "expected the server's command after --"},
		{"not a quantity", []string{"--cpu", "half", "--", server}, 2, `"half" is not a quantity of CPUs`},
		{"no such program", []string{"--", "/no/such/server"}, 1, "/no/such/server"},
		{"it ends at once", []string{"--", server, "--fail"}, 1, "status 3"},
		{"it listens on nothing", []string{"--ready-timeout", "2s", "--", "sleep", "60"}, 1, "listens on no TCP port"},
		{"the path is not there", []string{"--get", "/nowhere", "--", server, "--port", "${port}"}, 1, "404"},
		{"slower than the objective alone", []string{"--get", "/sleep?ms=50", "--p99", "20ms", "--", server, "--port", "${port}"}, 1, "--p99"},
		{"the file is there", []string{"--save", "/etc/passwd", "--", server}, 2, "the file is there already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(bin, "millicore"), append([]string{"try", "--traffic", "12s"}, c.args...)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
				t.Errorf("ended with %v, want %d with %q:\n%s", err, c.code, c.want, out)
			}
			nothingLeft(t, cmd.Process.Pid)
			if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 && c.code == 2 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// freePort is a port without a listener.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
