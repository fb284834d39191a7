package traffic

import (
	"io"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// outcome is what --json prints.
type outcome struct {
	URL       string    `json:"url"`
	Insecure  bool      `json:"insecure,omitempty"`  // no certificate was checked
	Addresses []Address `json:"addresses,omitempty"` // of the name in the URL, if it has several
	Replay    *Replay   `json:"replay,omitempty"`    // of an access log
	*summary.Cell
	Thresholds []Kept   `json:"thresholds"`
	Ended      *float64 `json:"target_ended_s,omitempty"` // seconds after the load began
}

// JSON writes a result as one object, with the fields of a cell in summary.json.
func JSON(w io.Writer, url string, insecure bool, r *Result, kept []Kept) error {
	all := outcome{URL: url, Insecure: insecure, Addresses: r.Addresses, Replay: r.Replay, Cell: r.Cell, Thresholds: kept}
	if seconds := r.Ended.Seconds(); seconds > 0 {
		all.Ended = &seconds
	}
	return display.WriteJSON(w, all)
}

// Judge compares a result with thresholds, and returns the outcome of all together; "":
// there are none.
func Judge(r *Result, thresholds []Threshold) (kept []Kept, all summary.Outcome) {
	kept = []Kept{}
	for _, t := range thresholds {
		k := t.Judge(r)
		all = all.With(k.Outcome)
		kept = append(kept, k)
	}
	return kept, all
}
