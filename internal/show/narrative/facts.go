package narrative

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/wording"
)

// RunFacts identify the record: name, platform, time, trials.
func RunFacts(s *summary.Summary) []string {
	e := &s.Experiment
	facts := []string{display.Plain(e.Name)}
	if e.Platform != "" {
		facts = append(facts, display.Plain(e.Platform))
	}
	if at, err := time.Parse(time.RFC3339, e.Started); err == nil {
		facts = append(facts, at.Format("2 January 2006, 15:04 MST"))
	} else if e.Started != "" {
		facts = append(facts, display.Plain(e.Started))
	}
	if e.TrialsPlanned == e.TrialsDone {
		facts = append(facts, display.Counted(int64(e.TrialsDone), "trial"))
	} else {
		facts = append(facts, fmt.Sprintf("%d of %s", e.TrialsDone, display.Counted(int64(e.TrialsPlanned), "trial")))
	}
	return append(facts, fmt.Sprintf("seed %d", e.Seed))
}

// fewLimits is how many different limits the setup names.
const fewLimits = 6

// SetupFacts are the limits, and what else of the setup is the same for all cells; what
// differs is in the table.
func SetupFacts(s *summary.Summary) []string {
	var facts []string
	switch limits := distinct(s, LimitsText); {
	case len(limits) == 1:
		facts = append(facts, limits[0])
	case len(limits) > fewLimits:
		facts = append(facts, fmt.Sprintf("compared: %d limits", len(limits)))
	case len(limits) > 1:
		facts = append(facts, "compared: "+strings.Join(limits, "; "))
	}
	for _, of := range []func(*summary.Cell) string{LoadText, askedText} {
		if texts := distinct(s, of); len(texts) == 1 && texts[0] != "" {
			facts = append(facts, texts[0])
		}
	}
	return facts
}

// distinct are the texts of all cells, each once, in the order of the cells.
func distinct(s *summary.Summary, of func(*summary.Cell) string) []string {
	var texts []string
	for i := range s.Cells {
		if text := of(&s.Cells[i]); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// LimitsText words a cell's limits: "limit 1 CPU and 256 MiB for each of 2
// replicas".
func LimitsText(c *summary.Cell) string {
	l := &c.Limits
	var parts []string
	if l.CPUMillis != nil {
		cpus := cpuText(*l.CPUMillis)
		if l.BurstMillis != nil && *l.BurstMillis > 0 {
			cpus += fmt.Sprintf(" (burst %dm)", *l.BurstMillis)
		}
		parts = append(parts, cpus)
	}
	if l.MemoryBytes != nil {
		parts = append(parts, display.Bytes(float64(*l.MemoryBytes)))
	}
	text := "no limits"
	if len(parts) > 0 {
		text = "limit " + phrase.List(parts)
	}
	switch {
	case l.MostReplicas > 0:
		text += fmt.Sprintf(" for each of %d to %d replicas", l.Replicas, l.MostReplicas)
	case l.Replicas > 1:
		text += fmt.Sprintf(" for each of %d replicas", l.Replicas)
	}
	return text
}

// LoadText words a cell's load: "closed loop, 50 users".
func LoadText(c *summary.Cell) string {
	l := &c.Load
	upTo := ""
	if l.Stages {
		upTo = "up to "
	}
	var parts []string
	switch {
	case c.Searched() && !l.Stages: // its number is what was tested last
		parts = append(parts, display.Plain(l.Kind)+" loop", "breaking point searched")
	case l.Users != nil:
		parts = append(parts, "closed loop", upTo+display.Counted(int64(*l.Users), "user"))
	case l.Rate != nil:
		parts = append(parts, "open loop", upTo+display.Figure(*l.Rate)+" requests/s")
	case c.MeasuresItself():
		parts = append(parts, "nothing sent: the program measures itself")
	case l.Kind != "":
		parts = append(parts, display.Plain(l.Kind)+" loop")
	}
	if l.Requests != nil {
		parts = append(parts, display.Grouped(*l.Requests)+" requests a trial")
	}
	return strings.Join(parts, ", ")
}

// askedText is the objective of a search, without which a breaking point has no
// meaning. Other records have the objective beside its outcome.
func askedText(c *summary.Cell) string {
	if !c.Searched() || c.Objective == nil {
		return ""
	}
	return "objective " + display.Plain(c.Objective.Text)
}

// HostFacts describe the host of a record.
func HostFacts(h record.Host) []string {
	var facts []string
	add := func(format, text string) {
		if text != "" {
			facts = append(facts, fmt.Sprintf(format, display.Plain(text)))
		}
	}
	add("%s", strings.TrimSpace(h.OS+" "+h.Kernel))
	add("%s", h.Arch)
	switch {
	case h.CPUs > 0 && h.CPUModel != "":
		facts = append(facts, fmt.Sprintf("%d CPUs (%s)", h.CPUs, display.Plain(h.CPUModel)))
	case h.CPUs > 0:
		facts = append(facts, fmt.Sprintf("%d CPUs", h.CPUs))
	default:
		add("%s", h.CPUModel)
	}
	if h.Memory != nil && *h.Memory > 0 {
		facts = append(facts, display.Bytes(float64(*h.Memory))+" of memory")
	}
	add("cgroup %s", h.Cgroup)
	if h.HZ != nil && *h.HZ > 0 {
		facts = append(facts, fmt.Sprintf("HZ %d", *h.HZ))
	}
	for _, name := range slices.Sorted(maps.Keys(h.Runtimes)) {
		plain := display.Plain(name)
		facts = append(facts, plain+" "+strings.TrimPrefix(display.Plain(h.Runtimes[name]), plain))
	}
	return facts
}

// ObjectiveWord is "met", "missed", "too close", or "–" if it is not known.
func ObjectiveWord(c *summary.Cell) string {
	if c.Objective == nil || c.Objective.Outcome == "" || c.Objective.Outcome == summary.Unknown {
		return display.Absent
	}
	return string(c.Objective.Outcome)
}

// ObjectiveWords add why it was missed if the latencies do not show it.
func ObjectiveWords(c *summary.Cell) string {
	if c.Objective.Missed == "" {
		return ObjectiveWord(c)
	}
	if c.Objective.Met == nil {
		return "not known: " + c.Objective.Missed
	}
	return ObjectiveWord(c) + ", as " + c.Objective.Missed
}

// ObjectiveFigures are whether the objective was met, and the figures that it is about:
// "missed: p99 704 ms, availability 100%".
func ObjectiveFigures(c *summary.Cell) string {
	text, figures := ObjectiveWords(c), []string{}
	if c.Skipped() {
		text = "skipped: the cell has no trial"
	}
	if q := c.Quantile(); c.Objective.Quantile != "" && c.LatencyMS != nil {
		figures = append(figures, QuantileName(q)+" "+latency(c.OfAllRequests(q))+wording.Label(verdict.Together(c)))
	}
	if c.Objective.Availability != nil && c.Availability != nil {
		figures = append(figures, "availability "+display.Percent(*c.Availability))
	}
	if c.Breaking != nil || len(figures) == 0 {
		return text
	}
	text += ": " + strings.Join(figures, ", ")
	if why := wording.Of(verdict.Outlying(c)); why != "" {
		text += "; " + why
	}
	if near := verdict.NearObjective(c); !near.None() {
		text += "; not decided: " + wording.Of(near)
	}
	return text
}
