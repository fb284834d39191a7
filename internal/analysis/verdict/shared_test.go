package verdict

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// Two alike services on a machine that gets slower, of which one could not be started any more
// after four rounds: its first rounds lie below nearly all of the other's, and mean nothing.
func TestCellsAreComparedByTheRoundsThatBothHave(t *testing.T) {
	drifts := []float64{100, 105, 110, 116, 121, 125, 131, 134, 140, 146, 150, 155}
	for name, c := range map[string]struct {
		few    []float64
		trials func(i int) int // of the longer cell
		sign   int
		of     [2]int
	}{
		"alike, by turns":      {[]float64{101, 104, 111, 115}, func(i int) int { return 2*i + 2 }, 0, [2]int{4, 4}},
		"apart, by turns":      {[]float64{201, 204, 211, 215}, func(i int) int { return 2*i + 2 }, 1, [2]int{4, 4}},
		"one after the other":  {[]float64{101, 104, 111, 115}, func(i int) int { return i + 20 }, -1, [2]int{4, 12}},
		"as many in each cell": {[]float64{201, 204, 211, 215, 220, 226, 230, 236, 241, 247, 250, 254}, func(i int) int { return 2*i + 2 }, 1, [2]int{12, 12}},
	} {
		few, many := claimCell(0, "a", c.few...), claimCell(1, "b", drifts...)
		for i := range many.PerTrial {
			many.PerTrial[i].Trial = c.trials(i)
		}
		s := &summary.Summary{Cells: []summary.Cell{few, many}}
		e := Rank(s, "rate_rps").Between(&s.Cells[0], &s.Cells[1])
		if e.Sign != c.sign || e.Trials != c.of {
			t.Errorf("%s: sign %d by %v trials, p %.3g, want %d by %v", name, e.Sign, e.Trials, e.P, c.sign, c.of)
		}
	}
}
