package try

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
)

// one is a platform on which every service is the same process, whatever is
// asked for.
type one struct {
	platform.Platform
	ended   func() string // how it ended; nil: it did not
	pid     int
	address string
	running int
	started []string
	cpu     *float64 // seconds that it used; nil: not known
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
	if r.on.cpu != nil {
		return signals.Counters{CPU: r.on.cpu}, nil
	}
	return signals.Counters{}, errors.ErrUnsupported
}
func (r oneReplica) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{}, errors.ErrUnsupported
}

func (r oneReplica) LastEnd() (how, output string) {
	if r.on.ended == nil {
		return "", ""
	}
	if how = r.on.ended(); how != "" {
		output = "; its output"
	}
	return how, output
}

// A server that computes for long until it is ready gets the time that this takes under its limit,
// unless the user set another.
func TestAServerThatStartsSlowlyIsWaitedFor(t *testing.T) {
	for _, set := range []bool{false, true} {
		a := testAsk("./server")
		a.CPU, a.CPUs, a.ReadyTimeoutSet, a.Ready.Timeout = "200m", []string{"200m"}, set, 30*time.Second
		asIs, err := file.Build(a.Name(), a.Settings(AsItIs(a)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		on := &one{address: "127.0.0.1:1", pid: os.Getpid(), cpu: new(20.0)}
		free, err := a.freeStarts(t.Context(), on, asIs, t.TempDir(), func(text string) { notes = append(notes, text) })
		if err != nil || len(free) != 1 || *free[0].CPUSeconds != 20 || on.running != 0 {
			t.Fatalf("%v, %+v, %d still run", err, free, on.running)
		}
		want, said := 201*time.Second, 1
		if set {
			want, said = 30*time.Second, 0
		}
		if got := asIs.Cells[0].Service.Ready.Timeout; got != want || a.Ready.Timeout != want || len(notes) != said {
			t.Errorf("set %v: it may take %v and %v, want %v: %q", set, got, a.Ready.Timeout, want, notes)
		}
	}
}

// A server that accepts connections before it can answer is ready when it answers.
func TestAServerThatListensEarlyIsReadyWhenItAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		first  time.Duration // how long the first answer takes, beyond that of the others
		others time.Duration
		status int
		want   string
	}{
		"its workers start late": {4 * time.Second, 0, 200, "/a"},
		"at once":                {0, 0, 200, ""},
		"each answer is slow":    {200 * time.Millisecond, 400 * time.Millisecond, 200, ""},
		"a bad answer":           {4 * time.Second, 0, 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				wait := c.others
				if sent.Add(1) == 1 {
					wait += c.first
				}
				time.Sleep(wait)
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			a := testAsk("./server")
			a.CPU, a.CPUs, a.Request.Path, a.Ready.Timeout = "200m", []string{"200m"}, "/a", 30*time.Second
			asIs, err := file.Build(a.Name(), a.Settings(AsItIs(a)), nil)
			if err != nil {
				t.Fatal(err)
			}
			var notes []string
			on := &one{address: server.Listener.Addr().String(), pid: os.Getpid(), cpu: new(0.1)}
			_, err = a.freeStarts(t.Context(), on, asIs, t.TempDir(), func(text string) { notes = append(notes, text) })
			if got := asIs.Cells[0].Service.Ready.Path; err != nil || got != c.want || a.Ready.Path != c.want || len(notes) > 0 != (c.want != "") || on.running != 0 {
				t.Errorf("ready when GET %q answers, want %q; %q, %v, %d still run", got, c.want, notes, err, on.running)
			}
		})
	}
}

