package try

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Describe names the server: "my-server (Go 1.26.8)".
func Describe(a *Ask, info runtimes.Info) string {
	name := a.program()
	if info.Runtime == runtimes.Unknown || info.Runtime == "" {
		return name
	}
	text := info.String()
	switch runtime, _, _ := strings.Cut(text, " "); {
	case strings.EqualFold(runtime, name):
		return onServer(info)
	case name == info.Server:
		return fmt.Sprintf("%s (%s)", name, text)
	}
	return fmt.Sprintf("%s (%s)", name, onServer(info))
}

// onServer is a runtime with the application server that runs on it: "gunicorn on Python
// 3.11".
func onServer(info runtimes.Info) string {
	if info.Server == "" {
		return info.String()
	}
	return info.Server + " on " + info.String()
}

// labelRoom is the room for the label of a variant, with two spaces on both sides.
const labelRoom = 28

// Announce lists, before the searches begin, what was found, what will be tried, and how
// long it takes, in the width of a terminal: e is the experiment of the variants, lasts its
// estimated duration.
func Announce(a *Ask, info runtimes.Info, variants []Variant, e *experiment.Experiment, lasts time.Duration, t display.Terminal) string {
	lines := []string{t.Wrap(Detected(a, info), "")}
	indent := strings.Repeat(" ", labelRoom)
	for _, v := range variants {
		reason := v.Reason
		if v.NoEffect != "" {
			reason = "has no effect and is skipped: " + v.NoEffect
		}
		label := "  " + v.Label
		if v.CPU != "" {
			label += ", " + v.CPU
		}
		text := t.Wrap(reason, indent)
		if room := labelRoom - display.Width(label); room >= 2 {
			lines = append(lines, label+text[len(label):])
		} else { // it has a line of its own
			lines = append(lines, label, text)
		}
	}
	if why := a.nothingElse(variants); why != "" {
		lines = append(lines, t.Wrap("No other setting is tried. "+why, ""))
	}
	return strings.Join(append(lines, Length(e, lasts)), "\n") + "\n"
}

// nothingElse is why only the server as it is, and the run without a limit, are searched,
// as a sentence; "": there are others, or the user wants no others.
func (a *Ask) nothingElse(variants []Variant) string {
	if a.AsIsOnly || a.Neighbour != "" || a.Against != nil || slices.ContainsFunc(variants, func(v Variant) bool { return (v.sets() || v.Replicas > 1) && v.NoEffect == "" }) {
		return ""
	}
	for _, v := range variants {
		if v.Advice != "" {
			return v.Advice
		}
	}
	if slices.ContainsFunc(variants, func(v Variant) bool { return v.NoEffect != "" }) {
		return "Those above have no effect."
	}
	return "Its parallelism is the only sensible one here."
}

// Lasts is the estimated duration of a run: that of its trials, and of the start and the warm-up
// that each begins with if the server needs long for them.
func Lasts(e *experiment.Experiment, trials time.Duration, seen []Seen) time.Duration {
	starts := e.Measure.Repeats
	if common := e.CommonLoad(); common != nil {
		starts += common.Repeats
	}
	each := 0.0
	for i := range seen {
		own := seen[i].Start.Seconds
		if own < longStart {
			own = 0 // the trials have it
		}
		if w := &seen[i].warmth; w.needed() {
			own += w.recorded().Seconds
		}
		each = max(each, own)
	}
	return trials + time.Duration(each*float64(starts*len(e.Cells))*float64(time.Second))
}

// Length is the size of a run: "3 searches, then 18 trials at one load; about 4 min.".
// The duration is an estimate: a search may hold loads beyond its time. The progress line corrects it.
func Length(e *experiment.Experiment, lasts time.Duration) string {
	searches := len(e.Cells) * e.Measure.Repeats
	text := "1 search"
	if searches > 1 {
		text = fmt.Sprintf("%d searches", searches)
	}
	if common := e.CommonLoad(); common != nil {
		text += fmt.Sprintf(", then %d trials at one load", len(e.Cells)*common.Repeats)
	}
	if lasts < 90*time.Second {
		return fmt.Sprintf("%s; about %.0f s.", text, lasts.Seconds())
	}
	return fmt.Sprintf("%s; about %.0f min.", text, lasts.Minutes())
}
