package report

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/profile"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/results"
)

const (
	// hottest is how many functions of a profile a terminal and Markdown are given.
	hottest = 5
	// manyProfiled is the number of profiled cells from which each has only its
	// first function there.
	manyProfiled = 5
	// functionsDrawn is how many functions the HTML shows; the files have all.
	functionsDrawn = 12
)

// profileOf gives what a cell's profiles say, whatever type it has here: that of
// the package profile where the record was read, a map where summary.json was.
// nil: none was taken, or this is none.
func profileOf(c *analysis.CellSummary) *profile.Profile {
	p, ok := c.Profile.(*profile.Profile)
	if !ok && c.Profile != nil {
		p = new(profile.Profile)
		data, err := json.Marshal(c.Profile)
		if err != nil || json.Unmarshal(data, p) != nil {
			return nil
		}
	}
	if p == nil || len(p.Top) == 0 && len(p.Waits) == 0 && len(p.Files) == 0 {
		return nil
	}
	return p
}

// profiledCells counts the cells that have a profile.
func profiledCells(s *analysis.Summary) int {
	n := 0
	for i := range s.Cells {
		if profileOf(&s.Cells[i]) != nil {
			n++
		}
	}
	return n
}

// profiledAt says under which load a cell's profile was taken.
func profiledAt(c *analysis.CellSummary) string {
	if results.Searched(c) {
		return "at the breaking point"
	}
	return "under the same load"
}

// profileBasis says what a profile's shares are of: "8.36 s of CPU time in 10.1 s".
func profileBasis(p *profile.Profile) string {
	return fmt.Sprintf("%s s of CPU time in %s s", display.Figure(p.BusySeconds), display.Figure(p.Seconds))
}

// functionText is a function with its place, without its package's path:
// "golang.isPrime (golang/prime.go:14)".
func functionText(f *profile.Function) string {
	_, text := functionParts(display.Plain(f.Name))
	if f.File != "" {
		text += " (" + display.Plain(f.File) + ")"
	}
	return text
}

// waitText is a wait with its 99th percentile: "syscall, p99 4.56 ms".
func waitText(w *profile.Wait) string {
	return display.Plain(w.Name) + ", p99 " + display.Microseconds(w.P99us)
}

// idleWaits are those in which goroutines mostly have nothing to do: connections
// between requests, workers without work.
var idleWaits = []string{profile.WaitNetwork, profile.WaitChannel, profile.WaitSleep, profile.WaitOther}

func idle(w *profile.Wait) bool { return slices.Contains(idleWaits, w.Name) }

// delays are the waits for something that goroutines had to do: for a CPU, the
// collector, the kernel, a lock. The longest in sum come first.
func delays(p *profile.Profile) []profile.Wait {
	return slices.DeleteFunc(slices.Clone(p.Waits), func(w profile.Wait) bool { return idle(&w) || w.TotalMS <= 0 })
}

// profileFile is one file of a profile, by its place in the record, and what
// opens it: a command that can be given as it stands, or words.
type profileFile struct{ Path, Command, With string }

func profileFiles(c *analysis.CellSummary, p *profile.Profile) []profileFile {
	var all []profileFile
	for _, name := range p.Files {
		f := profileFile{Path: path.Join(record.ProfileDir(c.Cell), display.Plain(path.Base(name)))}
		switch name {
		case profile.CPUFile:
			f.Command = "go tool pprof -http=: " + f.Path
		case profile.TraceFile:
			f.Command = "go tool trace " + f.Path
		default:
			f.With = "Chrome's DevTools, or VS Code"
		}
		all = append(all, f)
	}
	return all
}

// ranking is a list under one name: figures, each with what has it.
type ranking struct {
	Name string
	Rows []ranked
}

type ranked struct{ Figure, Text string }

// profileFacts are what a terminal and Markdown show of a profile: the hottest
// functions, of many cells only the first, and what was waited for longest.
func profileFacts(c *analysis.CellSummary, p *profile.Profile, many bool) []ranking {
	functions := ranking{Name: "hottest"}
	for i := range p.Top[:min(len(p.Top), hottest)] {
		functions.Rows = append(functions.Rows, ranked{display.Share(p.Top[i].SelfShare), functionText(&p.Top[i])})
	}
	all := []ranking{{"profile", []ranked{{"", profileBasis(p) + ", " + profiledAt(c) + ", in an extra trial that counts nowhere"}}}}
	if many {
		functions.Rows = functions.Rows[:min(len(functions.Rows), 1)]
		return append(all, functions)
	}
	waits, files := ranking{Name: "waits (sum)"}, ranking{Name: "in the record"}
	for _, w := range delays(p) {
		waits.Rows = append(waits.Rows, ranked{display.WithUnit(w.TotalMS), waitText(&w)})
	}
	for _, f := range profileFiles(c, p) {
		text := f.Command
		if text == "" {
			text = f.With + ": " + f.Path
		}
		files.Rows = append(files.Rows, ranked{"", text})
	}
	return append(all, functions, waits, files)
}

