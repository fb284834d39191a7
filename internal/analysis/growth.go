package analysis

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// A step from one trial's memory peak to the next counts as growth from here on.
// Smaller steps are within the usual variation of a heap.
const (
	growthShare = 0.02
	growthBytes = 1 << 20
)

// growth finds memory that grows in every trial of a service that stayed up. It needs
// at least two steps, because one step goes up as often as down.
func (b *Builder) growth(c *summary.Cell) (summary.Finding, bool) {
	peaks := c.MemoryPeaks()
	if !b.exp.Measure.Kept || len(peaks) < 3 {
		return summary.Finding{}, false
	}
	for i, peak := range peaks {
		if i > 0 && peak-peaks[i-1] <= max(growthShare*peaks[i-1], growthBytes) {
			return summary.Finding{}, false
		}
	}
	grown := finding.Finding{Kind: finding.MemoryPeaks, Loads: peaks, Other: peaks[len(peaks)-1] / peaks[0]}
	if limit := c.Limits.MemoryBytes; limit != nil {
		grown.Value = float64(*limit)
	}
	return summary.Finding{Level: "result", Cell: &c.Cell, What: finding.Finding{Kind: finding.MemoryGrows}, Why: []finding.Finding{grown}}, true
}
