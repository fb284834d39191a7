package analysis

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
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
	var texts []string
	for i, peak := range peaks {
		if i > 0 && peak-peaks[i-1] <= max(growthShare*peaks[i-1], growthBytes) {
			return summary.Finding{}, false
		}
		texts = append(texts, peakText(peak, c.Limits.MemoryBytes))
	}
	of := " MiB"
	if limit := c.Limits.MemoryBytes; limit != nil {
		of = fmt.Sprintf("%% of its limit of %s MiB", digits.Significant(float64(*limit)/(1<<20), 4))
	}
	first, last := peaks[0], peaks[len(peaks)-1]
	return summary.Finding{Level: "result", Cell: &c.Cell, Title: "memory grows from run to run",
		Text: fmt.Sprintf("peaks of %s%s: %.2g times in %d runs without a restart", strings.Join(texts, ", "), of, last/first, len(peaks))}, true
}

// peakText formats a peak as a percentage of the limit, or in MiB.
func peakText(bytes float64, limit *int64) string {
	if limit != nil {
		return fmt.Sprintf("%.3g", 100*bytes/float64(*limit))
	}
	return digits.Significant(bytes/(1<<20), 4)
}
