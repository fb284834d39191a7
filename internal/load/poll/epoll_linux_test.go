package poll

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/port"
)

// If the kernel lacks epoll_pwait2, a timerfd ends the wait.
func TestTheWaitWithoutPwait2(t *testing.T) {
	p, err := New(time.Now(), nil, Place{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if err := p.useTimer(); err != nil {
		t.Fatal(err)
	}
	events := make([]port.Event, mostEvents)
	for i := range 20 {
		until := p.Now() + 300*time.Microsecond
		for p.Now() < until { // a signal may end a wait early
			if n := p.Wait(events, until, port.Waiting(i%3)); n != 0 {
				t.Fatalf("%d events of no connection", n)
			}
		}
	}
	if n := p.Wait(events, 0, port.Roughly); n != 0 || p.Err() != nil {
		t.Fatalf("%d events, %v", n, p.Err())
	}
}

// A signal can end a wait, so the end of one does not show that the bell rang.
func TestEachWakeRingsTheBell(t *testing.T) {
	for _, timer := range []bool{false, true} {
		p, err := New(time.Now(), nil, Place{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		if timer {
			if err := p.useTimer(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			p.Wake()
			if n := p.poll(0); n != 1 || p.events[0].Fd != bellSlot {
				t.Fatalf("wake %d: %d events, %v", i, n, p.events[:n])
			}
			if n := p.Wait(make([]port.Event, mostEvents), math.MaxInt64, port.Roughly); n != 0 || p.poll(0) != 0 {
				t.Fatalf("wake %d: %d events of a bell, or it still rings", i, n)
			}
		}
	}
}

// The error about too many connections for the limit of open files contains the remedy.
func TestTooManyConnections(t *testing.T) {
	err := AllowFiles(1<<40, 1)
	if err == nil || !strings.Contains(err.Error(), "ulimit") {
		t.Errorf("%v; want words on the limit of open files", err)
	}
}
