package compose

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

const shop = `
services:
  web:
    image: shop/web:2
    command: [serve, "$${HOME}"]
    environment: {DATABASE: db, MODE: fast, LEVEL: info}
    ports: ["8080:80"]
    cpus: 0.25
    mem_limit: 64M
    pids_limit: 50
    depends_on: {db: {condition: service_healthy}, setup: {condition: service_completed_successfully}}
    healthcheck: {test: "true", start_period: 2m}
  db: {image: db:1, environment: {PASSWORD: secret}}
  setup: {image: db:1}
`

// parsed is an experiment beside the compose file, with keys of its service and of its own.
func parsed(t *testing.T, service, own string, sets ...string) (*experiment.Experiment, error) {
	t.Helper()
	dir := folder(t, "compose.yaml", shop, "faster.yaml", "services: {web: {cpus: 2}}")
	text := fmt.Sprintf("name: shop\nservices: {web: {%s}}\nload: {request: {path: /}, users: 1}\n%s", service, own)
	return file.ParseWith(filepath.Join(dir, "shop.yaml"), []byte(text), sets, Expander(dir))
}

func TestAServiceOfAnExperimentIsThatOfAComposeFile(t *testing.T) {
	e, err := parsed(t, "compose: compose.yaml, service: web", "")
	if err != nil {
		t.Fatal(err)
	}
	c := &e.Cells[0]
	s := &c.Service
	if s.Image != "shop/web:2" || !slices.Equal(s.Args, []string{"serve", "$${HOME}"}) || s.Port != 80 || s.Of != "web" || len(s.Compose) != 1 || filepath.Base(s.Compose[0]) != "compose.yaml" {
		t.Errorf("%+v", s)
	}
	if want := map[string]string{"DATABASE": "db", "MODE": "fast", "LEVEL": "info"}; !maps.Equal(s.Env, want) {
		t.Errorf("env %v", s.Env)
	}
	if c.Limits.CPUMillis != 250 || c.Limits.Memory != 64<<20 || c.Limits.PIDs != 50 || s.Ready.Timeout != 2*time.Minute+90*time.Second {
		t.Errorf("limits %+v, ready %+v", c.Limits, s.Ready)
	}
	if d := s.Dependencies; len(d) != 1 || d[0].Name != "db" || d[0].Image != "db:1" || len(d[0].Env) > 0 {
		t.Errorf("dependencies %+v", d)
	}
	if !strings.Contains(e.Source, "compose: compose.yaml") || strings.Contains(e.Source, "shop/web") {
		t.Errorf("the source is not the file:\n%s", e.Source)
	}
}

func TestKeysOfAnExperimentReplaceThoseOfAComposeFile(t *testing.T) {
	e, err := parsed(t, `compose: [compose.yaml, faster.yaml], service: web, image: shop/web:1, args: [other], env: {MODE: "${mode}", LEVEL: null}, limits: {memory: null}, port: 81, ready_timeout: 5s, dependencies: [postgres]`,
		"limits: {pids: 70}\nvary: {mode: [slow, null]}\n", "limits.cpu=1500m")
	if err != nil {
		t.Fatal(err)
	}
	c := &e.Cells[0]
	s := &c.Service
	if s.Image != "shop/web:1" || !slices.Equal(s.Args, []string{"other"}) || s.Port != 81 || s.Ready.Timeout != 5*time.Second || !slices.Equal(s.Unset, []string{"LEVEL"}) {
		t.Errorf("%+v", s)
	}
	if c.Limits.CPUMillis != 1500 || c.Limits.Memory != 0 || c.Limits.PIDs != 70 {
		t.Errorf("limits %+v", c.Limits)
	}
	if d := s.Dependencies; len(d) != 2 || d[0].Name != "db" || d[1].Builtin != experiment.Postgres {
		t.Errorf("dependencies %+v", d)
	}
	if len(e.Cells) != 2 || s.Env["MODE"] != "slow" || s.Env["DATABASE"] != "db" || !slices.Contains(e.Cells[1].Service.Unset, "MODE") {
		t.Errorf("%d cells, env %v, then %v", len(e.Cells), s.Env, e.Cells[1].Service)
	}
}

func TestMistakesInAServiceOfAComposeFile(t *testing.T) {
	for _, c := range []struct{ service, want string }{
		{"compose: none.yaml", "shop.yaml:2:27: services.web.compose: /"},
		{"compose: compose.yaml", "services.web.compose: service is missing: name the one to measure, of db, setup and web"},
		{"compose: compose.yaml, service: wbe", `services.web.compose: service wbe: no such service; did you mean "web"?`},
		{"service: web, image: a", "services.web.service: it is that of compose files; name them with compose"},
		{"compose: compose.yaml, service: web, command: [a]", "command and image exclude one another"},
		{"compose: {a: b}", "services.web.compose: expected a list"},
		{"compose: []", "services.web.compose is empty"},
		{"compose: compose.yaml, service: web}, two: {compose: compose.yaml, service: db", "another service here is web of compose.yaml; write a second experiment"},
	} {
		e, err := parsed(t, c.service, "")
		if err == nil {
			t.Errorf("%s was accepted: %+v", c.service, e.Cells)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.service, err, c.want)
		}
	}
	if _, err := file.Parse("shop.yaml", []byte("name: shop\nservices: {web: {compose: a.yaml}}\nload: {request: {path: /}, users: 1}\n"), nil); err == nil || !strings.Contains(err.Error(), "need --on docker") {
		t.Errorf("%v", err)
	}
}

// Each key that cannot be measured has a line of its own, with the words for a file.
func TestKeysThatCannotBeMeasuredAreNamedInAnExperiment(t *testing.T) {
	dir := folder(t, "compose.yaml", "services: {web: {image: a, network_mode: host, pid: host}}")
	_, err := file.ParseWith("shop.yaml", []byte("name: shop\nservices: {web: {compose: compose.yaml}}\nload: {request: {path: /}, users: 1}\n"), nil, Expander(dir))
	if err == nil {
		t.Fatal("it was accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "services.web.compose: services.web.network_mode: ") || !strings.Contains(lines[0], "(compose: [FILE, OVERRIDE])") || !strings.Contains(lines[1], "services.web.pid: ") {
		t.Errorf("%v", err)
	}
}
