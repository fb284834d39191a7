package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestARampNamesWhoDisturbedIt(t *testing.T) {
	stolen := fixture.Level{Latency: time.Second, Steal: 0.8}
	both := fixture.Level{Latency: time.Second, Steal: 0.8, Foreign: 0.8}
	fast := fixture.Level{Foreign: 0.8} // a level that meets the objective next to others was not disturbed
	for _, c := range []struct {
		name   string
		levels []fixture.Level
		want   []string
	}{
		{"nobody did", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow, fixture.Slow}, nil},
		{"a neighbour did", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}, []string{summary.Neighbours}},
		{"the hypervisor did", []fixture.Level{fixture.Fine, fixture.Fine, stolen, fixture.Slow}, []string{summary.Hypervisor}},
		{"both did", []fixture.Level{fixture.Fine, fixture.Fine, both, fixture.Slow}, []string{summary.Neighbours, summary.Hypervisor}},
		{"a neighbour did below the level that the hypervisor upset", []fixture.Level{fixture.Fine, fast, stolen, fixture.Slow}, []string{summary.Hypervisor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Ramp(100, 200, 300, 400)
			b := New(e, []Attempt{{Trial: 1}})
			fill(b.cell(0), 0, c.levels)
			wantDisturbed(t, b.Cells()[0], c.want)
		})
	}
}

func TestASearchNamesWhoDisturbedIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		windows []signals.Host
		want    []string
	}{
		{"nobody did", []signals.Host{{Idle: 1}, {Idle: 0.3}}, nil},
		{"a neighbour did", []signals.Host{{Idle: 1}, {Foreign: 1}}, []string{summary.Neighbours}},
		{"the hypervisor did", []signals.Host{{Steal: 1}, {Idle: 1}}, []string{summary.Hypervisor}},
		{"each in another window", []signals.Host{{Steal: 1}, {Foreign: 1}}, []string{summary.Neighbours, summary.Hypervisor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var steps []signals.SearchStep
			for i := range c.windows {
				steps = append(steps, signals.SearchStep{Trial: 1, Step: i, Load: 50, First: i + 1, Last: i + 1})
			}
			b := New(fixture.Search(), []Attempt{{Trial: 1}}, steps...)
			for i, h := range c.windows {
				h.CPUs = 2
				seq := i + 1
				b.Add(fixture.Client(seq, signals.Measure, 100, time.Millisecond))
				b.Add(&signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9, Host: &h})
			}
			wantDisturbed(t, b.Cells()[0], c.want)
		})
	}
}

// Processes are named where neighbours disturbed: those of the trial in which they used most.
func TestNeighboursAreNamed(t *testing.T) {
	sh, cc := []signals.Neighbour{{PID: 5, Name: "sh", Processes: 1, CPUs: 0.9}}, []signals.Neighbour{{PID: 9, Name: "cc1", Processes: 4, CPUs: 1.5}}
	steps := []signals.SearchStep{{Trial: 1, Load: 50, First: 1, Last: 1}, {Trial: 2, Load: 50, First: 1, Last: 1}}
	for _, c := range []struct {
		name string
		host signals.Host
		want []signals.Neighbour
	}{
		{"nobody disturbed", signals.Host{CPUs: 2, Idle: 1}, nil},
		{"the hypervisor did", signals.Host{CPUs: 2, Steal: 1}, nil},
		{"they did", signals.Host{CPUs: 2, Foreign: 1}, cc},
	} {
		b := New(fixture.Search(), []Attempt{{Trial: 1, Repeat: 1, Neighbours: sh}, {Trial: 2, Repeat: 2, Neighbours: cc}}, steps...)
		for trial := 1; trial <= 2; trial++ {
			f := fixture.Client(1, signals.Measure, 100, time.Millisecond)
			f.Trial = trial
			b.Add(f)
			b.Add(&signals.Frame{Trial: trial, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &c.host})
		}
		cells := b.Cells()
		if d := cmp.Diff(c.want, verdict.DisturbancesOf([]*summary.Cell{&cells[0]}).Neighbours); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func wantDisturbed(t *testing.T, c summary.Cell, by []string) {
	t.Helper()
	if d := cmp.Diff(by, c.Breaking.DisturbedBy); d != "" {
		t.Errorf("disturbed by (-want +got):\n%s", d)
	}
	if flagged := c.Has(summary.FlagSearchDisturbed); flagged != (len(by) > 0) {
		t.Errorf("flags %q, disturbed by %q", c.Flags, by)
	}
	for _, who := range []string{summary.Neighbours, summary.Hypervisor} {
		if c.DisturbedBy(who) != slices.Contains(by, who) {
			t.Errorf("disturbed by %s: %v", who, c.DisturbedBy(who))
		}
	}
}
