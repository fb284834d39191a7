package narrative

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/results"
)

// RunFacts say which record this is: name, platform, time, trials.
func RunFacts(s *analysis.Summary) []string {
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

// SetupFacts say what was limited and loaded, where that is the same for all
// cells; what differs is in the table.
func SetupFacts(s *analysis.Summary) []string {
	var facts []string
	for _, of := range []func(*analysis.CellSummary) string{LimitsText, LoadText, askedText} {
		text := ""
		for i := range s.Cells {
			if t := of(&s.Cells[i]); i == 0 {
				text = t
			} else if t != text {
				text = ""
				break
			}
		}
		if text != "" {
			facts = append(facts, text)
		}
	}
	return facts
}

// LimitsText words a cell's limits: "limit 1 CPU and 256 MiB for each of 2
// replicas".
func LimitsText(c *analysis.CellSummary) string {
	l := &c.Limits
	var parts []string
	if l.CPUMillis != nil {
		cpus := display.Figure(float64(*l.CPUMillis) / 1000)
		if *l.CPUMillis%1000 == 0 {
			cpus = display.Grouped(*l.CPUMillis / 1000)
		}
		cpus += " CPU"
		if *l.CPUMillis > 1000 {
			cpus += "s"
		}
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
		text = "limit " + display.List(parts)
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
func LoadText(c *analysis.CellSummary) string {
	l := &c.Load
	upTo := ""
	if l.Stages {
		upTo = "up to "
	}
	var parts []string
	switch {
	case results.Searched(c) && !l.Stages: // its number is what was tested last
		parts = append(parts, display.Plain(l.Kind)+" loop", "breaking point searched")
	case l.Users != nil:
		parts = append(parts, "closed loop", upTo+display.Counted(int64(*l.Users), "user"))
	case l.Rate != nil:
		parts = append(parts, "open loop", upTo+display.Figure(*l.Rate)+" requests/s")
	case results.MeasuresItself(c):
		parts = append(parts, "nothing sent: the program measures itself")
	case l.Kind != "":
		parts = append(parts, display.Plain(l.Kind)+" loop")
	}
	if l.Requests != nil {
		parts = append(parts, display.Grouped(*l.Requests)+" requests a trial")
	}
	return strings.Join(parts, ", ")
}

// askedText is the objective that a breaking point was searched for: without it
// the figure says nothing. Where none was searched, the objective stands with
// what became of it.
func askedText(c *analysis.CellSummary) string {
	if !results.Searched(c) || c.Objective == nil {
		return ""
	}
	return "objective " + display.Plain(c.Objective.Text)
}

// HostFacts word whatever the record says of the host. The names that are
// known come first and read well; others are shown as they are, so that a newer
// record loses nothing.
func HostFacts(host any) []string {
	fields, ok := asObject(host)
	if !ok {
		return nil
	}
	take := func(name string) (any, bool) {
		v, ok := fields[name]
		delete(fields, name)
		return v, ok && v != nil && v != "" && v != 0.0
	}
	var facts []string
	say := func(format string, name string) {
		if v, ok := take(name); ok {
			facts = append(facts, fmt.Sprintf(format, scalar(v)))
		}
	}
	system, kernel := "", ""
	if v, ok := take("os"); ok {
		system = scalar(v)
	}
	if v, ok := take("kernel"); ok {
		kernel = scalar(v)
	}
	if text := strings.TrimSpace(system + " " + kernel); text != "" {
		facts = append(facts, text)
	}
	say("%s", "arch")
	cpus, known := take("cpus")
	model, named := take("cpu_model")
	switch {
	case known && named:
		facts = append(facts, fmt.Sprintf("%s CPUs (%s)", scalar(cpus), scalar(model)))
	case known:
		facts = append(facts, scalar(cpus)+" CPUs")
	case named:
		facts = append(facts, scalar(model))
	}
	if v, ok := take("memory_bytes"); ok {
		if bytes, ok := v.(float64); ok {
			facts = append(facts, display.Bytes(bytes)+" of memory")
		}
	}
	say("cgroup %s", "cgroup")
	say("HZ %s", "hz")
	runtimes, _ := take("runtimes")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if v, ok := take(name); ok {
			facts = append(facts, display.Plain(strings.ReplaceAll(name, "_", " "))+" "+scalar(v))
		}
	}
	if versions, ok := runtimes.(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			facts = append(facts, display.Plain(name)+" "+strings.TrimPrefix(scalar(versions[name]), display.Plain(name)))
		}
	}
	return facts
}

// asObject gives the JSON form of a value as a map, whatever type it has here:
// record.Host while the lab runs, a map when summary.json was read again.
func asObject(v any) (map[string]any, bool) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, false
	}
	return fields, true
}

// scalar writes a JSON value on one line.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return display.Plain(v)
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprintf("%d", int64(v))
		}
		return fmt.Sprintf("%g", v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return display.Absent
	}
	return display.Plain(string(data))
}

// ObjectiveWord is "met", "missed", or "–" where it is not known.
func ObjectiveWord(c *analysis.CellSummary) string {
	if c.Objective == nil || c.Objective.Met == nil {
		return display.Absent
	}
	if *c.Objective.Met {
		return "met"
	}
	return "missed"
}

// ObjectiveWords add why it was missed where the latencies do not show that.
func ObjectiveWords(c *analysis.CellSummary) string {
	if c.Objective.Missed == "" {
		return ObjectiveWord(c)
	}
	return ObjectiveWord(c) + ", as " + c.Objective.Missed
}
