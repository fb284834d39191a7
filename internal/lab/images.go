package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/workload"
)

// On a platform that runs images, the sample services and the databases are images too,
// and nothing of them needs to be on this machine.

// stock are the images that the platform has for an experiment.
type stock struct {
	images   map[string]string // by sample service
	versions map[string]string // of the engine, and of each image
}

// fetchImages makes all images of the experiment available on the platform before
// anything is started. A sample service without an image is in the samples' Missing. It
// is an error if an image of the experiment is not available.
func (l *Lab) fetchImages(ctx context.Context, on platform.ImageRunner) error {
	l.samples = workload.Found{Commands: map[string][]string{}, Missing: map[string]error{}}
	l.stock = &stock{images: map[string]string{}, versions: maps.Clone(on.Versions())}
	for _, name := range l.workloads() {
		image, arguments, err := on.Workload(ctx, name)
		if ctx.Err() != nil {
			return nil // an interruption is no error
		}
		if err != nil {
			l.samples.Missing[name] = err
			continue
		}
		l.stock.images[name], l.samples.Commands[name] = image, arguments
	}
	for _, image := range l.namedImages() {
		digest, err := on.Fetch(ctx, image)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", l.Experiment.Name, err)
		}
		l.stock.versions[image] = digest
	}
	return nil
}

// workloads are the names of the experiment's sample services, without duplicates.
func (l *Lab) workloads() []string {
	var names []string
	for i := range l.Experiment.Cells {
		if name := l.Experiment.Cells[i].Service.Workload; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// namedImages are the images of services, dependencies and databases, without
// duplicates.
func (l *Lab) namedImages() []string {
	var all []string
	add := func(image string) {
		if image != "" && !slices.Contains(all, image) {
			all = append(all, image)
		}
	}
	for i := range l.Experiment.Cells {
		s := &l.Experiment.Cells[i].Service
		add(s.Image)
		for _, d := range s.Dependencies {
			add(d.Image)
			add(experiment.DatabaseImage(d.Builtin))
		}
	}
	return all
}

// image is the image of a service; "": it is a command.
func (l *Lab) image(s *experiment.Service) string {
	if s.Workload != "" && l.stock != nil {
		return l.stock.images[s.Workload]
	}
	return s.Image
}
