package summary

import "strings"

// Benchmark is one figure of one benchmark over a cell's trials. A trial that
// printed it several times (-test.count) counts once, with their median.
type Benchmark struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`   // "sec/op"
	Procs  *int      `json:"procs"`  // GOMAXPROCS at the start; null: it differed
	Values []float64 `json:"values"` // one per trial that printed it, in the order of the trials
	Median float64   `json:"median"` // of them
	Low    *float64  `json:"low"`    // of the median's 95% interval; null: too few trials
	High   *float64  `json:"high"`
}

// Path is the figure's field path in the cell's intervals and in comparisons.
func (b *Benchmark) Path() string { return BenchmarksPrefix + b.Name + "." + b.Unit }

// HigherIsBetter reports whether a figure is a rate, such as B/s.
func (b *Benchmark) HigherIsBetter() bool { return strings.HasSuffix(b.Unit, "/s") }