// A server that dies under the warm-up is not only one that refuses connections.
func TestADeathDuringTheProbeIsExplained(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives int64 // requests
		looks int64 // how often one has to look until its end is known
		want  string
	}{
		{"in the first requests", 5, 1, "the server served, and then died: it ended with exit status 9; its output"},
		{"its end is known later", 25, 3, "the server served, and then died: it ended with exit status 9; its output"},
		{"it never ended", 25, 1 << 60, "connect to the server: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent, looked atomic.Int64
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				if sent.Add(1) >= c.lives {
					listener.Close()
					panic(http.ErrAbortHandler)
				}
			})}
			go server.Serve(listener)
			defer server.Close()
			on := &one{pid: os.Getpid(), address: listener.Addr().String(), ended: func() string {
				if looked.Add(1) < c.looks {
					return ""
				}
				return "it ended with exit status 9"
			}}
			cell := &experiment.Cell{Service: experiment.Service{Name: asIs}, Load: experiment.Load{Request: experiment.Request{Method: "POST", Path: "/"}}}
			if _, err := Probe(t.Context(), on, cell, &experiment.Objective{}, t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
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

// A server that sheds some load is searched: only one that answers most requests of the
// first probe badly is a mistake.
func TestAServerThatFailsALittleIsSearched(t *testing.T) {
	for _, c := range []struct {
		name  string
		bad   func(n int64) int // status of the nth request
		doubt string
		err   string
	}{
		{"all good", func(int64) int { return 200 }, "", ""},
		{"one of 40", func(n int64) int { return map[bool]int{true: 503, false: 200}[n == 3] }, "1 of 40 answers of the probe was 503", ""},
		{"some of two kinds", func(n int64) int {
			switch n {
			case 2, 30:
				return 503
			case 7:
				return 500
			}
			return 200
		}, "3 of 40 answers of the probe were bad: 2 were 503", ""},
		{"all after the warm-up", func(n int64) int { return map[bool]int{true: 503, false: 200}[n > 20 || n == 1] }, "21 of 40 answers of the probe were 503", ""},
		{"most, from the begin on", func(n int64) int { return map[bool]int{true: 503, false: 200}[n > 9] }, "", "POST / answered 503 Service Unavailable"},
		{"no answers", func(int64) int { return 0 }, "", "does not answer"},
		{"one connection is closed", func(n int64) int { return map[bool]int{true: 0, false: 200}[n == 30] }, "1 of 40 answers of the probe was missing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				status := c.bad(sent.Add(1))
				if status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(status)
			}))
			defer server.Close()
			// The transport repeats a GET whose connection was closed, but no POST.
			cell := &experiment.Cell{Service: experiment.Service{Name: asIs}, Load: experiment.Load{Request: experiment.Request{Method: "POST", Path: "/"}}}
			seen, err := Probe(t.Context(), &one{pid: os.Getpid(), address: strings.TrimPrefix(server.URL, "http://")}, cell, &experiment.Objective{}, t.TempDir())
			if seen.Doubt != c.doubt || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", seen.Doubt, err, c.doubt, c.err)
			}
			if err == nil && seen.Least <= 0 {
				t.Error("no request took any time")
			}
		})
	}
}

func TestAServerOverTLSIsNamedAsSuch(t *testing.T) {
	answering := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // answers 400 without TLS
	answering.Config.ErrorLog = log.New(io.Discard, "", 0)
	answering.StartTLS()
	defer answering.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := tls.NewListener(listener, answering.TLS) // closes the connection, as Node.js does
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*tls.Conn).Handshake()
			}()
		}
	}()
	for _, address := range []string{answering.Listener.Addr().String(), listener.Addr().String()} {
		cell := &experiment.Cell{Service: experiment.Service{Name: asIs}, Load: experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}}}
		_, err := Probe(t.Context(), &one{pid: os.Getpid(), address: address}, cell, &experiment.Objective{}, t.TempDir())
		want := "the server speaks TLS (HTTPS); try loads a server that it starts without TLS: start it yourself, and search it with --attach https://" + address + "/ (and --cacert FILE)"
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		a := testAsk("x")
		at, err := Attach(t.Context(), Running{URL: "http://" + address}, a, false)
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		if err := at.Begin(t.Context(), &experiment.Load{Request: a.Request}, a); err == nil || err.Error() != "it speaks TLS; write https://"+address {
			t.Errorf("--attach: %v", err)
		}
	}
}
