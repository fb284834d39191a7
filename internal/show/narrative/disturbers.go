package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
)

// disturberWords name who disturbed, as in "disturbed by …".
var disturberWords = map[string]string{
	summary.Neighbours: "other processes",
	summary.Hypervisor: "steal time",
	summary.Waiting:    "a generator that waited for a CPU",
	summary.Stops:      "a signal or a frozen control group that stopped the service",
}

// Disturbed is the one statement about what others did to the figures of cells: "12 of
// 24 trials were disturbed by steal time; effect on p99: +2.10 ms (95% interval +1.00 to
// +3.20)". It is "" if no disturbed trial or window is among what counts.
func Disturbed(cells []*summary.Cell) string {
	d := verdict.DisturbancesOf(cells)
	var parts []string
	by := disturbers(d.By)
	if names := signals.NeighboursText(d.Neighbours); names != "" {
		by += " (most CPUs: " + display.Plain(names) + ")"
	}
	if d.Kept > 0 {
		text := tally(d.Trials, "trial") + " " + by
		if repeated := d.Trials.Disturbed - d.Kept; repeated > 0 {
			text += fmt.Sprintf(" (%d of them repeated)", repeated)
		}
		parts = append(parts, text+"; "+effectText(&d))
		by = "disturbed by them"
	}
	if d.Windows.Disturbed > 0 {
		parts = append(parts, tally(d.Windows, "search window")+" "+by+"; a miss there does not count")
	}
	return strings.Join(parts, "; ")
}

func disturbers(by []string) string {
	words := disturberNames(by)
	if len(words) == 0 { // by a rule of an older version
		return "disturbed"
	}
	return "disturbed by " + phrase.List(words)
}

func disturberNames(by []string) (words []string) {
	for _, who := range []string{summary.Neighbours, summary.Hypervisor, summary.Waiting, summary.Stops} {
		if slices.Contains(by, who) {
			words = append(words, disturberWords[who])
		}
	}
	return words
}

// tally is "3 of 12 trials were", "1 of 12 trials was", "the trial was".
func tally(t verdict.Tally, unit string) string {
	if t.Of == 1 {
		return "the " + unit + " was"
	}
	verb := "were"
	if t.Disturbed == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%d of %s %s", t.Disturbed, display.Counted(int64(t.Of), unit), verb)
}

func effectText(d *verdict.Disturbances) string {
	if d.Quantile == "" { // of programs that measure themselves
		return "effect unknown"
	}
	what := "effect on " + QuantileName(d.Quantile)
	e := d.Effect
	if e == nil {
		return what + " unknown"
	}
	signed := func(v float64) string { return display.Signed(v, display.Decimals(v)) }
	return fmt.Sprintf("%s: %s ms (95%% interval %s to %s)", what, signed(e.Shift), signed(e.Low), signed(e.High))
}

// disturbedTrials is the finding with the reasons of all disturbed trials; false: there
// are none.
func disturbedTrials(s *summary.Summary) (Finding, bool) {
	f := Finding{Warning: true}
	kept := 0
	for i := range s.Cells {
		if d := s.Cells[i].Disturbance; d != nil {
			kept += d.Kept
			for _, reason := range d.Reasons {
				f.Texts = append(f.Texts, display.Plain(reason))
			}
		}
	}
	f.Title = display.Counted(int64(len(f.Texts)), "disturbed trial")
	if repeated := len(f.Texts) - kept; repeated > 0 {
		f.Title += fmt.Sprintf(", of which %d did not count and had to be repeated", repeated)
	}
	return f, len(f.Texts) > 0
}
