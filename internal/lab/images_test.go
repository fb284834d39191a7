package lab

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/platform"
)

// shelf is a platform that has some images and starts nothing.
type shelf struct {
	platform.Platform
	workloads map[string]string // images by name
	fetched   []string
}

func (s *shelf) Workload(_ context.Context, name string) (string, []string, error) {
	if image := s.workloads[name]; image != "" {
		return image, []string{"--port", "${port}"}, nil
	}
	return "", nil, errors.New("build it: docker build")
}

func (s *shelf) Fetch(_ context.Context, image string) (string, error) {
	if strings.Contains(image, "missing") {
		return "", errors.New("no image " + image)
	}
	s.fetched = append(s.fetched, image)
	return "sha256:" + image, nil
}

func (s *shelf) Versions() map[string]string { return map[string]string{"docker": "29"} }

func onShelf(t *testing.T, s *shelf, services string) *Lab {
	t.Helper()
	e, err := file.Parse("x.yaml", []byte("name: x\nload: {request: {path: /}, users: 1}\nservices:\n"+services), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Lab{Experiment: e, Platform: s}
}

func TestImagesOfWorkloadsAndDatabasesAreFetched(t *testing.T) {
	s := &shelf{workloads: map[string]string{"go": "millicore-go:1"}}
	l := onShelf(t, s, `
  go: {workload: go, dependencies: [postgres, {name: cache, image: "redis:8"}, {name: far, url: "http://10.0.0.1"}]}
  web: {image: "nginx:1"}
  bun: {workload: bun}
`)
	skipped, err := l.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(skipped) != 1 || skipped[0].Service != "bun" || skipped[0].Reason != "build it: docker build" {
		t.Errorf("skipped %v", skipped)
	}
	if want := []string{"postgres:17-alpine", "redis:8", "nginx:1"}; !slices.Equal(s.fetched, want) {
		t.Errorf("fetched %q, want %q", s.fetched, want)
	}
	for i, want := range []struct {
		image   string
		command []string
	}{{"millicore-go:1", []string{"--port", "${port}"}}, {"nginx:1", nil}} {
		service := &l.Experiment.Cells[i].Service
		command, err := l.command(service)
		if err != nil || l.image(service) != want.image || !slices.Equal(command, want.command) {
			t.Errorf("%s runs %q of %q, %v", service.Name, command, l.image(service), err)
		}
	}
	versions := map[string]string{"go": "go1.26", "node": "v20 of this machine"}
	l.versions(t.Context(), versions)
	want := map[string]string{"go": "go1.26", "docker": "29", "postgres:17-alpine": "sha256:postgres:17-alpine", "redis:8": "sha256:redis:8", "nginx:1": "sha256:nginx:1"}
	if !maps.Equal(versions, want) {
		t.Error(cmp.Diff(want, versions))
	}
}

func TestAMissingImageEndsTheRun(t *testing.T) {
	l := onShelf(t, &shelf{}, `  web: {image: "missing:1"}`)
	if _, err := l.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "run x: no image missing:1") {
		t.Error(err)
	}
	l = onShelf(t, &shelf{}, `  bun: {workload: bun}`)
	if _, err := l.prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "build it: docker build") {
		t.Error(err)
	}
}
