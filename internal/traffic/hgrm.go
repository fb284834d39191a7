package traffic

import (
	"bytes"
	"fmt"
	"os"
)

// WriteHgrm writes the latencies' percentiles in milliseconds, in the text form
// that HdrHistogram's plotter reads.
func WriteHgrm(file string, r *Result) error {
	var text bytes.Buffer
	const perHalf, scale = 5, 1000 // microseconds in a millisecond
	if _, err := r.Client.Latency.HDR().PercentilesPrint(&text, perHalf, scale); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write --hgrm: %w", err)
	}
	return nil
}
