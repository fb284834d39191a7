package main

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/test/freeze"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(asFreezing); text != "" {
		exit(freezing(text))
	}
	os.Exit(m.Run())
}

// allowed is a CPU that this process may use.
func allowed(t *testing.T) int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	t.Fatal("no CPU is allowed")
	return 0
}

// A tool runs on its CPU, and what its children use counts for it.
func TestAProcessOnItsCPU(t *testing.T) {
	cpu := allowed(t)
	script := `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; grep Cpus_allowed_list /proc/self/status`
	p, _, _, err := startProcess(t.Context(), cpu, false, "sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	u, err := p.wait()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(p.out.String())
	if len(fields) != 2 || strings.ContainsAny(fields[1], ",-") {
		t.Errorf("it ran on %q; want CPU %d alone", fields, cpu)
	}
	if u.CPU < 20*time.Millisecond || u.CPU > u.Took+100*time.Millisecond {
		t.Errorf("%v of CPU in %v; want what the shell below it used, on one CPU", u.CPU, u.Took)
	}
	if u.Peak < 100<<10 || u.Peak > 64<<20 {
		t.Errorf("%d bytes; want those of two shells", u.Peak)
	}
}

// The error of a failed process contains its last output; a process that hangs is
// ended after its time.
func TestAProcessThatFails(t *testing.T) {
	p, _, _, err := startProcess(t.Context(), allowed(t), false, "sh", "-c", "echo no such flag >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.wait(); err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("%v; want its words", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p, _, _, err = startProcess(ctx, allowed(t), false, "sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := p.wait(); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v; want it ended", err, time.Since(began))
	}
}

// duplex is one end of two pipes.
type duplex struct {
	io.Reader
	io.Writer
}

// The lab's part is enough for an agent, and its figures are the frames'.
func TestTalkingToAnAgent(t *testing.T) {
	s, late, err := startFreezing(t.Context(), freeze.Service{Work: 2 * time.Millisecond}, 0, allowed(t))
	if err != nil {
		t.Fatal(err)
	}
	inside, out := io.Pipe()
	fromAgent, toLab := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- agent.Serve(duplex{inside, nil}, duplex{nil, toLab}) }()
	r, err := talk(t.Context(), out, fromAgent, load{Addr: s.addr, Seconds: 2, Connections: 8, Rate: 200, Even: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if r.Good != 400 || r.Bad != 0 || r.Dropped != 0 {
		t.Errorf("%+v; want 400 good answers", r)
	}
	if r.P50 < 2*time.Millisecond {
		t.Errorf("p50 is %v of a service that takes 2ms", r.P50)
	}
	l, err := late()
	if err != nil || l.Answers != 400 {
		t.Errorf("the service says %+v, %v; want 400 answers", l, err)
	}
}

// A server ends with its context, and nothing listens any more.
func TestATargetEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, _, err := startFreezing(ctx, freeze.Service{}, 0, allowed(t))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	s.end()
	if conn, err := net.Dial("tcp", s.addr); err == nil {
		conn.Close()
		t.Error("it still accepts")
	}
}

// What cannot be measured is refused before anything starts.
func TestRefusals(t *testing.T) {
	good := options{rounds: 1, openRounds: 1, seconds: 2, client: 0, server: 1, parts: "closed", programs: t.TempDir(), peers: t.TempDir()}
	for name, c := range map[string]struct {
		change func(*options)
		want   string
	}{
		"one CPU for both": {func(o *options) { o.server = 0 }, "need a CPU each"},
		"no rounds":        {func(o *options) { o.rounds = 0 }, "at least one round"},
		"too short":        {func(o *options) { o.seconds = 1 }, "at least 2 seconds"},
		"an unknown part":  {func(o *options) { o.parts = "closed,spped" }, `there is no "spped"`},
		"nothing built":    {func(*options) {}, "make build"},
	} {
		o := good
		c.change(&o)
		err := measure(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "need a CPU each") {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// The progress line of a disturbed run marks it as disturbed.
func TestALineOfProgress(t *testing.T) {
	r := costing(1, "fortio", 30)
	r.Foreign = 0.5
	got := line(&r, bounds{Steal: 0.02, Foreign: 0.1})
	if want := "closed loop, round 2: fortio: 500/s, 30.00 µs/request, p50 0.00 ms, p99 0.00 ms, 5 MB (disturbed: stolen 0.00, others 0.50 cores)"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
