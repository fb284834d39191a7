package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/profile"
)

const (
	// hottest is how many functions of a profile a text shows.
	hottest = 5
	// manyProfiled is the number of profiled cells from which a text shows only the
	// first function of each.
	manyProfiled = 5
	// functionsShown is how many functions the page shows; the files have all.
	functionsShown = 12
)

// Profile is what a cell's profiles show.
type Profile struct {
	Cell      int // its index
	Name      string
	Basis     string // what the shares are of: "8.36 s of CPU time in 10.1 s"
	At        string // the load under which it was taken
	Functions []Function
	Files     []ProfileFile
	Notes     []string
}

// Function is a function that used CPU itself.
type Function struct {
	Package   string // the path before the name; "": none
	Name      string
	File      string
	Self, Cum float64 // shares of the CPU time
	SelfMS    float64
}

// ProfileFile is one file of a profile, by its place in the record, and what opens
// it: a command that can be copied, or words.
type ProfileFile struct{ Path, Command, With string }

// newProfiles are the profiles of all cells that have one.
func newProfiles(s *summary.Summary, names []string) []Profile {
	var all []Profile
	for i := range s.Cells {
		c := &s.Cells[i]
		p := profileOf(c)
		if p == nil {
			continue
		}
		out := Profile{Cell: i, Name: names[i], At: "under the same load", Files: profileFiles(c, p),
			Basis: fmt.Sprintf("%s s of CPU time in %s s", display.Figure(p.BusySeconds), display.Figure(p.Seconds))}
		if c.Searched() {
			out.At = "at the breaking point"
		}
		for _, f := range p.Top[:min(len(p.Top), functionsShown)] {
			if f.SelfShare > 0 {
				where, name := functionParts(display.Plain(f.Name))
				out.Functions = append(out.Functions, Function{where, name, display.Plain(f.File), f.SelfShare, f.CumShare, f.SelfMS})
			}
		}
		for _, note := range p.Notes {
			out.Notes = append(out.Notes, display.Capital(display.Plain(note)))
		}
		all = append(all, out)
	}
	return all
}

// profileOf gives what a cell's profiles show; nil if none was taken, or it is empty.
func profileOf(c *cellSummary) *profile.Profile {
	p := c.Profile
	if p == nil || len(p.Top) == 0 && len(p.Files) == 0 {
		return nil
	}
	return p
}

func profileFiles(c *cellSummary, p *profile.Profile) []ProfileFile {
	var all []ProfileFile
	for _, name := range p.Files {
		f := ProfileFile{Path: path.Join(record.ProfileDir(c.Cell), display.Plain(path.Base(name)))}
		switch name {
		case profile.CPUFile:
			f.Command = "go tool pprof -http=: " + f.Path
		default:
			f.With = "Chrome's DevTools, or VS Code"
		}
		all = append(all, f)
	}
	return all
}

// functionParts splits a function's name after the path of its package:
// "github.com/x/y.(*T).F" is "github.com/x/" and "y.(*T).F". Slashes of type
// parameters do not belong to the path.
func functionParts(name string) (path, rest string) {
	end := len(name)
	if at := strings.IndexAny(name, "([{ "); at >= 0 {
		end = at
	}
	at := strings.LastIndexByte(name[:end], '/') + 1
	return name[:at], name[at:]
}

// facts are what a text shows of a profile: the hottest functions, of many profiles
// only the first one.
func (p *Profile) facts(many bool) []Fact {
	facts := []Fact{{Name: "profile", Text: p.Basis + ", " + p.At + ", in an extra trial that is not part of the figures"}}
	add := func(name string, texts []string) {
		for _, text := range texts {
			facts, name = append(facts, Fact{Name: name, Text: text}), ""
		}
	}
	var functions, files []string
	for _, f := range p.Functions[:min(len(p.Functions), hottest)] {
		text := display.Share(f.Self) + "  " + f.Name
		if f.File != "" {
			text += " (" + f.File + ")"
		}
		functions = append(functions, text)
	}
	if many {
		add("hottest", functions[:min(len(functions), 1)])
		return facts
	}
	for _, f := range p.Files {
		text := f.Command
		if text == "" {
			text = f.With + ": " + f.Path
		}
		files = append(files, text)
	}
	add("hottest", functions)
	add("in the record", files)
	return facts
}
