package lab

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform"
)

// growing is a unit whose replicas the test changes.
type growing struct {
	mu  sync.Mutex
	now []platform.Replica
}

func (g *growing) Replicas() []platform.Replica { return g.CurrentReplicas()[:1] }
func (g *growing) Stop(context.Context) error   { return nil }
func (g *growing) CurrentReplicas() []platform.Replica {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.now)
}

func (g *growing) add(r platform.Replica) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = append(g.now, r)
}

func (g *growing) lose(index int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now[index] = nil
}

// pod is a replica that always uses one CPU, and whose windows are measured near it.
type pod struct {
	address string
	began   time.Time
	mu      sync.Mutex
	windows []signals.Window
}

func (p *pod) Address() string                                 { return p.address }
func (p *pod) PIDs() []int                                     { return nil }
func (p *pod) ThrottleSample() (signals.ThrottleSample, error) { panic("a pod has no samples") }
func (p *pod) Counters() (signals.Counters, error) {
	used := time.Since(p.began).Seconds()
	return signals.Counters{At: time.Now(), CPU: &used, Up: true}, nil
}
func (p *pod) Windows() []signals.Window {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.windows
	p.windows = nil
	return all
}

func (p *pod) see(v signals.Window) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.windows = append(p.windows, v)
}

func newPod(address string) *pod { return &pod{address: address, began: time.Now()} }

func TestTheSamplerFollowsTheReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unit := &growing{now: []platform.Replica{newPod("a")}}
		d := &deployment{}
		d.watch("go", roleService, replicas(unit))
		var got []string
		s := &sampler{trial: 3, began: time.Now(), sources: d.sources, scale: newScale("go", unit), noHost: true, sampled: func(int) {}, out: func(f *signals.Frame) {
			switch {
			case f.Scale != nil:
				got = append(got, fmt.Sprintf("%d: %d replicas for %v", f.Seq, f.Scale.Replicas, time.Duration(f.End-f.Start)))
			case f.Server != nil:
				got = append(got, fmt.Sprintf("%d: replica %d used %.0f", f.Seq, f.Index, *f.Server.CPU))
			}
		}}
		s.first()
		for seq, change := range []func(){
			func() {},
			func() { unit.add(newPod("b")) },
			func() {},
			func() { unit.lose(0) },
			func() { unit.add(newPod("c")) },
		} {
			change()
			time.Sleep(time.Second)
			s.sample(seq, signals.Measure)
		}
		want := []string{
			"0: 1 replicas for 1s", "0: replica 0 used 1",
			"1: 2 replicas for 1s", "1: replica 0 used 1",
			"2: 2 replicas for 1s", "2: replica 0 used 1", "2: replica 1 used 1",
			"3: 1 replicas for 1s", "3: replica 1 used 1",
			"4: 2 replicas for 1s", "4: replica 1 used 1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frames (-want +got):\n%s", diff)
		}
	})
}

func TestTheWatcherCollectsRemoteWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newPod("a"), newPod("b")
		unit := &growing{now: []platform.Replica{first}}
		tr := &trial{number: 3, cell: &experiment.Cell{Index: 2, Service: experiment.Service{Name: "go"}}, deployment: &deployment{service: unit}}
		var got []signals.Window
		w := tr.watcher(time.Now(), func(v *signals.Window) { got = append(got, *v) })
		first.see(signals.Window{Kind: signals.Throttled, Start: 1, End: 2})
		stop := make(chan struct{})
		time.AfterFunc(500*time.Millisecond, func() { unit.add(second) })
		time.AfterFunc(1500*time.Millisecond, func() { second.see(signals.Window{Kind: signals.Throttled, Start: 3, End: 4}) })
		time.AfterFunc(2500*time.Millisecond, func() { close(stop) })
		// A window that ended before the load arrives after it.
		time.AfterFunc(3200*time.Millisecond, func() { second.see(signals.Window{Kind: signals.Down, Start: 5, End: 6}) })
		w.run(stop)
		want := []signals.Window{
			{Trial: 3, Cell: 2, Of: "go", Index: 0, Kind: signals.Throttled, Start: 1, End: 2},
			{Trial: 3, Cell: 2, Of: "go", Index: 1, Kind: signals.Throttled, Start: 3, End: 4},
			{Trial: 3, Cell: 2, Of: "go", Index: 1, Kind: signals.Down, Start: 5, End: 6},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("windows (-want +got):\n%s", diff)
		}
	})
}

func TestAgentsGetTheAddressesOfNewReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unit := &growing{now: []platform.Replica{newPod("a:1")}}
		ours, theirs := net.Pipe()
		client := agent.NewClient(ours)
		defer client.Close()
		all := &agents{targets: []string{"a:1"}, running: []*runningAgent{{client: client}}}
		ctx, cancel := context.WithCancel(t.Context())
		go followReplicas(ctx, unit, all)
		line := func() string {
			b := make([]byte, 1000)
			n, err := theirs.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			return string(b[:n])
		}
		time.Sleep(time.Second) // nothing has changed: a write would block
		unit.add(newPod("b:1"))
		if got, want := line(), `{"move":{"targets":["a:1","b:1"]}}`+"\n"; got != want {
			t.Errorf("sent %s; want %s", got, want)
		}
		unit.lose(0)
		if got, want := line(), `{"move":{"targets":["","b:1"]}}`+"\n"; got != want {
			t.Errorf("sent %s; want %s", got, want)
		}
		unit.lose(1) // no replica is left to move to
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
	})
}

func TestWithLimits(t *testing.T) {
	got := withLimits(map[string]string{"db.host": "x"}, experiment.Limits{CPUMillis: 1500, Memory: 1 << 20})
	want := map[string]string{"db.host": "x", "limits.cpu": "2", "limits.memory": "1048576"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
