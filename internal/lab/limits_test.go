package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// brokenReplica is a replica whose limit does not hold from a time on, until another time.
type brokenReplica struct {
	fakeReplica
	from, until time.Time
}

func (r brokenReplica) Replicas() []platform.Replica { return []platform.Replica{r} }
func (r brokenReplica) LimitBroken() string {
	if now := time.Now(); now.Before(r.from) || !now.Before(r.until) {
		return ""
	}
	return "process 7 (web) left its control group"
}

// breaking is a platform whose services break their limit a time after their start, for a
// time.
type breaking struct {
	*fake
	after func(trial int) time.Duration
	lasts time.Duration
}

func (b breaking) Start(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	from := time.Now().Add(b.after(u.Trial))
	return brokenReplica{from: from, until: from.Add(b.lasts)}, nil
}

// A trial in which a limit did not hold ends, is invalid, and counts nowhere; the run ends
// with an error. The last interval counts, too, and so does a limit that was restored.
func TestATrialWhoseLimitDidNotHoldIsInvalid(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"until its end": time.Hour, "for an interval": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) { aTrialWhoseLimitDidNotHoldIsInvalid(t, lasts) })
	}
}

func aTrialWhoseLimitDidNotHoldIsInvalid(t *testing.T, lasts time.Duration) {
	inBubble(func(t *testing.T) {
		l, f, _ := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
		l.Platform = breaking{f, func(trial int) time.Duration {
			return map[int]time.Duration{1: 700 * time.Millisecond, 2: time.Hour}[trial]
		}, lasts}
		err := l.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "1 invalid trial: a limit did not hold") {
			t.Errorf("error %v", err)
		}
		r := openRecord(t, l.Dir)
		want := []string{
			"1: cell 0, repeat 1, attempt 0: invalid a limit of web did not hold: process 7 (web) left its control group",
			"2: cell 0, repeat 2, attempt 0: done",
		}
		if d := cmp.Diff(want, outcomes(r)); d != "" || !r.Finished {
			t.Errorf("finished: %v; %s", r.Finished, d)
		}
		if n := count(clientFrames(t, r, 1)); n == 0 || n >= 3*10 {
			t.Errorf("%d frames of the invalid trial, want fewer than of a complete one", n)
		}
	})(t)
}

func TestACellWhoseLimitsNeverHoldIsGivenUp(t *testing.T) {
	inBubble(func(t *testing.T) {
		l, f, log := testLab(t, strings.Replace(shortExperiment, "repeats: 2", "repeats: 6", 1), func(int, int) fakeLife { return fakeLife{} })
		l.Platform = breaking{f, func(int) time.Duration { return 0 }, time.Hour}
		if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "2 invalid trials") {
			t.Errorf("error %v", err)
		}
		if n := len(openRecord(t, l.Dir).Trials); n != maxFailures || !strings.Contains(log.String(), string(giveUpCell)) {
			t.Errorf("%d trials; the log says\n%s", n, log)
		}
	})(t)
}

// heldAgent is an agent that a signal holds.
type heldAgent struct{ platform.Agent }

func (heldAgent) Stopped() bool { return true }
func (heldAgent) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.New("not counted")
}

// The record has the agents that a signal stopped, and the reason of the one that sent
// nothing any more.
func TestAnAgentThatASignalStopped(t *testing.T) {
	inBubble(func(t *testing.T) {
		silent := make(chan struct{})
		l, f, log := testLab(t, strings.Replace(shortExperiment, "agents: 3", "agents: 1", 1), nil)
		f.agent = func(context.Context, int, int) (platform.Agent, error) {
			life := fakeLife{each: func(f *signals.Frame) {
				if f.Seq == 5 {
					<-silent
				}
			}}
			return heldAgent{life.agent()}, nil
		}
		defer close(silent)
		if err := l.Run(t.Context()); err == nil {
			t.Error("a run without an agent has no error")
		}
		r := openRecord(t, l.Dir)
		for _, one := range r.Trials {
			if one.Outcome != record.Failed || !strings.Contains(one.Why, "a signal had stopped its process (SIGSTOP)") || !slices.Equal(one.StoppedAgents, []int{0}) {
				t.Errorf("trial %+v", one)
			}
		}
		if !strings.Contains(log.String(), "a signal stopped agent 0") {
			t.Errorf("the log says\n%s", log)
		}
	})(t)
}
