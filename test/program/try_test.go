package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
)

// tried is the output of `millicore try --json`.
type tried struct {
	Verdict string         `json:"verdict"`
	Cells   []summary.Cell `json:"cells"`
	Level   []summary.Cell `json:"level"` // all at one load
	Record  string         `json:"record"`
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

// undecided reports whether a search has no result because others took CPU.
func undecided(b *summary.BreakingPoint) bool {
	return b.Load() == nil && strings.Contains(b.Reason, " took CPU ")
}

// everySearchAnswers checks that every search has a result, or was disturbed by others, and
// that then all settings were compared at one load.
func everySearchAnswers(t *testing.T, got *tried) {
	t.Helper()
	answered := true
	for _, c := range got.Cells {
		if c.Breaking.Load() != nil {
			continue
		}
		answered = false
		if !undecided(c.Breaking) {
			t.Errorf("%s: no breaking point, though others did not disturb the search: %q", c.Service, c.Breaking.Reason)
		}
	}
	if answered && len(got.Level) < 2 {
		t.Errorf("%d settings were compared at one load, want two or more", len(got.Level))
	}
}

// ownprocs builds a server that sets its own parallelism to 3.
func ownprocs(t *testing.T) string {
	t.Helper()
	server := filepath.Join(t.TempDir(), "ownprocs")
	if out, err := exec.Command("go", "build", "-o", server, "./servers/ownprocs").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return server
}

// noEffect returns the settings that a try reports to have no effect.
func (got *tried) noEffect() (services []string) {
	for _, v := range got.Variants {
		if v.NoEffect != "" {
			services = append(services, v.Service)
		}
	}
	return services
}

// The try is interrupted when it begins to search; it knows by then what has no effect.
// make test-system has a whole one.
func TestTryDetectsSettingsWithoutEffect(t *testing.T) {
	needCgroups(t)
	dir := t.TempDir()
	c := exec.Command(filepath.Join(bin, "millicore"), "try", "--json", "--out", filepath.Join(dir, "record"), "--cpu", "500m", "--", ownprocs(t))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	testkit.Start(t, c)
	waitForFrames(t, filepath.Join(dir, "record"), 1)
	c.Process.Signal(os.Interrupt)
	c.Wait() // the test has interrupted it
	nothingLeft(t, c.Process.Pid)
	got := new(tried)
	if err := json.Unmarshal(out.Bytes(), got); err != nil {
		t.Fatalf("%v in:\n%s\n%s", err, &out, &errs)
	}
	if idle := got.noEffect(); !slices.Contains(idle, "gomaxprocs-1") {
		t.Errorf("%q are reported to have no effect, want GOMAXPROCS=1", idle)
	}
	if !regexp.MustCompile(`GOMAXPROCS=1 +has no effect and is skipped: it still ran with 3`).MatchString(errs.String()) {
		t.Errorf("the list before the search lacks it:\n%s", &errs)
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
		"--set", "load.rate=40", "--set", "measure.warmup=200ms", "--set", "measure.duration=1s", "--set", "measure.repeats=1").Output()
	var s summary.Summary
	if jsonErr := json.Unmarshal(out, &s); jsonErr != nil {
		t.Fatalf("%v, %v; the output of try:\n%s", err, jsonErr, &errs)
	}
	i := slices.IndexFunc(s.Cells, func(c summary.Cell) bool { return c.Service == "replicas-2" })
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
	for _, c := range []tryError{
		{"no command", nil, 2, "expected the server's command after --"},
		{"not a quantity", []string{"--cpu", "half", "--", server}, 2, `"half" is not a quantity of CPUs`},
		{"no such program", []string{"--", "/no/such/server"}, 1, "/no/such/server"},
		{"it ends at once", []string{"--", server, "--fail"}, 1, "status 3"},
		{"it listens on nothing", []string{"--ready-timeout", "2s", "--", "sleep", "60"}, 1, "listens on no TCP port"},
		{"the path is not there", []string{"--get", "/nowhere", "--", server, "--port", "${port}"}, 1, "404"},
		{"the file is there", []string{"--save", "/etc/passwd", "--", server}, 2, "the file is there already"},
	} {
		t.Run(c.name, c.isReported)
	}
}

// tryError is a call of try that ends with an error.
type tryError struct {
	name string
	args []string
	code int
	want string
}

func (c *tryError) isReported(t *testing.T) {
	needCgroups(t)
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