// profile writes a cell's profile, each text beside its figure.
func (t terminal) profile(c *analysis.CellSummary, p *profile.Profile, many bool) string {
	var b strings.Builder
	for _, r := range profileFacts(c, p, many) {
		room := 0
		for _, row := range r.Rows {
			room = max(room, display.Width(row.Figure))
		}
		head := factHead(r.Name)
		for _, row := range r.Rows {
			figure := ""
			if room > 0 {
				figure = strings.Repeat(" ", room-display.Width(row.Figure)) + row.Figure + "  "
			}
			b.WriteString(t.hanging(head, figure, row.Text))
			head = factHead("")
		}
	}
	return b.String()
}

// markdownProfile writes the same as items of a list.
func markdownProfile(c *analysis.CellSummary, p *profile.Profile, many bool) []string {
	var items []string
	for _, r := range profileFacts(c, p, many) {
		var words []string
		for _, row := range r.Rows {
			words = append(words, strings.TrimSpace(row.Figure+" "+row.Text))
		}
		if len(words) > 0 {
			items = append(items, markdownFact(narrative.Fact{Name: r.Name, Text: strings.Join(words, "; ")}))
		}
	}
	return items
}

// profiled is one cell's profile in the HTML.
type profiled struct {
	Mark      mark
	Index     int
	Name      string
	Basis     string
	Functions []profiledFunction
	Waits     []profiledWait
	Files     []profileFile
	Notes     []string
}

type profiledFunction struct {
	Package string // the path before the name, "" where there is none
	Name    string
	Self    string // "95%"
	Bar     string // its width in percent, for a style
	Cum     string
	Tip     string
}

type profiledWait struct {
	Name, Total, P50, P99, Count string
	Idle                         bool
}

// newProfiles gives the profiles of all cells that have one.
func newProfiles(s *analysis.Summary, names []string) []profiled {
	var all []profiled
	for i := range s.Cells {
		c := &s.Cells[i]
		p := profileOf(c)
		if p == nil {
			continue
		}
		out := profiled{Mark: markOf(i), Index: i, Name: names[i], Basis: typeset(profileBasis(p)), Files: profileFiles(c, p)}
		drawn := p.Top[:min(len(p.Top), functionsDrawn)]
		for k := range drawn {
			if drawn[k].SelfShare > 0 {
				out.Functions = append(out.Functions, newProfiledFunction(&drawn[k]))
			}
		}
		for _, w := range slices.Concat(delays(p), slices.DeleteFunc(slices.Clone(p.Waits), func(w profile.Wait) bool { return !idle(&w) })) {
			out.Waits = append(out.Waits, newProfiledWait(&w))
		}
		for _, note := range p.Notes {
			out.Notes = append(out.Notes, display.Capital(display.Plain(note)))
		}
		all = append(all, out)
	}
	return all
}

func newProfiledFunction(f *profile.Function) profiledFunction {
	out := profiledFunction{Self: display.Share(f.SelfShare), Cum: display.Share(f.CumShare), Bar: decimal(100 * math.Max(0, math.Min(1, f.SelfShare)))}
	out.Package, out.Name = functionParts(display.Plain(f.Name))
	lines := []string{display.Plain(f.Name)}
	if f.File != "" {
		lines = append(lines, display.Plain(f.File))
	}
	lines = append(lines, fmt.Sprintf("%s of the CPU time in itself (%s), %s with what it calls", out.Self, typeset(display.WithUnit(f.SelfMS)), out.Cum))
	out.Tip = strings.Join(lines, "\n")
	return out
}

func newProfiledWait(w *profile.Wait) profiledWait {
	return profiledWait{Name: display.Plain(w.Name), Idle: idle(w), Total: typeset(display.WithUnit(w.TotalMS)),
		P50: typeset(display.Microseconds(w.P50us)), P99: typeset(display.Microseconds(w.P99us)), Count: display.Grouped(w.Count)}
}

// functionParts parts a function's name after the path of its package:
// "github.com/x/y.(*T).F" is "github.com/x/" and "y.(*T).F". Slashes of type
// parameters are not the path's.
func functionParts(name string) (path, rest string) {
	end := len(name)
	if at := strings.IndexAny(name, "([{ "); at >= 0 {
		end = at
	}
	at := strings.LastIndexByte(name[:end], '/') + 1
	return name[:at], name[at:]
}
