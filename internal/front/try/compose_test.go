package try

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// filled are flags with their defaults, over a compose file, and the experiment of the
// server as it is.
func filled(t *testing.T, f Flags, changed ...string) (*Ask, *experiment.Experiment) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "compose.yaml")
	text := `
services:
  web:
    image: shop/web:2
    command: [serve, "$${HOME}"]
    environment: {DATABASE: db, TOKEN: abc}
    user: "7"
    ports: ["8080:80"]
    deploy: {resources: {limits: {cpus: "0.25", memory: 64M}}}
    depends_on: {db: {condition: service_healthy}, setup: {condition: service_completed_successfully}}
  db: {image: db:1, environment: {PASSWORD: secret}}
  setup: {image: db:1}
`
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f.Compose, f.Service, f.Repeats, f.PIDs, f.Get, f.P99, f.Out = []string{name}, "web", 1, experiment.DefaultPIDs, "/", time.Second, filepath.Join(t.TempDir(), "out")
	f.Take(nil)
	if err := f.Fill(func(flag string) bool { return slices.Contains(changed, flag) }); err != nil {
		t.Fatal(err)
	}
	e, err := file.Build(f.Ask.Name(), f.Ask.Settings(AsItIs(&f.Ask)), f.Ask.Compose.Expand)
	if err != nil {
		t.Fatal(err)
	}
	return &f.Ask, e
}

func TestTheLimitsOfAComposeFileAreThoseOfFlagsNotGiven(t *testing.T) {
	a, e := filled(t, Flags{CPU: "1"})
	c := &e.Cells[0]
	if c.Limits.CPUMillis != 250 || c.Limits.Memory != 64<<20 || c.Service.Port != 80 || c.Service.User != "" || a.Name() != "try-web" {
		t.Errorf("limits %+v, port %d, user %s, name %s", c.Limits, c.Service.Port, c.Service.User, a.Name())
	}
	if c.Service.Image != "shop/web:2" || !slices.Equal(c.Service.Args, []string{"serve", "$${HOME}"}) || c.Service.Env["DATABASE"] != "db" {
		t.Errorf("service %+v", c.Service)
	}
	if d := c.Service.Dependencies; len(d) != 1 || d[0].Name != "db" || d[0].Image != "db:1" || len(d[0].Env) > 0 {
		t.Errorf("dependencies %+v", d)
	}
	_, e = filled(t, Flags{CPU: "2", Port: "81", Env: []string{"DATABASE=other"}, Ask: Ask{Memory: "1Gi", User: "8"}}, "cpu", "memory")
	if c = &e.Cells[0]; c.Limits.CPUMillis != 2000 || c.Limits.Memory != 1<<30 || c.Service.Port != 81 || c.Service.User != "8" || c.Service.Env["DATABASE"] != "other" {
		t.Errorf("limits %+v, service %+v", c.Limits, c.Service)
	}
}

func TestAnOlderImageRunsInTheSameComposeFile(t *testing.T) {
	a, e := filled(t, Flags{CPU: "1", Against: "shop/web:1"})
	for i, image := range []string{"shop/web:2", "shop/web:1"} {
		if s := &e.Cells[i].Service; s.Image != image || strings.Join(s.Args, " ") != "serve $${HOME}" || len(s.Dependencies) != 1 {
			t.Errorf("%s: %+v", image, s)
		}
	}
	if a.Old.Name != "shop/web:1" {
		t.Errorf("old %+v", a.Old)
	}
}

// What is saved names the compose file, relative to itself, and what flags changed.
func TestTheSavedExperimentNamesTheComposeFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		flags   Flags
		changed []string
		want    string
	}{
		{Flags{CPU: "1"}, nil, `services:
  as-is: {compose: COMPOSE, service: web}
load:`},
		{Flags{CPU: "none", Env: []string{"DATABASE=other"}, Ask: Ask{Memory: "1Gi"}}, []string{"cpu", "memory"}, `services:
  as-is:
    compose: COMPOSE
    service: web
    env: {DATABASE: other}
limits: {cpu: null, memory: 1Gi}
`},
		{Flags{CPU: "250m,1", Against: ""}, []string{"cpu"}, `limits: {cpu: 250m}`},
		{Flags{CPU: "1", Against: "shop/web:1"}, nil, `old: {compose: COMPOSE, image: "shop/web:1", service: web}`},
	} {
		c.flags.Save = filepath.Join(dir, "saved.yaml")
		a, e := filled(t, c.flags, c.changed...)
		text, _ := file.Saved(e)
		relative, err := filepath.Rel(dir, a.Compose.Files[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(c.want, "COMPOSE", strconv.Quote(relative)); !strings.Contains(text, want) || strings.Contains(text, "db:1") || strings.Contains(text, "abc") {
			t.Errorf("got\n%s\nwant in it\n%s", text, want)
		}
	}
}
