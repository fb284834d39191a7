package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

func TestNeighboursAreNamedByWhatTheyUsed(t *testing.T) {
	at := time.Unix(100, 0)
	service := func(pid int) bool { return pid == 7 }
	n := &neighbours{processes: map[process]*usage{}}
	n.add(at, map[int]proc.Stat{
		1: {Name: "init", Ticks: 100_000, Started: 1},
		2: {Name: "ksoftirqd/1", Ticks: 100, Started: 1, Kernel: true},
		5: {Name: "sh", Ticks: 5000, Started: 50},
		7: {Name: "nginx", Ticks: 10, Started: 60},
		9: {Name: "cc1", Ticks: 30, Started: 70},
	}, service)
	n.add(at.Add(10*time.Second), map[int]proc.Stat{
		1:  {Name: "init", Ticks: 100_001, Started: 1},
		2:  {Name: "ksoftirqd/1", Ticks: 700, Started: 1, Kernel: true},
		5:  {Name: "sh", Ticks: 5990, Started: 50},
		7:  {Name: "nginx", Ticks: 900, Started: 60},
		9:  {Name: "cc1", Ticks: 40, Started: 90}, // another process with that number
		10: {Name: "cc1", Ticks: 60, Started: 91},
	}, service)
	want := []signals.Neighbour{{PID: 5, Name: "sh", Processes: 1, CPUs: 0.99}, {PID: 10, Name: "cc1", Processes: 2, CPUs: 0.1}}
	got := n.most()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if text := signals.NeighboursText(got); text != "sh (PID 5) 0.99, cc1 (2 processes, most by PID 10) 0.10" {
		t.Error(text)
	}
	if all := (&neighbours{}).most(); all != nil {
		t.Errorf("%v without a reading", all)
	}
}
