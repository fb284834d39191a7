package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis"
)

// scaledFixture is a run on Kubernetes without node agents: one cell is scaled
// while its load rises, and loses an agent; the other is throttled by its limit,
// and its agents by theirs.
func scaledFixture() Data {
	d := procsFixture()
	d.Summary.Experiment.Platform = "kubernetes"
	d.Summary.Cells, d.Summary.Findings = d.Summary.Cells[:2], nil
	grows, fixed := &d.Summary.Cells[0], &d.Summary.Cells[1]
	grows.Limits.MostReplicas, grows.Replicas = 10, &analysis.ReplicasSummary{Least: 1, Most: 5, Mean: 3.25}
	grows.Generator.Lost, grows.Generator.Limited = 1, true
	grows.Flags = []string{"agent_lost", "generator_limited", "no_windows"}
	fixed.Generator.ThrottledShare, fixed.Generator.Limited = ptr(0.031), true
	fixed.Flags = []string{"agent_throttled", "generator_limited", "no_windows"}
	d.Series = slices.DeleteFunc(d.Series, func(s analysis.Series) bool { return s.Cell > 1 })
	for i := range d.Series {
		for k := range d.Series[i].Points {
			n := 1.0
			if d.Series[i].Cell == 0 {
				n = float64(1 + k/6)
			}
			d.Series[i].Points[k].Replicas = &n
		}
	}
	return d
}

// The number of replicas lies beside the latency, on the same grid of time.
func TestReplicasAreDrawnWhereTheyAreTold(t *testing.T) {
	c := newCharts(scaledFixture())
	lines := c.Lines["replicas"]
	if len(lines) != 2 || lines[0] == nil || lines[1] == nil || len(lines[0].Mid) != len(c.X) {
		t.Fatalf("lines %+v", lines)
	}
	var counts []float64
	for _, v := range lines[0].Mid {
		if v != nil {
			counts = append(counts, *v)
		}
	}
	if d := cmp.Diff([]float64{1, 2, 3, 4, 5}, slices.Compact(counts)); d != "" {
		t.Errorf("replicas over time (-want +got):\n%s", d)
	}
	if _, told := newCharts(procsFixture()).Lines["replicas"]; told {
		t.Error("replicas are drawn where nobody told how many there are")
	}
}

func TestReplicasInWords(t *testing.T) {
	for _, c := range []struct {
		replicas analysis.ReplicasSummary
		want     string
	}{
		{analysis.ReplicasSummary{Least: 1, Most: 5, Mean: 3.25}, "1 to 5, 3.25 on average"},
		{analysis.ReplicasSummary{Least: 2, Most: 2, Mean: 2}, "2 all the time"},
	} {
		if got := replicasText(&c.replicas); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
	grows := scaledFixture().Summary.Cells[0]
	if got := limitsText(&grows); got != "limit 1 CPU and 256 MiB for each of 1 to 10 replicas" {
		t.Error(got)
	}
}
