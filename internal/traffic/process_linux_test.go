package traffic

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

func TestAProcessIsSeenToEndBeforeAnybodyAsksForItsStatus(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Process.Kill(), c.Wait() }() // it may have ended
	p, err := Watch(c.Process.Pid)
	if err != nil {
		t.Skipf("needs pidfd_open: %v", err)
	}
	defer p.Close()
	if p.Ended() {
		t.Fatal("it lives")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !p.Ended(); time.Sleep(time.Millisecond) { // a zombie
		if time.Now().After(end) {
			t.Fatal("it was not seen to end")
		}
	}
	if _, err := Watch(1 << 30); err == nil || !strings.Contains(err.Error(), "watch process 1073741824 for its end") {
		t.Errorf("a process that is not there: %v", err)
	}
}

// given has one replica, which can be read.
type given struct{ platform.Platform }

func (given) Start(context.Context, platform.UnitSpec) (platform.Unit, error) { return given{}, nil }
func (given) Replicas() []platform.Replica                                    { return []platform.Replica{given{}} }
func (given) Stop(context.Context) error                                      { return nil }
func (given) Check(*experiment.Experiment) error                              { return nil }
func (given) Address() string                                                 { return "127.0.0.1:8080" }
func (given) Counters() (signals.Counters, error)                             { return signals.Counters{Up: true}, nil }
func (given) Pulse() (signals.Pulse, error)                                   { return signals.Pulse{Up: true}, nil }
func (given) PIDs() []int                                                     { return []int{4711} }

func TestWhatHasEndedIsNotRead(t *testing.T) {
	ended := false
	running, err := Mortal(given{}, func() bool { return ended }).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	r := running.Replicas()[0]
	read := func() [2]bool {
		c, err1 := r.Counters()
		p, err2 := r.Pulse()
		return [2]bool{c.Up && err1 == nil, p.Up && err2 == nil}
	}
	if read() != [2]bool{true, true} || r.Address() != "127.0.0.1:8080" {
		t.Error("one that lives is read")
	}
	if ended = true; read() != [2]bool{} {
		t.Error("one that has ended is not read")
	}
}

func TestTextSaysThatTheTargetEnded(t *testing.T) {
	cell := &analysis.CellSummary{}
	text := server(&Result{Cell: cell, Ended: 5100 * time.Millisecond})
	if want := "Target\n  ended  0:05 after the load began; it was not measured after that\n\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if text := server(&Result{Cell: cell}); text != "" {
		t.Errorf("of nothing that was looked at: %q", text)
	}
}
