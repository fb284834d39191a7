package conductor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	. "github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/conductor/conductortest"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// cluster is a platform whose one service is served by the test, and whose agents
// dial in.
type cluster struct {
	platform.Platform // what is not asked for
	hub               *Hub
	service           *httptest.Server
	refuses           error
	closed            bool
}

func (c *cluster) Name() string                       { return "cluster" }
func (c *cluster) Check(*experiment.Experiment) error { return c.refuses }
func (c *cluster) Close() error                       { c.closed = true; return nil }

func (c *cluster) Workload(context.Context, string) (string, []string, error) {
	return "", nil, errors.New("none is asked for")
}
func (c *cluster) Fetch(context.Context, string) (string, error) { return "sha256:1", nil }
func (c *cluster) Versions() map[string]string                   { return map[string]string{"cluster": "1"} }

func (c *cluster) Start(context.Context, platform.UnitSpec) (platform.Unit, error) {
	return replica{c.service.Listener.Addr().String()}, nil
}

func (c *cluster) Agent(ctx context.Context, _, index int) (platform.Agent, error) {
	return c.hub.Agent(ctx, index)
}

type replica struct{ address string }

func (r replica) Replicas() []platform.Replica { return []platform.Replica{r} }
func (r replica) Stop(context.Context) error   { return nil }
func (r replica) Address() string              { return r.address }
func (r replica) PIDs() []int                  { return nil }
func (r replica) Counters() (signals.Counters, error) {
	return signals.Counters{At: time.Now(), Up: true}, nil
}
func (r replica) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{}, errors.New("no sample")
}

const shortExperiment = `
name: short
services:
  web: {image: web, port: 8080}
limits: {cpu: "1"}
load: {users: 4, agents: 2, request: {path: /}}
measure: {warmup: 0s, duration: 1s, repeats: 2, interval: 250ms}
`

// pod is a conductor's pod, in this process.
type pod struct {
	Options
	t       *testing.T
	cluster *cluster
	address chan string // where it listens
	log     *strings.Builder

	mu      sync.Mutex
	removed int
}

func newPod(t *testing.T, text string) *pod {
	t.Helper()
	dir := conductortest.Given(t)
	conductortest.Write(t, dir, ExperimentFile, text)
	conductortest.Write(t, dir, SpecFile, `{"run":"short-1","name":"short","seed":7,"keep_s":3600,"file":"short.yaml"}`)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(time.Millisecond) }))
	t.Cleanup(service.Close)
	p := &pod{t: t, cluster: &cluster{service: service}, address: make(chan string, 1), log: &strings.Builder{}}
	p.Options = Options{Dir: dir, Record: filepath.Join(t.TempDir(), "kept", "record"), Listen: "127.0.0.1:0", Version: "test",
		Readers: func(ctx context.Context, _ Spec) ([]string, error) { return conductortest.Readers(ctx) },
		Judge:   func(string) (error, error) { return exit.NotMet(exit.Missed), nil }, Log: p.log,
		Remove: func(context.Context, Spec) error { p.mu.Lock(); defer p.mu.Unlock(); p.removed++; return nil },
		Platform: func(_ context.Context, n PlatformOptions) (platform.Platform, error) {
			p.cluster.hub = n.Hub
			p.address <- n.Hub.Addr().String()
			return p.cluster, nil
		}}
	if err := os.MkdirAll(filepath.Dir(p.Record), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// agents dial the pod until its run is over.
func (p *pod) agents(number int) (over func()) {
	p.address <- <-p.address // it has a hub
	var all sync.WaitGroup
	for i := range number {
		all.Go(func() {
			o := conductortest.Agent(p.t, p.Dir, p.cluster.hub, i)
			if err := tunnel.Serve(p.t.Context(), o, func(error) {}, func(c net.Conn) error { return agent.Serve(c, c) }); err != nil {
				p.t.Errorf("agent %d: %v", i, err)
			}
		})
	}
	return all.Wait
}

// state asks the pod for its state until it is there.
func (p *pod) state(until Stage) State {
	p.t.Helper()
	address := <-p.address
	p.address <- address
	var s State
	testkit.Until(p.t, "the run is "+string(until), func() bool {
		_, body := get(p.t, address, "/state", conductortest.Token)
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			p.t.Fatal(err)
		}
		if s.State != until && s.State.Ended() {
			p.t.Fatalf("%+v, want %s\n%s", s, until, p.log)
		}
		return s.State == until
	})
	return s
}

