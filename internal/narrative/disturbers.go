package narrative

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/results"
)

// subjectOf names disturbers at the beginning of a sentence; "": none.
func subjectOf(d analysis.Disturbers) string {
	switch {
	case d.Neighbours && d.Hypervisor:
		return "Other processes and the hypervisor"
	case d.Unnamed: // an older summary, which does not name them
		return "Other processes or the hypervisor"
	case d.Neighbours:
		return "Other processes"
	case d.Hypervisor:
		return "The hypervisor"
	}
	return ""
}

// quietPlace is where disturbed cells are to be measured again.
func quietPlace(d analysis.Disturbers) string {
	if d == (analysis.Disturbers{Hypervisor: true}) {
		return "where it takes less CPU"
	}
	return "on a quiet host"
}

// TookCPU names who took CPU, as a clause: "other processes took CPU"; "": nobody.
func TookCPU(d analysis.Disturbers) string {
	subject := subjectOf(d)
	if subject == "" {
		return ""
	}
	return strings.ToLower(subject[:1]) + subject[1:] + " took CPU"
}

// disturbed names the cells that others disturbed, and who did: the machine then
// decides the answer.
func (a *answer) disturbed() []string {
	cells := 0
	names := map[analysis.Disturbers][]string{}
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if results.Failed(c) && !results.Searched(c) && len(c.Benchmarks) == 0 {
			continue
		}
		cells++
		if who := c.Disturbers(); who != (analysis.Disturbers{}) {
			names[who] = append(names[who], a.names[i])
		}
	}
	var all []string
	for _, who := range []analysis.Disturbers{{Neighbours: true}, {Neighbours: true, Hypervisor: true}, {Unnamed: true}, {Hypervisor: true}} {
		if of := names[who]; len(of) > 0 {
			all = append(all, disturbanceText(who, of, cells))
		}
	}
	return all
}

// disturbanceText is the sentence about disturbed cells, of a number of cells.
func disturbanceText(d analysis.Disturbers, names []string, cells int) string {
	what := display.List(names)
	switch {
	case len(names) == cells:
		what = "the run"
	case len(names) > fewNames:
		what = fmt.Sprintf("%d cells", len(names))
	}
	return fmt.Sprintf("%s disturbed %s: repeat it %s.", subjectOf(d), what, quietPlace(d))
}
