package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// Trials one after another on one conversation, of both kinds.
func TestTrialsOneAfterAnother(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	for n := range 3 {
		if all := sum(trial(t, c, byNumber(server.addr(), 100+n, 3))); all.Good != int64(100+n) {
			t.Errorf("%d good; want %d", all.Good, 100+n)
		}
		if all := sum(trial(t, c, openLoop(server.addr(), 100, 0.3))); all.Good != 30 {
			t.Errorf("%d good; want 30", all.Good)
		}
	}
}

// Frames name their agent, cover the trial without gaps from its start on, and are sent
// even without traffic.
func TestFrames(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	p := openLoop(server.addr(), 20, 0.5)
	p.Trial, p.Cell, p.Agent, p.Agents, p.Warmup = 7, 3, 1, 2, seconds(0.25)
	ready, err := c.Prepare(t.Context(), p)
	if err != nil || ready.Connections != 32 || ready.Threads != 1 || ready.PID == 0 || !strings.HasPrefix(ready.Version, "go") {
		t.Fatalf("%+v, %v; want half of 64 connections, one thread, a process and a version", ready, err)
	}
	start := time.Now().Add(30 * time.Millisecond)
	if err := c.Start(start); err != nil {
		t.Fatal(err)
	}
	var frames []*signals.Frame
	done, err := c.Follow(t.Context(), func(f *signals.Frame) error {
		frames = append(frames, f)
		return nil
	})
	if err != nil || done.PeakRSS <= 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	end := start.UnixNano()
	for i, f := range frames {
		if f.Trial != 7 || f.Cell != 3 || f.Seq != i || f.Agent == nil || *f.Agent != 1 || f.Client == nil || f.Server != nil || f.Host != nil {
			t.Errorf("frame %d: %+v", i, f)
		}
		if f.Start != end || f.End <= f.Start {
			t.Errorf("frame %d: %d to %d after %d", i, f.Start, f.End, end)
		}
		end = f.End
		phase := signals.Warmup
		switch {
		case i >= 8:
			phase = signals.Drain
		case i >= 3:
			phase = signals.Measure
		}
		if f.Phase != phase {
			t.Errorf("frame %d is of the phase %s; want %s", i, f.Phase, phase)
		}
	}
	if len(frames) < 8 || frames[7].End != start.Add(750*time.Millisecond).UnixNano() {
		t.Errorf("%d frames; want 3 of warm-up and 5 measured until 750ms after the start", len(frames))
	}
}

