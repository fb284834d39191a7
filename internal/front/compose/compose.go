// Package compose takes one service of a compose file, and the services that it depends on,
// as a service of an experiment and as units of a platform: the service is measured, and the
// others run beside it. The library compose-go reads the file. What cannot be measured is
// refused with the name of its key, and what has no effect here is noted. The package starts
// the dependencies, in their order, and measures nothing.
package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// Project is a service of a compose file, with what it depends on.
type Project struct {
	Files   []string  `json:"files"`
	Service Service   `json:"service"`
	Needs   []Service `json:"dependencies,omitempty"` // in the order of their start
	Notes   []string  `json:"notes,omitempty"`        // about what of the file has no effect
}

// spelled is how the user writes what is named in an error.
type spelled struct{ service, override string }

var (
	asFlags = spelled{"--service", "--compose FILE --compose OVERRIDE"}
	asKeys  = spelled{"service", "compose: [FILE, OVERRIDE]"}
)

// Read reads a service of compose files, which are merged as docker compose -f does, for the
// flags of try.
func Read(ctx context.Context, files []string, service string) (*Project, error) {
	return readFor(ctx, files, service, asFlags)
}

func readFor(ctx context.Context, files []string, service string, by spelled) (*Project, error) {
	p := &Project{}
	for _, file := range files {
		whole, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(whole)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s does not exist", whole)
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, fmt.Errorf("%s is a folder; name the file in it", whole)
		}
		p.Files = append(p.Files, whole)
	}
	var warnings bytes.Buffer
	read, err := load(ctx, p.Files, &warnings)
	if err != nil {
		return nil, oneLine(err)
	}
	if service, err = choose(read, service, by); err != nil {
		return nil, err
	}
	all := slices.Sorted(maps.Keys(read.Services))
	if read, err = read.WithServicesEnabled(service); err == nil {
		read, err = read.WithSelectedServices([]string{service})
	}
	if err == nil { // only now, so that a missing env_file of another service is no error
		read, err = resolved(read)
	}
	if err != nil {
		return nil, oneLine(err)
	}
	t := translator{project: read, override: "leave it out in an override file (" + by.override + ")"}
	for line := range strings.Lines(warnings.String()) {
		if !strings.Contains(line, "is obsolete") && !slices.Contains(t.notes, strings.TrimSpace(line)) {
			t.notes = append(t.notes, strings.TrimSpace(line))
		}
	}
	for _, name := range ordered(read, service) {
		s := read.Services[name]
		t.refuse(&s, name == service)
		t.services = append(t.services, t.service(&s))
	}
	if err := errors.Join(t.errs...); err != nil {
		return nil, err
	}
	last := len(t.services) - 1
	p.Service, p.Needs, p.Notes = t.services[last], t.services[:last], t.notes
	p.conditions(read)
	p.leaves(all)
	return p, nil
}

// resolved reads the files of variables of all services.
func resolved(p *types.Project) (*types.Project, error) {
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		for _, f := range p.Services[name].EnvFiles {
			if _, err := os.Stat(f.Path); err != nil && bool(f.Required) {
				return nil, fmt.Errorf("services.%s.env_file: %s is not there: make it, or write required: false beside its path", name, f.Path)
			}
		}
	}
	return p.WithServicesEnvironmentResolved(true)
}

// messages is a format of logrus: a line for each message.
type messages struct{}

func (messages) Format(e *logrus.Entry) ([]byte, error) { return []byte(e.Message + "\n"), nil }

// load reads the files. The library writes what docker compose warns of to logrus.
func load(ctx context.Context, files []string, warnings io.Writer) (*types.Project, error) {
	logrus.SetFormatter(messages{})
	logrus.SetOutput(warnings)
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithoutEnvironmentResolution, cli.WithDefaultProfiles())
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}

// oneLine is an error of the library, which may have several lines.
func oneLine(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if strings.Contains(text, "depends on undefined service") {
		text += "; if it is in a profile, set COMPOSE_PROFILES"
	}
	return errors.New(text)
}

// choose is the service that is meant: the only one of the file if none is named.
func choose(p *types.Project, name string, by spelled) (string, error) {
	all := slices.Sorted(maps.Keys(p.AllServices()))
	switch {
	case len(all) == 0:
		return "", errors.New("it has no services")
	case name == "" && len(all) == 1:
		return all[0], nil
	case name == "":
		return "", fmt.Errorf("%s is missing: name the one to measure, of %s", by.service, phrase.List(all))
	case !slices.Contains(all, name):
		return "", fmt.Errorf("%s %s: no such service; %s", by.service, name, spelling.Hint(name, "services", all))
	}
	return name, nil
}

// ordered are a service and what it depends on, the service last. The library has refused circles.
func ordered(p *types.Project, service string) (order []string) {
	var visit func(name string)
	visit = func(name string) {
		s, there := p.Services[name]
		if !there || slices.Contains(order, name) { // it may be optional, in a profile that is not active
			return
		}
		for _, other := range slices.Sorted(maps.Keys(s.DependsOn)) {
			visit(other)
		}
		order = append(order, name)
	}
	visit(service)
	return order
}
