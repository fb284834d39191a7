package answer

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/wording"
)

// claims is the answer about published claims: how many were reproduced, and why the first
// inconclusive one is that.
func (a *asked) claims() Answer {
	counts := map[summary.Verdict]int{}
	var open *summary.Claim
	for i := range a.s.Claims {
		c := &a.s.Claims[i]
		if counts[c.Verdict]++; c.Verdict == summary.Inconclusive && open == nil {
			open = c
		}
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
	if open != nil && len(open.Why) > 0 {
		answer.Why = display.Plain(wording.Of(open.Why[0])) + "."
		answer.Do = a.settles(open.Why[0])
	}
	return answer
}

// settles is what would decide a claim.
func (a *asked) settles(why finding.Finding) string {
	switch why.Kind {
	case finding.OneTrial, finding.OneTrialNoGrowth, finding.OneStepOfGrowth, finding.NoEventInOneTrial, finding.IntervalContains:
		return fmt.Sprintf("run it again with more trials: --set measure.repeats=%d.", summary.EnoughTrials)
	case finding.PairNotTested:
		switch summary.Gap(why.Gap) {
		case summary.FewTrials:
			for i := range a.s.Cells {
				if b := a.s.Cells[i].Breaking; b != nil && b.AtLeast { // more of the same bounds decide nothing
					return a.next(&a.s.Cells[i])
				}
			}
			return fmt.Sprintf("run it again with --set measure.repeats=%d.", summary.EnoughTrials)
		case summary.DisturbedTrials:
			return a.undisturbed()
		case summary.GeneratorsDelay:
			return generatorAdvice
		}
	case finding.MostlyDisturbed, finding.Disturbed:
		return a.undisturbed()
	case finding.SentLate, finding.GeneratorWasLimit, finding.TailIsGenerators:
		return generatorAdvice
	case finding.TooFewCPUs:
		return fmt.Sprintf("run it on a host with %d CPUs.", why.Of)
	}
	return ""
}
