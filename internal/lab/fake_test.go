package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/platform"
)

// fake is a platform that starts nothing. The test defines what its agents send.
type fake struct {
	platform.Platform // methods that the tests do not use
	agent             func(ctx context.Context, trial, index int) (platform.Agent, error)

	fails  func(trial int) error         // the error of the start of a trial's service; may be nil
	evicts func(trial int) func() string // the eviction of a trial's service; may be nil

	mu      sync.Mutex
	started []int // trials whose service was started
}

func (f *fake) Name() string                       { return "fake" }
func (f *fake) Check(*experiment.Experiment) error { return nil }
func (f *fake) Close() error                       { return nil }

func (f *fake) Start(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, u.Trial)
	if f.fails != nil {
		if err := f.fails(u.Trial); err != nil {
			return nil, err
		}
	}
	if f.evicts == nil {
		return fakeReplica{}, nil
	}
	return evictedReplica{why: f.evicts(u.Trial)}, nil
}

// evictedReplica is a replica that reports an eviction.
type evictedReplica struct {
	fakeReplica
	why func() string
}

func (r evictedReplica) Evicted() string { return r.why() }

func (f *fake) Agent(ctx context.Context, trial, index int) (platform.Agent, error) {
	return f.agent(ctx, trial, index)
}

type fakeReplica struct{}

func (r fakeReplica) Replicas() []platform.Replica { return []platform.Replica{r} }
func (fakeReplica) Stop(context.Context) error     { return nil }
func (fakeReplica) Address() string                { return "192.0.2.1:80" }
func (fakeReplica) PIDs() []int                    { return nil }
func (fakeReplica) Counters() (signals.Counters, error) {
	return signals.Counters{At: time.Now(), Up: true}, nil
}
func (fakeReplica) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{At: time.Now(), Up: true}, nil
}

// fakeAgent is an agent whose clock is ahead of the lab's.
type fakeAgent struct {
	net.Conn
	ahead time.Duration
}

func (a fakeAgent) Offset() time.Duration { return a.ahead }
func (fakeAgent) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.New("not counted")
}

// fakeLife defines the behaviour of a fakeAgent.
type fakeLife struct {
	ahead  time.Duration
	breaks int                   // the interval in which its stream ends; 0: none
	each   func(*signals.Frame)  // changes a frame; may be nil
	start  func(protocol.Start)  // called with the command; may be nil
	change func(protocol.Change) // called with the command; may be nil
}

// agent starts a fakeAgent.
func (l fakeLife) agent() platform.Agent {
	ours, theirs := net.Pipe()
	go l.run(theirs)
	return fakeAgent{Conn: ours, ahead: l.ahead}
}

func (l fakeLife) run(c net.Conn) {
	defer c.Close()
	var p protocol.Prepare
	send := func(e protocol.Event) bool {
		text, err := json.Marshal(e)
		if err == nil {
			_, err = c.Write(append(text, '\n'))
		}
		return err == nil
	}
	stop := make(chan struct{})
	var once sync.Once
	for lines := bufio.NewScanner(c); lines.Scan(); {
		var command protocol.Command
		if json.Unmarshal(lines.Bytes(), &command) != nil {
			return
		}
		switch {
		case command.Prepare != nil:
			p = *command.Prepare
			send(protocol.Event{Ready: &protocol.Ready{Connections: 1}})
		case command.Start != nil:
			if l.start != nil {
				l.start(*command.Start)
			}
			go l.load(c, p, command.Start.At, stop, send)
		case command.Change != nil:
			if l.change != nil {
				l.change(*command.Change)
			}
		case command.Stop != nil:
			once.Do(func() { close(stop) })
		}
	}
}

// load sends the frames of a trial, each at the end of its interval.
func (l fakeLife) load(c net.Conn, p protocol.Prepare, at int64, stop chan struct{}, send func(protocol.Event) bool) {
	begin, every := time.Unix(0, at), time.Duration(p.Interval)
	cut := signals.Intervals{Warmup: time.Duration(p.Warmup), Every: every}
	for _, s := range p.Load.Stages {
		cut.Measure += time.Duration(s.Duration)
	}
	for seq := 0; ; seq++ {
		from, to, phase := cut.At(seq)
		select {
		case <-time.After(time.Until(begin.Add(to - l.ahead))):
		case <-stop:
			send(protocol.Event{Done: &protocol.Done{}})
			return
		}
		if l.breaks > 0 && seq == l.breaks {
			c.Close()
			return
		}
		if phase == signals.Drain {
			send(protocol.Event{Done: &protocol.Done{}})
			return
		}
		f := &signals.Frame{Trial: p.Trial, Cell: p.Cell, Seq: seq, Phase: phase, Agent: &p.Agent,
			Start: begin.Add(from).UnixNano(), End: begin.Add(to).UnixNano(),
			Client: &signals.Client{Intended: 10, Sent: 10, Good: 10, Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram()}}
		for range 10 {
			f.Client.Latency.Record(time.Millisecond)
		}
		if l.each != nil {
			l.each(f)
		}
		if !send(protocol.Event{Frame: f}) {
			return
		}
	}
}

// inBubble is a test in a bubble, in which a run takes no time. Agents are on pipes.
func inBubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// testLab is a lab of an experiment, on a platform whose agents behave as lives defines.
func testLab(t *testing.T, text string, lives func(trial, index int) fakeLife) (*Lab, *fake, *strings.Builder) {
	t.Helper()
	e, err := file.Parse("test.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{agent: func(_ context.Context, trial, index int) (platform.Agent, error) {
		return lives(trial, index).agent(), nil
	}}
	log := &strings.Builder{}
	return &Lab{Experiment: e, Platform: f, Seed: 1, Dir: filepath.Join(t.TempDir(), "record"), Version: "test", Log: log, NoHost: true}, f, log
}

const shortExperiment = `
name: short
services: {web: {command: [web]}}
load: {users: 4, agents: 3, request: {path: /}}
measure: {warmup: 0s, duration: 1s, repeats: 2, interval: 100ms}
`

func openRecord(t *testing.T, dir string) *record.Record {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clientFrames are those of a trial by agent.
func clientFrames(t *testing.T, r *record.Record, trial int) map[int][]*signals.Frame {
	t.Helper()
	all := map[int][]*signals.Frame{}
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Client != nil && f.Trial == trial {
			all[*f.Agent] = append(all[*f.Agent], f)
		}
	}
	return all
}
