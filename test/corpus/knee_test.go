package corpus

import (
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// A knee is stated in most records of a service whose latency rises, and in at most one
// in twenty of one whose latency does not.
func TestAKneeIsStatedWhereLatencyRises(t *testing.T) {
	seeds := uint64(testkit.Samples(6, 20, 400))
	found := map[string]int{}
	for _, c := range Cases() {
		if c.Name != "ramp-flat" && c.Name != "ramp-knee" {
			continue
		}
		for seed := range seeds {
			if summaryOf(t, &c, seed+1).Cells[0].Knee != nil {
				found[c.Name]++
			}
		}
		t.Logf("%s: a knee in %d of %d records", c.Name, found[c.Name], seeds)
	}
	if n := found["ramp-flat"]; n > max(1, int(seeds)/20) {
		t.Errorf("a knee in %d of %d records of a flat curve", n, seeds)
	}
	if n := found["ramp-knee"]; n < int(seeds)/2 {
		t.Errorf("a knee in %d of %d records of a curve that rises", n, seeds)
	}
}
