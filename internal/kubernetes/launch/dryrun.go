package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/experiment"
)

// DryRun describes what a run would do, and the checks of what it needs. Requirements
// are empty for platforms of this machine.
type DryRun struct {
	Experiment   *experiment.Experiment
	Requirements Requirements
}

// trials is the number of trials, with those of a second part.
func (d DryRun) trials() int {
	repeats := d.Experiment.Measure.Repeats
	if common := d.Experiment.CommonLoad(); common != nil {
		repeats += common.Repeats
	}
	return len(d.Experiment.Cells) * repeats
}

// Text writes the size of the run, and a line for each requirement.
func (d DryRun) Text(out io.Writer) error {
	e := d.Experiment
	_, err := fmt.Fprintf(out, "%s: %s, %s, about %s; nothing was started (dry run).\n", e.Name,
		display.Counted(int64(len(e.Cells)), "cell"), display.Counted(int64(d.trials()), "trial"), Lasts(e).Round(time.Second))
	for _, r := range d.Requirements {
		if err == nil {
			_, err = fmt.Fprintf(out, "  %-9s  %s: %s\n", r.State.inTables(), r.What, r.Words)
		}
	}
	return err
}

// JSON writes the same as one object.
func (d DryRun) JSON(out io.Writer) error {
	type need struct {
		What  string `json:"what"`
		State string `json:"state"` // "there", "missing", "not known", "note"
		Words string `json:"words"`
	}
	needs := []need{}
	for _, r := range d.Requirements {
		needs = append(needs, need{r.What, r.State.String(), r.Words})
	}
	text := json.NewEncoder(out)
	text.SetIndent("", "  ")
	return text.Encode(struct {
		Experiment string  `json:"experiment"`
		Cells      int     `json:"cells"`
		Trials     int     `json:"trials"`
		AboutS     float64 `json:"about_s"`
		Needs      []need  `json:"needs"`
	}{d.Experiment.Name, len(d.Experiment.Cells), d.trials(), Lasts(d.Experiment).Seconds(), needs})
}
