package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/conductor/conductortest"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/test/testkit"
)

// With this variable set the test binary is the program.
const asProgram = "MILLICORE_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestOptions(t *testing.T) {
	to := []string{"--conductor", "10.0.0.1:7443", "--certificate", "tls.crt", "--token-file", "token"}
	want := func(path string) tunnel.Options {
		return tunnel.Options{Conductor: "10.0.0.1:7443", Path: path, CertFile: "tls.crt", TokenFile: "token"}
	}
	for _, c := range []struct {
		name  string
		args  []string
		job   string // JOB_COMPLETION_INDEX
		want  tunnel.Options
		fails string
	}{
		{"on standard input", nil, "3", tunnel.Options{}, ""},
		{"of an Indexed Job", to, "17", want("/agent/17"), ""},
		{"by its number", append(to, "--index", "4"), "17", want("/agent/4"), ""},
		{"without a number", to, "", tunnel.Options{}, `--index ""`},
		{"with a wrong number", append(to, "--index", "-1"), "", tunnel.Options{}, `--index "-1"`},
		{"without a certificate", to[:2], "0", tunnel.Options{}, "--conductor needs"},
		{"with an argument", append(to, "now"), "0", tunnel.Options{}, `unexpected argument "now"`},
	} {
		got, err := options(c.args, func(string) string { return c.job })
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %s", c.name, err, c.fails)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v (%v), want %+v", c.name, got, err, c.want)
		}
	}
}

// The program connects, prepares a trial, connects again, and ends with the run, or
// immediately on a signal.
func TestTheProgramDialsTheConductor(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*conductor.Hub, *os.Process) error
		want int
	}{
		{"the run is over", func(h *conductor.Hub, _ *os.Process) error { h.Over(); return nil }, 0},
		{"its pod is stopped", func(_ *conductor.Hub, p *os.Process) error { return p.Signal(syscall.SIGTERM) }, exit.Terminated},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := conductortest.Given(t)
			h := conductortest.Hub(t, dir)
			to := conductortest.Agent(t, dir, h, 5)
			program := exec.Command(os.Args[0], "--conductor", to.Conductor, "--certificate", to.CertFile, "--token-file", to.TokenFile)
			program.Env = append(os.Environ(), asProgram+"=1", "JOB_COMPLETION_INDEX=5")
			output := &strings.Builder{}
			program.Stderr = output
			testkit.Start(t, program)
			for range 2 {
				stream, err := h.Agent(t.Context(), 5)
				if err != nil {
					t.Fatal(err)
				}
				if err := agent.NewClient(stream).Close(); err != nil {
					t.Error(err)
				}
			}
			if err := c.end(h, program.Process); err != nil {
				t.Fatal(err)
			}
			err := program.Wait()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = nil
			}
			if err != nil || program.ProcessState.ExitCode() != c.want {
				t.Errorf("it ended with %v (%v), want %d\n%s", program.ProcessState, err, c.want, output)
			}
		})
	}
}
