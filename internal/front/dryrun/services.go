package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/show/report"
)

// serviceFacts describe each service over its cells.
func serviceFacts(e *experiment.Experiment) []report.Facts {
	var all []report.Facts
	var names []string
	for i := range e.Cells {
		if name := e.Cells[i].Service.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		var cells []*experiment.Cell
		for i := range e.Cells {
			if e.Cells[i].Service.Name == name {
				cells = append(cells, &e.Cells[i])
			}
		}
		all = append(all, facts(cells))
	}
	return all
}

// facts are those of the cells of one service. What differs between cells is listed with
// all its values, in the order of the cells.
func facts(cells []*experiment.Cell) report.Facts {
	f := report.Facts{Title: display.Plain(cells[0].Service.Name)}
	add := func(name, text string) {
		if text != "" {
			f.Facts = append(f.Facts, report.Fact{Name: name, Text: display.Plain(text)})
		}
	}
	each := func(name string, of func(*experiment.Cell) string) {
		for _, text := range distinct(cells, of) {
			add(name, text)
			name = ""
		}
	}
	each("command", func(c *experiment.Cell) string {
		return program(c.Service.Workload, c.Service.Command, imageLine(c.Service.Image, c.Service.Args))
	})
	each("compose", func(c *experiment.Cell) string {
		if len(c.Service.Compose) == 0 {
			return ""
		}
		return c.Service.Of + " of " + strings.Join(c.Service.Compose, " and ")
	})
	each("folder", func(c *experiment.Cell) string {
		if c.Service.Dir == "." {
			return ""
		}
		return c.Service.Dir
	})
	each("volumes", func(c *experiment.Cell) string { return strings.Join(c.Service.Volumes, " ") })
	for _, name := range variables(cells) {
		values := distinct(cells, func(c *experiment.Cell) string { return value(&c.Service, name) })
		add("env", name+"="+strings.Join(values, ", "))
	}
	each("request", func(c *experiment.Cell) string { return requestWords(&c.Load) })
	each("ready", func(c *experiment.Cell) string { return readyWords(&c.Service) })
	for _, d := range cells[0].Service.Dependencies {
		what := program("", d.Command, d.Image)
		switch {
		case d.URL != "":
			what = d.URL + " (runs already)"
		case d.Builtin == experiment.Neighbour:
			what = "a neighbour that millicore starts, which uses up to " + display.CPULimit(float64(d.Limits.CPUMillis)/1000)
		case d.Builtin != "":
			what = "a database that millicore starts"
		}
		add("needs", d.Name+": "+what)
	}
	return f
}

// distinct are the texts of cells, each once, without empty ones.
func distinct(cells []*experiment.Cell, of func(*experiment.Cell) string) []string {
	var all []string
	for _, c := range cells {
		if text := of(c); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// program is what runs: a command line, an image, or one of Millicore's own.
func program(own string, command []string, image string) string {
	switch {
	case len(command) > 0:
		return commandLine(command)
	case image != "":
		return "image " + image
	}
	return own + " (sample service)"
}

// imageLine is an image with its arguments.
func imageLine(image string, args []string) string {
	if image == "" || len(args) == 0 {
		return image
	}
	return image + " " + commandLine(args)
}

// commandLine quotes the arguments that a shell would split.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if quoted[i] = a; a == "" || strings.ContainsAny(a, " \t\n'\"\\") {
			quoted[i] = strconv.Quote(a)
		}
	}
	return strings.Join(quoted, " ")
}

// variables are the names that any cell sets or unsets, sorted.
func variables(cells []*experiment.Cell) []string {
	names := map[string]bool{}
	for _, c := range cells {
		for name := range c.Service.Env {
			names[name] = true
		}
		for name := range c.Service.EnvFrom {
			names[name] = true
		}
		for _, name := range c.Service.Unset {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func value(s *experiment.Service, name string) string {
	if v, ok := s.Env[name]; ok {
		if v == "" {
			return `""`
		}
		return v
	}
	if r, ok := s.EnvFrom[name]; ok {
		return "(" + r.String() + ")"
	}
	return "unset"
}

func requestWords(l *experiment.Load) string {
	if l.Benchmark {
		return ""
	}
	var all []string
	for _, r := range l.AllRequests() {
		text := r.Method + " " + r.Path
		if r.Weight > 1 {
			text = fmt.Sprintf("%d × %s", r.Weight, text)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// readyWords are when the service counts as ready.
func readyWords(s *experiment.Service) string {
	if s.Ready.Path == "" {
		return ""
	}
	return fmt.Sprintf("once %s answers, within %s", s.Ready.Path, span.Text(s.Ready.Timeout))
}
