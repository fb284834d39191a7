// Package servicetest checks a sample service in JavaScript as a process: what
// it says when it listens, how it takes signals, which settings it refuses. The
// contract test of its HTTP is workloads/contract. Node.js and Bun each bring
// their command; all else is the same for both.
package servicetest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// Runtime is a service that can be started.
type Runtime struct {
	Name    string         // "millicore-node"
	Command []string       // its runtime and its script
	Version *regexp.Regexp // what its first line says of the runtime
}

// NeedModules skips the test where npm has not installed the packages of
// workloads/; a continuous integration must have them.
func NeedModules(t *testing.T) {
	t.Helper()
	testkit.Long(t, "many processes of a JavaScript runtime")
	if _, err := os.Stat(filepath.Join("..", "node_modules", "prom-client")); err == nil {
		return
	}
	const missing = "the packages of workloads/ are not installed; scripts/setup-tests.sh does it"
	testkit.Missing(t, missing)
}

// Process is a service that runs.
type Process struct {
	*exec.Cmd
	URL     string        // once it listens
	Stderr  *bytes.Buffer // to be read once it has ended
	runtime Runtime
	stdout  *bufio.Reader
}

// Start runs the service on a free port of loopback with env on top of an empty
// environment until it listens, and ends it with the test.
func (r Runtime) Start(t *testing.T, env ...string) *Process {
	t.Helper()
	p := r.Launch(t, env...)
	p.AwaitListening(t)
	return p
}

// Launch starts it as Start does, without the wait.
func (r Runtime) Launch(t *testing.T, env ...string) *Process {
	t.Helper()
	p := &Process{runtime: r, Cmd: exec.Command(r.Command[0], append(r.Command[1:], "--port", "0")...), Stderr: new(bytes.Buffer)}
	p.Env = append([]string{"HOST=127.0.0.1"}, env...)
	p.Cmd.Stderr = p.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, p.Cmd)
	p.stdout = bufio.NewReader(out)
	return p
}

// AwaitListening reads where a service listens.
func (p *Process) AwaitListening(t *testing.T) {
	t.Helper()
	r := p.runtime
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		_ = p.Wait()
		t.Fatalf("no line from %s: %v; standard error: %s", r.Name, err, p.Stderr)
	}
	form := regexp.MustCompile("^" + r.Name + ` listening on (http://127\.0\.0\.1:\d+), (.*)` + "\n$")
	parts := form.FindStringSubmatch(line)
	if parts == nil || !r.Version.MatchString(parts[2]) {
		t.Fatalf("first line %q, want the form of %v with %v", line, form, r.Version)
	}
	p.URL = parts[1]
}

// Ended is what a service that does not listen left: its exit code, and what it
// said.
type Ended struct {
	Code           int
	Stdout, Stderr string
}

// Run runs the service to its end; one that does not come to it is killed.
func (r Runtime) Run(t *testing.T, args, env []string) Ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, r.Command[0], append(r.Command[1:], args...)...)
	var stdout, stderr bytes.Buffer
	c.Env, c.Stdout, c.Stderr = append([]string{"HOST=127.0.0.1"}, env...), &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return Ended{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// get gives the status and the body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
