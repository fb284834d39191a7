package try

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Describe names the server: "my-server (Go 1.26.8)".
func Describe(a *Ask, info runtimes.Info) string {
	name := filepath.Base(a.Command[0])
	if info.Runtime == runtimes.Unknown || info.Runtime == "" {
		return name
	}
	if text := info.String(); !strings.EqualFold(strings.Fields(text)[0], name) {
		return fmt.Sprintf("%s (%s)", name, text)
	}
	return info.String()
}

// Announce lists, before the searches begin, what was found, what will be tried, and how
// long it takes: e is the experiment of the variants, lasts its estimated duration.
func Announce(a *Ask, info runtimes.Info, variants []Variant, e *experiment.Experiment, lasts time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", Detected(a, info))
	for _, v := range variants {
		reason := v.Reason
		if v.NoEffect != "" {
			reason = "has no effect and is skipped: " + v.NoEffect
		}
		label := v.Label
		if v.CPU != "" {
			label += ", " + v.CPU
		}
		fmt.Fprintf(&b, "  %-24s %s\n", label, reason)
	}
	if why := a.nothingElse(variants); why != "" {
		fmt.Fprintf(&b, "No other setting is tried: %s\n", why)
	}
	fmt.Fprintf(&b, "%s\n", Length(e, lasts))
	return b.String()
}

// nothingElse is why only the server as it is, and the run without a limit, are searched,
// as a sentence; "": there are others, or the user wants no others.
func (a *Ask) nothingElse(variants []Variant) string {
	if a.AsIsOnly || slices.ContainsFunc(variants, func(v Variant) bool { return (v.sets() || v.Replicas > 1) && v.NoEffect == "" }) {
		return ""
	}
	for _, v := range variants {
		if v.Advice != "" {
			return v.Advice
		}
	}
	if slices.ContainsFunc(variants, func(v Variant) bool { return v.NoEffect != "" }) {
		return "those above have no effect."
	}
	return "its parallelism is the only sensible one here."
}

// Length is the size of a run: "3 searches, then 18 trials at one load; about 4 min.".
// The duration is an upper estimate, which the progress line corrects.
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
