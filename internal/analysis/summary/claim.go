package summary

import "github.com/millicore/millicore/internal/analysis/finding"

// Claim is a published statement of the experiment, compared with the record.
type Claim struct {
	Says      string   `json:"says"`
	Published string   `json:"published,omitempty"`
	Metric    string   `json:"metric"` // by its name
	At        *float64 `json:"at"`     // the level of the load at which it was taken, users or requests/s; null: the whole load
	Unit      string   `json:"unit"`   // of the metric
	// Cells are what was measured: of alone; of and over; or the cells of an order.
	Cells []ClaimedCell `json:"cells"`
	Ratio bool          `json:"ratio"` // the claim is about the first cell divided by the second
	Above *float64      `json:"above"` // the bound; all three null in an order
	Below *float64      `json:"below"`
	// Value is the figure that the claim is about; null in an order, or if it was not
	// measured. Low and High are the ends of its interval. High is also null if Value
	// is a lower bound.
	Value      *float64 `json:"value"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	IntervalOf string   `json:"interval_of"` // what the ends rest on: see ClaimedCell
	Verdict    Verdict  `json:"verdict"`
	Reason     string   `json:"reason"` // what the verdict rests on, in words, and what qualifies it: Why

	Why []finding.Finding `json:"-"`
}

// ValueUnit is the unit of the claim's value, its interval and its bound.
func (c *Claim) ValueUnit() string {
	if c.Ratio {
		return "times"
	}
	return c.Unit
}

// ClaimedCell is one cell of a claim with its figure: the median over trials, or the
// breaking point.
type ClaimedCell struct {
	Cell  *int     `json:"cell"` // index; null: it is not in this run
	Label string   `json:"label"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// IntervalOf is what the ends rest on: one of the constants below.
	IntervalOf string `json:"interval_of"`
	Trials     int    `json:"trials"`
}

// What the ends of a claim's interval rest on.
const (
	ByTrials = "trials" // the 95% interval of the median over trials
	ByRange  = "range"  // the lowest and the highest of fewer than six trials: less certain
	BySearch = "search" // the 95% interval of one search for the breaking point, on one start
	ByLevels = "levels" // the two levels of one ramp between which it lies
)

// Verdict on a claim, as it stands in summary.json.
type Verdict string

const (
	Reproduced    Verdict = "reproduced"     // the whole interval lies on the claimed side
	NotReproduced Verdict = "not reproduced" // it lies entirely on the other side

	// Inconclusive: neither, or this run cannot judge the claim.
	Inconclusive Verdict = "cannot be told here"
)

// String is the verdict for people. It differs from the value in summary.json,
// which older records and their readers have.
func (v Verdict) String() string {
	if v == Inconclusive {
		return "inconclusive"
	}
	return string(v)
}