// Two agents with several threads share one load; merged, their frames are the whole
// load.
func TestAgentsAreMerged(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	const agents = 2
	var mu sync.Mutex
	var frames []*signals.Frame
	var group sync.WaitGroup
	start := time.Now().Add(500 * time.Millisecond)
	for i := range agents {
		c := serve(t)
		p := openLoop(server.addr(), 400, 1)
		p.Agent, p.Agents, p.Threads = i, agents, 2
		if _, err := c.Prepare(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(start); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			_, err := c.Follow(t.Context(), func(f *signals.Frame) error {
				mu.Lock()
				defer mu.Unlock()
				frames = append(frames, f)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	all := sum(frames)
	if all.Intended != 400 || all.Good != 400 || all.Latency.Count() != 400 {
		t.Errorf("intended %d, good %d, %d latencies; want 400", all.Intended, all.Good, all.Latency.Count())
	}
	if n := server.requests.Load(); n != 400 {
		t.Errorf("the service got %d requests; want 400", n)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	p := openLoop(server.addr(), 100, 3600)
	if _, err := c.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	var frames []*signals.Frame
	_, err := c.Follow(t.Context(), func(f *signals.Frame) error {
		if frames = append(frames, f); len(frames) == 3 {
			return c.Stop()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := sum(frames); all.Intended != all.Good+all.Dropped || all.Good < 20 || all.Good != server.requests.Load() {
		t.Errorf("intended %d, good %d, dropped %d, the service got %d; want the same, at least 20",
			all.Intended, all.Good, all.Dropped, server.requests.Load())
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	if _, err := c.Prepare(t.Context(), openLoop(server.addr(), 100, 3600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	_, err := c.Follow(t.Context(), func(f *signals.Frame) error { return errors.New("a frame of a trial that was not started") })
	if err != nil {
		t.Fatal(err)
	}
	if all := sum(trial(t, c, byNumber(server.addr(), 10, 1))); all.Good != 10 {
		t.Errorf("%d good in the next trial; want 10", all.Good)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	if _, err := c.Prepare(t.Context(), openLoop(server.addr(), 10, 3600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	var frames []*signals.Frame
	_, err := c.Follow(t.Context(), func(f *signals.Frame) error {
		if frames = append(frames, f); len(frames) == 2 {
			return c.Change(protocol.Change{Load: openLoop("", 500, 0.4).Load})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := sum(frames)
	// 200 of the new load, and 1 of the old one for each 100 ms before it.
	if late := all.Good - 200; late < 2 || late > 100 {
		t.Errorf("%d good; want 200 and those before the change", all.Good)
	}
	measured, _ := measured(frames)
	if rate := measured[len(measured)-1].Client.Rate; rate != 500 {
		t.Errorf("the last rate is %v; want 500", rate)
	}
}

// The course of a search for a breaking point: an endless overload, a pause that drops
// the backlog, a lower load, a stop. Each frame has its own slow requests, whose
// weights represent all of them.
func TestTooMuchLoadRestLess(t *testing.T) {
	t.Parallel()
	server := startHostile(t, func(x *exchange) {
		for x.request() {
			time.Sleep(20 * time.Millisecond)
			x.say(fine)
		}
	})
	c := serve(t)
	p := openLoop(server.addr(), 400, 24*3600)
	p.Connections = 2
	if _, err := c.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	change := func(rate float64) error {
		return c.Change(protocol.Change{Load: openLoop("", rate, 24*3600).Load, Drop: true})
	}
	var frames []*signals.Frame
	stage := 0
	_, err := c.Follow(t.Context(), func(f *signals.Frame) error {
		frames = append(frames, f)
		checkSlow(t, f)
		switch quiet := f.Client.InFlight == 0 && f.Client.Waiting == 0; {
		case stage == 0 && len(frames) == 3:
			stage = 1
			return change(0)
		case stage == 1 && quiet && f.Client.Intended == 0:
			stage = 2
			return change(20)
		case stage == 2 && f.Client.Good > 0 && f.Client.Rate == 20:
			stage = 3
			return c.Stop()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := sum(frames)
	if all.Dropped < 20 || all.Intended != all.Good+all.Dropped || all.Good != server.requests.Load() || all.Connects != 2 {
		t.Errorf("intended %d, good %d, dropped %d, the service got %d on %d connections", all.Intended, all.Good, all.Dropped, server.requests.Load(), all.Connects)
	}
	for i, f := range frames[:len(frames)-1] {
		if f.Phase != signals.Measure && f.Phase != signals.Drain {
			t.Errorf("frame %d is of the phase %s", i, f.Phase)
		}
	}
}

// checkSlow checks the slow requests of a frame that came over the wire.
func checkSlow(t *testing.T, f *signals.Frame) {
	sum := 0.0
	for _, s := range f.Client.Slow {
		sum += s.For
		if s.Replica != 0 || s.Intended > s.Sent || s.Sent > s.Done || s.Done < f.Start || s.Done > f.End || s.Lag > s.Sent-s.Intended {
			t.Errorf("frame %d, %d to %d, has %+v", f.Seq, f.Start, f.End, s)
		}
	}
	if seen := float64(f.Client.SlowSeen); sum < seen-1e-6 || sum > seen+1e-6 || seen > float64(f.Client.Latency.Count()) {
		t.Errorf("frame %d: slow requests that stand for %v of %v, of %d", f.Seq, sum, seen, f.Client.Latency.Count())
	}
}

// An agent whose input ends stops its traffic and ends.
func TestTheInputEnds(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	lab, agent := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(agent, agent) }()
	c := NewClient(lab)
	if _, err := c.Prepare(t.Context(), openLoop(server.addr(), 100, 3600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	seen := errors.New("seen enough")
	if _, err := c.Follow(t.Context(), func(*signals.Frame) error { return seen }); err != seen {
		t.Fatal(err)
	}
	c.Close()
	if err := <-done; err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	server.Close()
	server.open.Wait() // hangs while a connection is open
}

// An invalid command is answered with an error, and ends the conversation.
func TestErrorsAreReported(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"no JSON":                 {"hello\n", "command: "},
		"nothing asked":           {"{}\n", "exactly one"},
		"two things asked":        {`{"stop":{},"start":{"at":1}}`, "exactly one"},
		"two on a line":           {`{"stop":{}} {"stop":{}}`, "more than one"},
		"an unknown word":         {`{"halt":{}}`, "halt"},
		"an unknown field":        {`{"stop":{"now":true}}`, "now"},
		"start of nothing":        {`{"start":{"at":1}}`, "no trial is prepared"},
		"no load":                 {`{"prepare":{"agents":1}}`, "kind"},
		"a bad duration":          {`{"prepare":{"agents":1,"timeout":"soon"}}`, "soon"},
		"a load without stages":   {`{"prepare":{"agents":1,"load":{"kind":"open"}}}`, "no stage"},
		"requests with stages":    {`{"prepare":{"agents":1,"load":{"kind":"closed","requests":5,"stages":[{"from":1,"to":1},{"from":1,"to":1}]}}}`, "want one"},
		"no targets":              {`{"prepare":{"agents":1,"requests":[{}],"timeout":"1s","interval":"1s","load":{"kind":"closed","stages":[{"duration":"1s","from":1,"to":1}]}}}`, "no targets"},
		"a target without a port": {`{"prepare":{"agents":1,"targets":["localhost"],"load":{"kind":"closed","stages":[{"duration":"1s","from":1,"to":1}]}}}`, "host:port"},
		"a path of two lines":     {`{"prepare":{"agents":1,"targets":["127.0.0.1:1"],"requests":[{"path":"/\r\nX: y"}],"load":{"kind":"closed","stages":[{"duration":"1s","from":1,"to":1}]}}}`, "path"},
		"a start long past": {`{"prepare":{"agents":1,"targets":["127.0.0.1:1"],"requests":[{}],"timeout":"1s","interval":"1s","load":{"kind":"closed","stages":[{"duration":"1s","from":1,"to":1}]}}}
{"start":{"at":1}}`, "ago"},
		"prepare in a trial": {`{"prepare":{"agents":1,"targets":["127.0.0.1:1"],"requests":[{}],"timeout":"1s","interval":"1s","load":{"kind":"closed","stages":[{"duration":"1s","from":1,"to":1}]}}}
{"prepare":{"agents":1}}`, "unexpected command"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			in := &lasting{Reader: strings.NewReader(c.lines + "\n"), over: make(chan struct{})}
			defer close(in.over)
			err := Serve(in, &out)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the agent ended with %v; want %q in it", err, c.want)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			var last protocol.Event
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || err == nil && last.Error == "" {
				t.Errorf("the last line is %q, %v; want an error", lines[len(lines)-1], err)
			}
		})
	}
}

// lasting is a reader that does not end after its text.
type lasting struct {
	io.Reader
	over chan struct{}
}

func (l *lasting) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == io.EOF {
		<-l.over
	}
	return n, err
}
