package try

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

// one is a platform on which every service is the same process, whatever is
// asked for.
type one struct {
	platform.Platform
	pid     int
	address string
	running int
	started []string
}

func (o *one) Start(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	o.running++
	o.started = append(o.started, u.Name)
	return oneRunning{o}, nil
}

type oneRunning struct{ on *one }

func (r oneRunning) Replicas() []platform.Replica { return []platform.Replica{oneReplica(r)} }
func (r oneRunning) Stop(context.Context) error   { r.on.running--; return nil }

type oneReplica struct{ on *one }

func (r oneReplica) Address() string { return r.on.address }
func (r oneReplica) PIDs() []int     { return []int{r.on.pid} }
func (r oneReplica) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.ErrUnsupported
}
func (r oneReplica) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{}, errors.ErrUnsupported
}

func TestCheckReadsWhatTookEffect(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	python := interpreter(t)
	info, err := runtimes.Detect(python)
	if err != nil || info.Parallelism.Source != runtimes.Read || info.Parallelism.Value != 1 {
		t.Fatalf("%v, %+v: want one process of Python, read", err, info)
	}
	on := &one{pid: python, address: strings.TrimPrefix(server.URL, "http://")}
	setting := func(service string, value int) Variant {
		return Variant{Service: service, Label: service, Env: map[string]string{"WEB_CONCURRENCY": strconv.Itoa(value)}, Value: value}
	}
	variants := []Variant{{Service: asIs, Value: 1}, setting("as-read", 1), setting("other", 2), {Service: noLimit, Unlimited: true}}
	e := new(experiment.Experiment)
	for _, v := range variants {
		e.Cells = append(e.Cells, experiment.Cell{Service: experiment.Service{Name: v.Service}, Load: experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}}})
	}

	if err := Check(t.Context(), on, e, runtimes.Info{Runtime: runtimes.JVM}, variants, t.TempDir()); err != nil || len(on.started) > 0 {
		t.Fatalf("%v, %q started though nothing can be read", err, on.started)
	}
	if err := Check(t.Context(), on, e, info, variants, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(on.started, " "); got != "as-read other" || on.running != 0 {
		t.Errorf("%q was started, and %d still run: want the settings alone, and none", got, on.running)
	}
	for _, v := range variants {
		if (v.NoEffect != "") != (v.Service == "other") {
			t.Errorf("%s: no effect: %q", v.Service, v.NoEffect)
		}
	}
}

// interpreter is the pid of a Python that waits.
func interpreter(t *testing.T) int {
	t.Helper()
	c := exec.Command("python3", "-c", "import sys; print('up', flush=True); sys.stdin.read()")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("python3 does not start: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait() // it ends as its input does
	})
	if _, err := out.Read(make([]byte, 2)); err != nil {
		t.Skipf("python3 does not run: %v", err)
	}
	return c.Process.Pid
}

// none is a platform on which nothing starts.
type none struct{ platform.Platform }

var errNoProgram = errors.New("command ./nope: file does not exist")

func (none) Start(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	return nil, fmt.Errorf("start %q: replica 0: %w", u.Name, errNoProgram)
}

func TestAServerThatDoesNotStartIsNotNamedByTry(t *testing.T) {
	c := &experiment.Cell{Service: experiment.Service{Name: asIs}}
	_, err := Probe(t.Context(), none{}, c, nil, t.TempDir())
	if !errors.Is(err, errNoProgram) || err.Error() != errNoProgram.Error() {
		t.Errorf("got %v", err)
	}
}

func TestAClosedPortDoesNotAcceptConnections(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	l := &experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}}
	if _, _, err := ask(t.Context(), address, l); err == nil || !strings.HasPrefix(err.Error(), "connect to the server: ") {
		t.Errorf("got %v", err)
	}
}
