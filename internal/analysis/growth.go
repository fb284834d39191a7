package analysis

import (
	"fmt"
	"strings"
)

// A step from one trial's memory peak to the next counts as growth from here on:
// a heap's own ups and downs from run to run are smaller.
const (
	growthShare = 0.02
	growthBytes = 1 << 20
)

// growth finds memory that grows with every trial of a service that stayed up.
// Two steps are the least: one that goes up is as likely as one that goes down.
func (b *Builder) growth(c *CellSummary) (Finding, bool) {
	peaks := peaksOf(c)
	if !b.exp.Measure.Kept || len(peaks) < 3 {
		return Finding{}, false
	}
	var texts []string
	for i, peak := range peaks {
		if i > 0 && peak-peaks[i-1] <= max(growthShare*peaks[i-1], growthBytes) {
			return Finding{}, false
		}
		texts = append(texts, peakText(peak, c.Limits.MemoryBytes))
	}
	of := " MiB"
	if limit := c.Limits.MemoryBytes; limit != nil {
		of = fmt.Sprintf("%% of its limit of %.4g MiB", float64(*limit)/(1<<20))
	}
	first, last := peaks[0], peaks[len(peaks)-1]
	return Finding{Level: "result", Cell: &c.Cell, Title: "memory grows from run to run",
		Text: fmt.Sprintf("peaks of %s%s: %.2g times in %d runs, between which it was not started anew", strings.Join(texts, ", "), of, last/first, len(peaks))}, true
}

// peakText writes a peak in percent of the limit, or in MiB.
func peakText(bytes float64, limit *int64) string {
	if limit != nil {
		return fmt.Sprintf("%.3g", 100*bytes/float64(*limit))
	}
	return fmt.Sprintf("%.4g", bytes/(1<<20))
}
