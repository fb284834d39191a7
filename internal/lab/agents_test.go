package lab

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/platform"
)

// An agent whose clock is wrong by an hour starts with the others, and its time stamps
// are converted to the lab's clock.
func TestClocksOfAgents(t *testing.T) { synctest.Test(t, testClocksOfAgents) }

func testClocksOfAgents(t *testing.T) {
	ahead := map[int]time.Duration{0: 0, 1: time.Hour, 2: -3 * time.Minute}
	var mu sync.Mutex
	started := map[int]int64{}
	l, _, _ := testLab(t, shortExperiment, func(trial, index int) fakeLife {
		return fakeLife{ahead: ahead[index],
			start: func(s protocol.Start) {
				if trial == 1 {
					mu.Lock()
					defer mu.Unlock()
					started[index] = s.At
				}
			},
			each: func(f *signals.Frame) {
				f.Client.Slow = []signals.Slow{{Intended: f.Start + 1, Sent: f.Start + 2, Done: f.Start + 3, Lag: 7, For: 1}}
			}}
	})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := started[0]
	if started[1]-begin != time.Hour.Nanoseconds() || begin-started[2] != (3*time.Minute).Nanoseconds() {
		t.Errorf("agents start at %v, want each by its own clock", started)
	}
	r := openRecord(t, l.Dir)
	for agent, frames := range clientFrames(t, r, 1) {
		for i, f := range frames {
			if want := begin + int64(i)*1e8; f.Start != want || f.End != want+1e8 {
				t.Fatalf("agent %d: interval %d is from %d to %d, want it from %d", agent, i, f.Start, f.End, want)
			}
		}
	}
	seen := map[int]int{}
	for s, err := range r.Slow() {
		if err != nil {
			t.Fatal(err)
		}
		if s.Trial == 1 {
			want := signals.Slow{Intended: begin + int64(seen[s.Agent])*1e8 + 1, Lag: 7, For: 1}
			want.Sent, want.Done = want.Intended+1, want.Intended+2
			if s.Slow != want {
				t.Fatalf("agent %d: %+v, want %+v", s.Agent, s.Slow, want)
			}
			seen[s.Agent]++
		}
	}
	if d := cmp.Diff(map[int]int{0: 10, 1: 10, 2: 10}, seen); d != "" {
		t.Error(d)
	}
}

func TestOneOfSeveralAgentsIsLost(t *testing.T) { synctest.Test(t, testOneOfSeveralAgentsIsLost) }

func testOneOfSeveralAgentsIsLost(t *testing.T) {
	l, _, log := testLab(t, shortExperiment, func(trial, index int) fakeLife {
		if trial == 1 && index == 1 {
			return fakeLife{breaks: 4}
		}
		return fakeLife{}
	})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := openRecord(t, l.Dir)
	if len(r.Trials) != 2 || r.Trials[0].Outcome != record.Done || r.Trials[1].Outcome != record.Done {
		t.Fatalf("%+v, want both done", r.Trials)
	}
	if d := cmp.Diff([]int{1}, r.Trials[0].LostAgents); d != "" || r.Trials[1].LostAgents != nil {
		t.Errorf("lost %v and %v", r.Trials[0].LostAgents, r.Trials[1].LostAgents)
	}
	got := map[int]int{}
	for agent, frames := range clientFrames(t, r, 1) {
		got[agent] = len(frames)
	}
	if d := cmp.Diff(map[int]int{0: 10, 1: 4, 2: 10}, got); d != "" {
		t.Errorf("frames by agent: %s", d)
	}
	want := "trial 1 (web): agent 1 failed: it ended without an error message; see its standard error; the other agents continue, with less load than specified\n"
	if !strings.Contains(log.String(), want) {
		t.Errorf("the log says\n%swant\n%s", log, want)
	}
}

func TestAllAgentsAreLost(t *testing.T) {
	for _, c := range []struct {
		name, agents string
		lost         []int
	}{{"one of one", "1", []int{0}}, {"three of three", "3", []int{0, 1, 2}}} {
		t.Run(c.name, inBubble(func(t *testing.T) {
			l, _, _ := testLab(t, strings.Replace(shortExperiment, "agents: 3", "agents: "+c.agents, 1),
				func(_, index int) fakeLife { return fakeLife{breaks: 2 + index} })
			if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no trial could be completed") {
				t.Errorf("%v, want that no trial could be completed", err)
			}
			first := openRecord(t, l.Dir).Trials[0]
			if first.Outcome != record.Failed || !strings.HasPrefix(first.Why, "agent 0 failed: ") {
				t.Errorf("%+v, want a failure", first)
			}
			if d := cmp.Diff(c.lost, first.LostAgents); d != "" {
				t.Error(d)
			}
		}))
	}
}

func TestAgentsAreStartedConcurrently(t *testing.T) {
	synctest.Test(t, testAgentsAreStartedConcurrently)
}

func testAgentsAreStartedConcurrently(t *testing.T) {
	text := strings.Replace(strings.Replace(shortExperiment, "agents: 3", "agents: 8", 1), "users: 4", "users: 8", 1)
	l, f, _ := testLab(t, text, nil)
	var all sync.WaitGroup
	all.Add(8)
	f.agent = func(ctx context.Context, trial, _ int) (platform.Agent, error) {
		if trial == 1 {
			all.Done()
			all.Wait() // never returns if agents are started one after another
		}
		return fakeLife{}.agent(), nil
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(clientFrames(t, openRecord(t, l.Dir), 1)); n != 8 {
		t.Errorf("frames of %d agents", n)
	}
}

func TestTheErrorOfTheFirstAgentIsTheReason(t *testing.T) {
	synctest.Test(t, testTheErrorOfTheFirstAgentIsTheReason)
}

func testTheErrorOfTheFirstAgentIsTheReason(t *testing.T) {
	l, f, _ := testLab(t, shortExperiment, nil)
	f.agent = func(ctx context.Context, _, index int) (platform.Agent, error) {
		if index == 2 {
			return nil, errors.New("agent 2: no node has room")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := l.Run(t.Context()); err == nil {
		t.Error("no error")
	}
	if first := openRecord(t, l.Dir).Trials[0]; first.Outcome != record.Failed || first.Why != "agent 2: no node has room" {
		t.Errorf("%+v", first)
	}
}
