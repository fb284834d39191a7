package charts

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/test/sample"
)

// The number of replicas lies beside the latency, on the same grid of time.
func TestReplicasAreDrawnWhereTheirNumberIsKnown(t *testing.T) {
	c := New(sample.Scaled())
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
	if _, drawn := New(sample.Procs()).Lines["replicas"]; drawn {
		t.Error("replicas are drawn where their number is not known")
	}
}
