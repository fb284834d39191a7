package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
)

func TestSnakeNamesColumns(t *testing.T) {
	for in, want := range map[string]string{"procs": "procs", "maxProcs": "max_procs", "GOMAXPROCS": "gomaxprocs", "cpu-limit": "cpu_limit", "a.b": "a_b"} {
		if got := snake(in); got != want {
			t.Errorf("snake(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReplicasAreCounted(t *testing.T) {
	for _, c := range []struct {
		replicas summary.Replicas
		want     string
	}{
		{summary.Replicas{Least: 1, Most: 5, Mean: 3.25}, "1 to 5, 3.25 on average"},
		{summary.Replicas{Least: 2, Most: 2, Mean: 2}, "2 all the time"},
	} {
		if got := replicasText(&c.replicas); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
}

func TestTextBarGivesEveryCauseRoom(t *testing.T) {
	for name, c := range map[string]struct {
		causes summary.Causes
		want   string
	}{
		"one cause":             {summary.Causes{Rest: 1}, "░░░░░░░░░░░░░░░░░░░░░░░░"},
		"halves":                {summary.Causes{Throttling: 0.5, Rest: 0.5}, "████████████░░░░░░░░░░░░"},
		"a hundredth is seen":   {summary.Causes{Throttling: 0.01, Rest: 0.99}, "█░░░░░░░░░░░░░░░░░░░░░░░"},
		"all, in their order":   {summary.Causes{Generator: 0.1, Throttling: 0.4, Dependency: 0.1, Restart: 0.1, Neighbours: 0.1, Rest: 0.2}, "▚▚███████████▓▓▞▞▒▒░░░░░"},
		"rounding takes no one": {summary.Causes{Throttling: 1. / 3, Dependency: 1. / 3, Rest: 1. / 3}, "████████▓▓▓▓▓▓▓▓░░░░░░░░"},
	} {
		if got := textBar(narrative.Parts(&c.causes)); len([]rune(got)) != barWidth || got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := tailFact(&summary.Causes{}, ""); got != nil {
		t.Errorf("a tail of which nothing is known is drawn as %v", got)
	}
}

func TestDifferencesHaveSigns(t *testing.T) {
	for v, want := range map[float64]string{538: "+538", -12.3: "−12.3", 0: "0", -0.0001: "0.000"} {
		if got := signed(v); got != want {
			t.Errorf("signed(%v) = %q, want %q", v, got, want)
		}
	}
}

// The scale of differences holds no difference, also if all are on one side of it.
func TestDifferencesLieBesideZero(t *testing.T) {
	of := func(low, shift, high float64) difference {
		return difference{Comparison: &summary.Comparison{Low: low, Shift: shift, High: high}}
	}
	if s := differenceScale([]difference{of(20, 60, 100)}); s.From >= 0 || s.To <= 100 {
		t.Errorf("the scale is %+v", s)
	}
	if s := differenceScale([]difference{of(0, 0, 0)}); s.Drawn() {
		t.Error("no difference at all is drawn")
	}
}
