package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/report/charts"
	"github.com/millicore/millicore/internal/report/sample"
)

// The number of replicas lies beside the latency, on the same grid of time.
func TestReplicasAreDrawnWhereTheyAreTold(t *testing.T) {
	c := charts.New(sample.Scaled())
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
	if _, drawn := charts.New(sample.Procs()).Lines["replicas"]; drawn {
		t.Error("replicas are drawn where their number is not known")
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
	grows := sample.Scaled().Summary.Cells[0]
	if got := narrative.LimitsText(&grows); got != "limit 1 CPU and 256 MiB for each of 1 to 10 replicas" {
		t.Error(got)
	}
}
