package answer

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// claims is the answer about published claims: how many were reproduced. what is the answer
// without them, which has what to do.
func (a *asked) claims(what Answer) Answer {
	counts := map[summary.Verdict]int{}
	for i := range a.s.Claims {
		counts[a.s.Claims[i].Verdict]++
	}
	var parts []string
	for _, one := range []summary.Verdict{summary.Reproduced, summary.NotReproduced, summary.Inconclusive} {
		if n := counts[one]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one))
		}
	}
	answer := Answer{What: fmt.Sprintf("Of %s: %s.", display.Counted(int64(len(a.s.Claims)), "published claim"), strings.Join(parts, ", "))}
	if len(a.s.Claims) == 1 {
		answer.What = fmt.Sprintf("The published claim is %s.", parts[0][len("1 "):])
	}
	if counts[summary.Inconclusive] > 0 {
		answer.Why, answer.Do = what.Why, what.Do
	}
	return answer
}
