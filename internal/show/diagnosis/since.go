package diagnosis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/identity"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Baseline is the --json of an earlier run.
type Baseline struct {
	Schema   int       `json:"schema"`
	Host     string    `json:"host"`
	Time     time.Time `json:"time"`
	Watch    float64   `json:"watch_seconds"`
	Findings []Past    `json:"findings"`
}

// Past is a finding of an earlier run.
type Past struct {
	Rule        doctor.Rule         `json:"rule"`
	Level       string              `json:"level"`
	Fingerprint string              `json:"fingerprint"`
	Service     string              `json:"service"`
	PID         int                 `json:"pid"`
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Figures     map[string]*float64 `json:"figures"`
	level       doctor.Level
	runs        bool // its service runs now
}

// ReadBaseline reads what --json printed. Errors begin with the number of the line.
func ReadBaseline(data []byte) (*Baseline, error) {
	var b Baseline
	if err := json.Unmarshal(data, &b); err != nil {
		offset, cause := int64(0), err.Error()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = syntax.Offset
		}
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			offset, cause = wrong.Offset, fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
		}
		return nil, fmt.Errorf("%d: not the output of millicore doctor --json: %s", line(data, offset), cause)
	}
	if b.Schema != Schema {
		return nil, fmt.Errorf("1: schema %d, and this program reads %d: write the baseline again with millicore doctor --json", b.Schema, Schema)
	}
	for i := range b.Findings {
		p := &b.Findings[i]
		level, err := doctor.ParseLevel(p.Level)
		if err != nil || p.Fingerprint == "" {
			return nil, fmt.Errorf("%d: a finding without a level and a fingerprint", line(data, int64(bytes.Index(data, []byte(`"findings"`)))))
		}
		p.level = level
	}
	return &b, nil
}

// line is the number of the line of an offset.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
}

// The states of a finding since a baseline.
const (
	isNew   = "new"
	isWorse = "worse"
	isSame  = "same"
	isGone  = "gone"
)

// Since is what differs from a baseline. Findings with one fingerprint are one: the worst.
type Since struct {
	Baseline *Baseline
	// Found are the findings that are new or worse, the most severe first, and States what
	// each is.
	Found []doctor.Finding
	Gone  []Past
	Same  int
	// states are by fingerprint, and before is what the figure or the level of one that is
	// worse was.
	states, before map[string]string
}

// Compare returns what is new, worse and gone at a level or above since a baseline. A finding
// is worse if its level rose, or the main figure of its rule did by the rule's amount. One is
// gone if its service still runs among the inspected processes, or if all processes were
// inspected. keep reports whether an earlier finding is not suppressed.
func (b *Baseline) Compare(host inspect.Host, findings []doctor.Finding, level doctor.Level, keep func(Past) bool) *Since {
	s := &Since{Baseline: b, states: map[string]string{}, before: map[string]string{}}
	past := map[string]Past{}
	for _, p := range b.Findings {
		if worst, ok := past[p.Fingerprint]; p.level >= level && keep(p) && (!ok || p.level > worst.level) {
			past[p.Fingerprint] = p
		}
	}
	for i := range findings {
		f := &findings[i]
		id := f.Fingerprint()
		if f.Level < level || s.states[id] != "" { // an earlier one is at least as severe
			continue
		}
		p, known := past[id]
		state, before := isNew, ""
		if known {
			state, before = grown(f, p)
		}
		s.states[id], s.before[id] = state, before
		if state == isSame {
			s.Same++
			continue
		}
		s.Found = append(s.Found, *f)
	}
	running := map[string]bool{}
	for i := range host.Processes {
		running[identity.Service(&host.Processes[i])] = true
	}
	for _, p := range b.Findings {
		if q, ok := past[p.Fingerprint]; ok && s.states[p.Fingerprint] == "" && (!host.Partial || running[p.Service]) {
			s.states[p.Fingerprint], q.runs = isGone, running[p.Service]
			s.Gone = append(s.Gone, q)
		}
	}
	return s
}

// grown is the state of a finding that was there, and what it was.
func grown(f *doctor.Finding, p Past) (state, before string) {
	name, rise := f.Rule.Measure()
	var now map[string]*float64
	text, _ := json.Marshal(figuresOf(*f)) // of numbers
	_ = json.Unmarshal(text, &now)
	was, is := p.Figures[name], now[name]
	switch {
	case f.Level > p.level:
		return isWorse, p.level.String()
	case was != nil && is != nil && *is-*was >= rise:
		if rise < 1 {
			return isWorse, display.Share(*was)
		}
		return isWorse, display.Figure(*was)
	}
	return isSame, ""
}

// State is what a finding is since the baseline; "": it is below the level.
func (s *Since) State(f *doctor.Finding) string { return s.states[f.Fingerprint()] }

// what is the answer in a sentence.
func (s *Since) what(now time.Time) string {
	count := map[string]int{isGone: len(s.Gone), isSame: s.Same}
	for i := range s.Found {
		count[s.State(&s.Found[i])]++
	}
	text := "Nothing new or worse"
	if n := count[isNew] + count[isWorse]; n > 0 {
		text = fmt.Sprintf("%d new, %d worse", count[isNew], count[isWorse])
	}
	text += fmt.Sprintf(" since %s (%s)", s.Baseline.Time.UTC().Format("2006-01-02 15:04 UTC"), age(now.Sub(s.Baseline.Time)))
	return text + fmt.Sprintf("; %d gone, %d the same.", count[isGone], count[isSame])
}

// age is how long ago a baseline was made.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// caveats are what makes the two runs hard to compare.
func (s *Since) caveats(run Run, host inspect.Host) (all []string) {
	if s.Baseline.Host != run.Host {
		all = append(all, fmt.Sprintf("The baseline is of another host, %s.", display.Plain(s.Baseline.Host)))
	}
	if earlier := s.Baseline.Watch; host.Watched.Seconds() < earlier/2 {
		all = append(all, fmt.Sprintf("The baseline was watched for %.0f s: --for %.0fs compares like with like.", earlier, earlier))
	}
	return all
}

// gone is the list of what is gone.
func (s *Since) gone() (lines []string) {
	for _, p := range s.Gone {
		text := fmt.Sprintf("Gone: %s: %s", display.Plain(p.Name), display.Plain(p.Title))
		if !p.runs {
			text += " (the service does not run here now)"
		}
		lines = append(lines, text+".")
	}
	return lines
}