func TestARunFromBeginToEnd(t *testing.T) {
	t.Parallel() // it waits for the clock
	p := newPod(t, shortExperiment)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Conduct(ctx, p.Options) }()
	over := p.agents(2)
	s := p.state(Done)
	if s.Run != "short-1" || s.Exit != 99 || s.Done < 2 || s.Planned != s.Done || s.Error != "" || s.At.IsZero() {
		t.Errorf("%+v", s)
	}
	over()
	_, body := get(t, <-p.address, "/record", conductortest.Token)
	files := unpack(t, strings.NewReader(body))
	for _, name := range []string{record.RunFile, record.TrialsFile, record.FramesFile, record.LatencyFile} {
		if files[name] == "" {
			t.Errorf("the record has no %s", name)
		}
	}
	if p.removed != 0 {
		t.Error("the run was removed before its record was kept for an hour")
	}
	end()
	if err := <-ended; err != nil || p.removed != 1 || !p.cluster.closed {
		t.Errorf("it ended with %v; removed %d times, the platform closed: %v", err, p.removed, p.cluster.closed)
	}
	agents := map[int]int64{}
	r, err := record.Open(p.Record)
	if err != nil || !r.Finished {
		t.Fatalf("%v; finished: %v", err, r.Finished)
	}
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Client != nil {
			agents[*f.Agent] += f.Client.Good
		}
		if f.Host != nil {
			t.Fatal("the pod's node is in the record: services run elsewhere")
		}
	}
	if len(agents) != 2 || agents[0] == 0 || agents[1] == 0 {
		t.Errorf("answers by agent: %v", agents)
	}

	// A container that is started again only keeps the record.
	again, stop := context.WithCancel(t.Context())
	stop()
	p.Options.Platform = func(context.Context, PlatformOptions) (platform.Platform, error) {
		t.Error("it runs again")
		return nil, nil
	}
	if err := Conduct(again, p.Options); err != nil || p.removed != 2 {
		t.Errorf("%v; removed %d times", err, p.removed)
	}
	// Nor does it remove a record that the pod in its place can go on to keep.
	conductortest.Write(t, p.Dir, SpecFile, `{"run":"short-1","name":"short","seed":7,"keep_s":3600,"claimed":true,"file":"short.yaml"}`)
	if err := Conduct(again, p.Options); !errors.Is(err, ErrInterrupted) || p.removed != 2 {
		t.Errorf("with a volume of its own: %v; removed %d times", err, p.removed)
	}
}

