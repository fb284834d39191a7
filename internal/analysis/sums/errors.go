package sums

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

func addErrors(e *summary.ErrorCounts, k *signals.Client) {
	one := summary.ErrorCounts{Timeouts: k.Timeouts, Unaccepted: k.Unaccepted, Refused: k.Refused, Cut: k.Cut, Malformed: k.Malformed, Failed: k.Failed, Dropped: k.Dropped, Said: k.Said, Pushbacks: k.Pushbacks}
	for code, n := range k.Status {
		if bad := n - k.Wanted[code]; bad > 0 && !(len(code) == 3 && code[0] == '2') {
			if one.Status == nil {
				one.Status = map[string]int64{}
			}
			one.Status[code] = bad
		}
	}
	e.Add(&one)
}
