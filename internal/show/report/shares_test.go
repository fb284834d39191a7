package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/sample"
)

// A tail of fewer than 20 requests has no share in any sentence, table, fact or column.
func TestFewSlowRequestsHaveNoShares(t *testing.T) {
	share := regexp.MustCompile(`7[13]%|0\.7[13]`)
	for requests, stated := range map[int]bool{1: false, 19: false, 20: true} {
		for name, c := range map[string]summary.Causes{
			"throttling": {Throttling: 0.73, ThrottledDirectly: 0.71, Rest: 0.27},
			"neighbours": {Neighbours: 0.73, Rest: 0.27},
			"generator":  {Generator: 0.73, Rest: 0.27},
		} {
			c.Quantile, c.FromMS, c.MeanMS, c.Requests = "p99", 52, 60, requests
			cell := sample.CellOf("go", sample.P99At(52), sample.Within(48, 54), func(s *summary.Cell) { s.Causes = &c })
			s := &summary.Summary{Cells: []summary.Cell{cell}}
			var csv bytes.Buffer
			if err := CSV(&csv, s); err != nil {
				t.Fatal(err)
			}
			text := strings.Join([]string{answer.Of(s).String(), narrative.CausesLine(&cell), narrative.TailBasis(&c), tailCell(&cell).Text,
				fmt.Sprint(tailFact(&c, "")), fmt.Sprint(tailFacts(&c)), csv.String()}, "\n")
			if share.MatchString(text) != stated {
				t.Errorf("%s of %d requests, want shares: %v\n%s", name, requests, stated, text)
			}
		}
	}
}