func TestARunIsInterruptedAndResumed(t *testing.T) {
	t.Parallel() // it waits for the clock
	p := newPod(t, shortExperiment)
	ctx, end := context.WithCancel(t.Context())
	p.Options.Progress = func(now lab.Progress) {
		if now.Trial == 2 && now.State == "measure" {
			end()
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- Conduct(ctx, p.Options) }()
	agents, leave := context.WithCancel(t.Context())
	<-p.address
	for i := range 2 {
		o := conductortest.Agent(t, p.Dir, p.cluster.hub, i)
		go tunnel.Serve(agents, o, func(error) {}, func(c net.Conn) error { return agent.Serve(c, c) })
	}
	if err := <-ended; !errors.Is(err, ErrInterrupted) || p.removed != 0 {
		t.Fatalf("%v; removed %d times, want it kept for another pod", err, p.removed)
	}
	leave()

	p.Options.Progress = nil
	next, stop := context.WithCancel(t.Context())
	go func() { ended <- Conduct(next, p.Options) }()
	over := p.agents(2)
	if s := p.state(Done); s.Done < 3 || s.Planned != s.Done { // a busy machine has some repeated
		t.Errorf("%+v, want three trials, of which one was interrupted", s)
	}
	over()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r, err := record.Open(p.Record)
	if err != nil {
		t.Fatal(err)
	}
	counts := func(trial record.Trial, repeat int) bool {
		return trial.Repeat == repeat && (trial.Outcome == record.Done || trial.Outcome == record.Disturbed)
	}
	broken := r.Trials[1]
	if broken.Outcome != record.Interrupted || broken.Why != "the conductor's pod was terminated" || broken.Repeat != 2 {
		t.Errorf("the second trial is %+v", broken)
	}
	if !counts(r.Trials[0], 1) || !counts(r.Trials[2], 2) || !r.Finished {
		t.Errorf("%+v, want the one before as it was, and the one that was interrupted again", r.Trials)
	}
}

func TestARunIsStoppedByItsUser(t *testing.T) {
	t.Parallel() // it waits for the clock
	p := newPod(t, shortExperiment)
	measuring := make(chan struct{})
	var once sync.Once
	p.Options.Progress = func(now lab.Progress) {
		if now.State == "measure" {
			once.Do(func() { close(measuring) })
		}
	}
	p.Options.Stopped = func(ctx context.Context, _ Spec) { <-measuring }
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Conduct(ctx, p.Options) }()
	over := p.agents(2)
	if s := p.state(Stopped); s.Exit != 130 || s.Error != "" {
		t.Errorf("%+v", s)
	}
	over() // notifies the agents
	end()
	if err := <-ended; err != nil || p.removed != 1 {
		t.Errorf("it ended with %v; removed %d times", err, p.removed)
	}
	if r, err := record.Open(p.Record); err != nil || r.Finished || len(r.Trials) != 1 || r.Trials[0].Outcome != record.Interrupted || r.Trials[0].Why != "stopped by the user" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestARunThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*pod)
		exit   int
		want   string
	}{
		{"a wrong experiment", func(p *pod) { conductortest.Write(p.t, p.Dir, ExperimentFile, "name: x\nlod: {}\n") }, 2, "lod"},
		{"one that the platform cannot run", func(p *pod) { p.cluster.refuses = errors.New("no burst here") }, 2, "no burst here"},
		{"inputs of another experiment", func(p *pod) {
			conductortest.Write(p.t, p.Dir, SuppliesFile, `{"bodies":{"x":"eA=="}}`)
		}, 2, "another experiment"},
		{"a platform that cannot be opened", func(p *pod) {
			p.Options.Platform = func(_ context.Context, n PlatformOptions) (platform.Platform, error) {
				return nil, errors.New("no rights")
			}
		}, 1, "no rights"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPod(t, shortExperiment)
			c.change(p)
			ctx, end := context.WithCancel(t.Context())
			end() // it is not kept
			if err := Conduct(context.WithoutCancel(ctx), withKeep(p, 0)); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(filepath.Dir(p.Record), "state.json"))
			if err != nil {
				t.Fatal(err)
			}
			var s State
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			if s.State != Failed || s.Exit != c.exit || !strings.Contains(s.Error, c.want) || p.removed != 1 {
				t.Errorf("%+v; removed %d times; want exit %d, %q", s, p.removed, c.exit, c.want)
			}
		})
	}
}

// withKeep are a pod's options with another time to keep the record.
func withKeep(p *pod, seconds int) Options {
	conductortest.Write(p.t, p.Dir, SpecFile, fmt.Sprintf(`{"run":"short-1","name":"short","seed":7,"keep_s":%d,"file":"short.yaml"}`, seconds))
	return p.Options
}
