package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Servers that do not know Millicore, and choose their own port.
func TestTryDetectsPortAndRuntime(t *testing.T) {
	hurry(t)
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
			if b.Load() != nil && b.LimitedBy != "" && !strings.Contains(got.Verdict, "Why: ") {
				t.Errorf("the verdict lacks the reason:\n%s", got.Verdict)
			}
		})
	}
	if held == 0 && len(reasons) > 0 {
		t.Errorf("no server has a breaking point: %q", reasons)
	}
}

// A server that is too slow without any load: it is warmed up first, which takes the time.
func TestTryOfATooSlowServer(t *testing.T) {
	c := tryError{args: []string{"--get", "/sleep?ms=50", "--p99", "20ms", "--", filepath.Join(bin, "server"), "--port", "${port}"}, code: 1, want: "--p99"}
	c.isReported(t)
}

func TestTryReportsSettingsWithoutEffect(t *testing.T) {
	hurry(t)
	got := try(t, "--cpu", "500m", "--traffic", "10s", "--", ownprocs(t))
	var services []string
	for _, c := range got.Cells {
		services = append(services, c.Service)
	}
	// The server sets 3, so try measures both 1 and the runtime's default of 2.
	if want := "as-is no-limit"; strings.Join(services, " ") != want {
		t.Errorf("%q were measured, want %s", services, want)
	}
	if idle := got.noEffect(); !slices.Contains(idle, "gomaxprocs-1") {
		t.Errorf("%q are reported to have no effect, want GOMAXPROCS=1", idle)
	}
	if strings.Contains(got.Verdict, "GOMAXPROCS") {
		t.Errorf("advice on a setting without effect:\n%s", got.Verdict)
	}
}

// All settings, the run without a limit, and the saved experiment.
func TestTryOfAGoServer(t *testing.T) {
	needCgroups(t)
	hurry(t)
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
	everySearchAnswers(t, got)
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
