package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/signals"
)

func TestARampNamesWhoDisturbedIt(t *testing.T) {
	stolen := shown{latency: time.Second, steal: 0.8}
	both := shown{latency: time.Second, steal: 0.8, foreign: 0.8}
	fast := shown{foreign: 0.8} // a level that meets the objective next to others was not disturbed
	for _, c := range []struct {
		name   string
		levels []shown
		want   []string
	}{
		{"nobody did", []shown{fine, fine, slow, slow}, nil},
		{"a neighbour did", []shown{fine, fine, beside, slow}, []string{Neighbours}},
		{"the hypervisor did", []shown{fine, fine, stolen, slow}, []string{Hypervisor}},
		{"both did", []shown{fine, fine, both, slow}, []string{Neighbours, Hypervisor}},
		{"a neighbour did below the level that the hypervisor upset", []shown{fine, fast, stolen, slow}, []string{Hypervisor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := rampTo(100, 200, 300, 400)
			b := New(e, []Attempt{{Trial: 1}})
			fill(b.cells[0], 0, c.levels)
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
		{"a neighbour did", []signals.Host{{Idle: 1}, {Foreign: 1}}, []string{Neighbours}},
		{"the hypervisor did", []signals.Host{{Steal: 1}, {Idle: 1}}, []string{Hypervisor}},
		{"each in another window", []signals.Host{{Steal: 1}, {Foreign: 1}}, []string{Neighbours, Hypervisor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var steps []signals.SearchStep
			for i := range c.windows {
				steps = append(steps, signals.SearchStep{Trial: 1, Step: i, Load: 50, First: i + 1, Last: i + 1})
			}
			b := New(searchExperiment(), []Attempt{{Trial: 1}}, steps...)
			for i, h := range c.windows {
				h.CPUs = 2
				seq := i + 1
				b.Add(client(seq, signals.Measure, 100, time.Millisecond))
				b.Add(&signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9, Host: &h})
			}
			wantDisturbed(t, b.Cells()[0], c.want)
		})
	}
}

func wantDisturbed(t *testing.T, c CellSummary, by []string) {
	t.Helper()
	if d := cmp.Diff(by, c.Breaking.DisturbedBy); d != "" {
		t.Errorf("disturbed by (-want +got):\n%s", d)
	}
	if flagged := c.Has(FlagSearchDisturbed); flagged != (len(by) > 0) {
		t.Errorf("flags %q, disturbed by %q", c.Flags, by)
	}
	for _, who := range []string{Neighbours, Hypervisor} {
		if c.DisturbedBy(who) != slices.Contains(by, who) {
			t.Errorf("disturbed by %s: %v", who, c.DisturbedBy(who))
		}
	}
}

func TestDisturbersAreNamedWhereTheRecordNamesThem(t *testing.T) {
	searched := func(by ...string) CellSummary {
		return CellSummary{Flags: Flags{FlagSearchDisturbed}, Breaking: &BreakingPoint{DisturbedBy: by}}
	}
	for _, c := range []struct {
		name string
		cell CellSummary
		want Disturbers
	}{
		{"nobody", CellSummary{Flags: Flags{FlagLowIdle}}, Disturbers{}},
		{"a neighbour of trials", CellSummary{Flags: Flags{FlagBusyNeighbour}}, Disturbers{Neighbours: true}},
		{"the hypervisor in trials", CellSummary{Flags: Flags{FlagBusyHypervisor}}, Disturbers{Hypervisor: true}},
		{"a neighbour of a search", searched(Neighbours), Disturbers{Neighbours: true}},
		{"both in a search", searched(Neighbours, Hypervisor), Disturbers{Neighbours: true, Hypervisor: true}},
		{"a search of an older version", searched(), Disturbers{Unnamed: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.cell.Disturbers(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	near, below, unnamed := Disturbers{Neighbours: true}, Disturbers{Hypervisor: true}, Disturbers{Unnamed: true}
	if got := near.And(unnamed); got != near {
		t.Errorf("a neighbour and one unnamed: %+v, want %+v", got, near)
	}
	if got, want := unnamed.And(near).And(below), (Disturbers{Neighbours: true, Hypervisor: true}); got != want {
		t.Errorf("all: %+v, want %+v", got, want)
	}
	if got := unnamed.And(Disturbers{}); got != unnamed {
		t.Errorf("one unnamed: %+v", got)
	}
}
