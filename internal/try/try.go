// Package try puts any server under a limit and says where it breaks: as it is,
// with its runtime's parallelism set to each sensible value, and once without
// the limit. It turns a command line into experiments, which the lab conducts,
// and their summaries into one paragraph of plain words. It measures nothing
// itself.
package try

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/runtimes"
)

// Ask is what the user wants to know.
type Ask struct {
	Command   []string
	Dir       string            // working folder
	Env       map[string]string // the caller's settings that change how runtimes behave; the lab keeps no others of their kind
	CPU       string            // quantity; "" for none
	Memory    string            // likewise
	Port      int               // 0: ${port} where the command has it, else it is found
	Ready     experiment.Ready
	Request   experiment.Request
	Timeout   time.Duration
	Objective experiment.Objective
	Users     bool          // search users instead of a rate
	First     float64       // where a search for a rate begins; 0: the default
	Traffic   time.Duration // of a search at most; 0: the default
	Profile   bool
	AsIsOnly  bool // no other settings, no replicas, no run without the limit
}

// Name is the experiment's: "try-nginx".
func (a *Ask) Name() string {
	if name := serviceName(filepath.Base(a.Command[0])); name != "" {
		return "try-" + name
	}
	return "try"
}

// Draft is the experiment that searches the breaking point of the variants, but
// of those that have no effect.
func (a *Ask) Draft(variants []Variant) *experiment.Draft {
	d := &experiment.Draft{
		Name: a.Name(), About: "Where " + strings.Join(a.Command, " ") + " breaks",
		Limits:  experiment.DraftLimits{CPU: a.CPU, Memory: a.Memory},
		Load:    experiment.Load{Request: a.Request, Find: true, Timeout: a.Timeout},
		Measure: experiment.Measure{Duration: a.Traffic}, Objective: &a.Objective, Profile: a.Profile,
	}
	switch {
	case a.Users:
		d.Load.Users = &experiment.Target{Value: 1}
	case a.First > 0:
		d.Load.Rate = &experiment.Target{Value: a.First}
	}
	for _, v := range variants {
		if v.NoEffect == "" {
			d.Services = append(d.Services, a.service(v))
		}
	}
	return d
}

func (a *Ask) service(v Variant) experiment.DraftService {
	s := experiment.DraftService{Name: v.Service, Command: v.Command, Dir: a.Dir, Env: map[string]*string{}, Port: a.Port, Ready: a.Ready}
	if s.Command == nil {
		s.Command = a.Command
	}
	for _, env := range []map[string]string{a.Env, v.Env} {
		for name, value := range env {
			s.Env[name] = &value
		}
	}
	s.TakesPort = a.takesPort()
	// Replicas are given a port each: they take it by ${port}, or from PORT.
	s.FindPort = a.Port == 0 && !s.TakesPort && v.Replicas < 2
	if v.Replicas > 1 {
		s.Limits.Replicas = strconv.Itoa(v.Replicas)
	}
	if v.Unlimited {
		s.Limits.CPU = experiment.Null
	}
	return s
}

// takesPort reports whether the command, or the environment that it is run in,
// names the port that it is given.
func (a *Ask) takesPort() bool {
	named := func(text string) bool { return strings.Contains(text, "${port}") }
	return slices.ContainsFunc(a.Command, named) || slices.ContainsFunc(slices.Collect(maps.Values(a.Env)), named)
}

// Begin is where the search for a rate begins, given the least time that a
// request took: at a twentieth of what one after the other would make. Each
// doubling of a search takes seconds, and one that begins too high comes down.
func Begin(least time.Duration) float64 {
	const lowest, highest = 5, 2000
	if least <= 0 {
		return highest
	}
	return math.Round(min(max(0.05/least.Seconds(), lowest), highest))
}

// Caller picks out of an environment what changes how runtimes behave, so that
// a server is tried as its caller would run it.
func Caller(environ []string) map[string]string {
	kept := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && runtimes.IsEnvKnob(name) {
			kept[name] = value
		}
	}
	return kept
}
