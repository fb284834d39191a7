package compose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// folder writes files, by name and text, into a new folder.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, service, text string, more ...string) (*Project, error) {
	t.Helper()
	dir := folder(t, append([]string{"compose.yaml", text}, more...)...)
	return Read(t.Context(), []string{filepath.Join(dir, "compose.yaml")}, service)
}

func TestWhatCannotBeReadOrMeasuredIsRefusedByItsName(t *testing.T) {
	web := func(keys string) string { return "services:\n  web:\n    image: web:1\n    " + keys + "\n" }
	for _, c := range []struct {
		name, service, text string
		want                string
	}{
		{"no YAML", "", "services: [", "yaml"},
		{"a misspelt key", "web", web("imagee: b"), "imagee"},
		{"no services", "", "services: {}", "it has no services"},
		{"several services", "", "services: {a: {image: a}, b: {image: b}}", "--service is missing: name the one to measure, of a and b"},
		{"another service", "wbe", web("tty: true"), `--service wbe: no such service; did you mean "web"?`},
		{"nothing to start", "web", "services: {web: {ports: ['80']}}", "neither an image nor a build context"},
		{"a dependency that is not there", "web", web("depends_on: [db]"), `depends on undefined service "db"`},
		{"a circle", "web", "services: {web: {image: a, depends_on: [db]}, db: {image: b, depends_on: [web]}}", "dependency cycle"},
		{"a profile", "web", "services: {web: {image: a, depends_on: [db]}, db: {image: b, profiles: [data]}}", "depends on undefined service \"db\": invalid compose project; if it is in a profile, set COMPOSE_PROFILES"},
		{"an env_file that is not there", "web", web("env_file: none.env"), "none.env is not there: make it, or write required: false"},
		{"an env_file of a dependency", "web", "services: {web: {image: a, links: [db]}, db: {image: b, env_file: none.env}}", "services.db.env_file: "},
		{"a variable that must be set", "web", web("user: ${NO_SUCH_USER_1:?say who}"), "say who"},
		{"the machine's network", "web", web("network_mode: host"), "services.web.network_mode: services run in one network of the run"},
		{"the machine's processes", "web", web("pid: host"), "services.web.pid: "},
		{"devices", "web", web("devices: [/dev/kvm]"), "services.web.devices: devices are not passed on"},
		{"GPUs", "web", web("gpus: all"), "services.web.gpus: devices are not passed on"},
		{"volumes of others", "web", "services: {web: {image: a, volumes_from: [db]}, db: {image: b}}", "services.web.volumes_from: name the volumes in both services"},
		{"a folder that is not there", "web", web("volumes: [./none:/data]"), "none is not there: make it first"},
		{"an external volume", "web", web("volumes: ['shop:/data']") + "volumes: {shop: {external: true}}", "services.web.volumes: shop is external"},
		{"a volume of a driver", "web", web("volumes: ['shop:/data']") + "volumes: {shop: {driver_opts: {type: nfs}}}", "services.web.volumes: shop has a driver"},
		{"an external secret", "web", web("secrets: [key]") + "secrets: {key: {external: true}}", "services.web.secrets: key is not a file"},
		{"a secret that is not there", "web", web("secrets: [key]") + "secrets: {key: {file: ./none}}", "none, is not there"},
		{"a config in the file", "web", web("configs: [key]") + "configs: {key: {content: abc}}", "services.web.configs: key is not a file"},
		{"a hook", "web", web("post_start: [{command: ls}]"), "services.web.post_start: hooks are not run"},
		{"a dependency's fault", "web", "services: {web: {image: a, depends_on: [db]}, db: {image: b, ipc: host}}", "services.db.ipc: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, c.service, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant one line with: %s", err, c.want)
			}
		})
	}
	if _, err := Read(t.Context(), []string{"none.yaml"}, "web"); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("%v: want the name of the file", err)
	}
}

func TestAServiceHasWhatTheFileGivesIt(t *testing.T) {
	t.Setenv("TAG", "1.4")
	p, err := read(t, "web", `
name: shop
x-common: &common {environment: {A: b}}
services:
  web:
    <<: *common
    extends: {file: base.yaml, service: base}
    image: "web:${TAG:-none}"
    command: [serve, "--at", "$${port}"]
    ports: ["8080:80", "127.0.0.1:53:53/udp"]
    env_file: web.env
    mem_limit: 64m
    profiles: [front]
    deploy: {resources: {limits: {cpus: "0.25", pids: 50}}}
    depends_on:
      db: {condition: service_healthy}
      setup: {condition: service_completed_successfully}
      built: {condition: service_started}
    volumes: ["./:/src:ro", "files:/files", "/cache", {type: tmpfs, target: /tmp, tmpfs: {size: 1m}}]
    secrets: [key]
    ulimits: {nofile: {soft: 10, hard: 20}}
    extra_hosts: ["old=10.0.0.1"]
  db:
    image: db
    container_name: the-db
    networks: {back: {aliases: [database]}}
    healthcheck: {test: "check || exit 1", interval: 5s, retries: 10, start_period: 20s, timeout: 3s}
  setup: {image: db, depends_on: {db: {condition: service_started}}}
  built: {build: .}
  other: {image: other}
networks: {back: {}}
volumes: {files: {}}
secrets: {key: {file: ./web.env}}
`, "base.yaml", "services: {base: {image: no, user: '7', stop_signal: SIGINT}}", "web.env", "GREETING=hello\nUNSET_2=${NO_SUCH_VARIABLE_2}\n")
	if err != nil {
		t.Fatal(err)
	}
	s, dir := &p.Service, filepath.Dir(p.Files[0])
	if s.Image != "web:1.4" || s.User != "7" || s.Settings.StopSignal != "SIGINT" || s.Env["A"] != "b" || s.Env["GREETING"] != "hello" || !slices.Equal(s.Args, []string{"serve", "--at", "${port}"}) {
		t.Errorf("service %+v", s)
	}
	if s.CPU != 0.25 || s.Memory != 64<<20 || s.PIDs != 50 || !slices.Equal(s.Ports, []int{80}) {
		t.Errorf("limits %v %v %v, ports %v", s.CPU, s.Memory, s.PIDs, s.Ports)
	}
	if want := []string{dir + ":/src:ro", "/cache", dir + "/web.env:/run/secrets/key:ro"}; !slices.Equal(s.Volumes, want) {
		t.Errorf("volumes %q, want %q", s.Volumes, want)
	}
	c := &s.Settings
	if !slices.Equal(c.Volumes, []string{"files:/files"}) || c.Tmpfs["/tmp"] != "size=1048576" || c.Ulimits["nofile"] != [2]int64{10, 20} || !slices.Equal(c.ExtraHosts, []string{"old:10.0.0.1"}) {
		t.Errorf("settings %+v", c)
	}
	var order []string
	for _, need := range p.Needs {
		order = append(order, need.Name)
	}
	if !slices.Equal(order, []string{"built", "db", "setup"}) {
		t.Fatalf("order %q", order)
	}
	built, db, setup := &p.Needs[0], &p.Needs[1], &p.Needs[2]
	if !built.Built || built.Image != "shop-built" || built.Settings.Until != platform.Started {
		t.Errorf("built %+v", built)
	}
	if db.Settings.Until != platform.Healthy || db.Timeout != 70*time.Second || db.Settings.HealthTimeout != 3*time.Second ||
		!slices.Equal(db.Settings.Health, []string{"/bin/sh", "-c", "check || exit 1"}) || !slices.Equal(db.Settings.Names, []string{"database", "db", "the-db"}) {
		t.Errorf("db %+v", db)
	}
	if setup.Settings.Until != platform.Completed || len(p.Running()) != 2 {
		t.Errorf("setup %+v, %d run on", setup, len(p.Running()))
	}
	if len(p.Notes) != 2 || !strings.Contains(p.Notes[0], "NO_SUCH_VARIABLE_2") || p.Notes[1] != "Not started, because web does not depend on it: other." {
		t.Errorf("notes %q", p.Notes)
	}
}

// A link starts what it names, which the others reach by its alias too. What of the networks
// has no effect is noted.
func TestLinksAndNetworks(t *testing.T) {
	p, err := read(t, "web", `
services:
  web: {image: web, links: ["db:database"], networks: [edge, back], deploy: {replicas: 2}}
  db: {image: db, networks: {back: {ipv4_address: 172.28.0.5}}}
networks: {edge: {external: true}, back: {ipam: {config: [{subnet: 172.28.0.0/16}]}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Needs) != 1 || !slices.Equal(p.Needs[0].Settings.Names, []string{"database", "db"}) {
		t.Errorf("needs %+v", p.Needs)
	}
	want := []string{"networks.ipv4_address of db has no effect here.", "The network edge of web is external: what others run in it is not reached.", "deploy.replicas of web has no effect here."}
	if !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestALaterFileOverrides(t *testing.T) {
	dir := folder(t, "a.yaml", "services: {web: {image: web, network_mode: host, cpus: 1}}", "b.yaml", "services: {web: {network_mode: !reset null, cpus: 0.5}}")
	p, err := Read(t.Context(), []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")}, "")
	if err != nil || p.Service.CPU != 0.5 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestNamesOfUnits(t *testing.T) {
	for name, want := range map[string]string{"web": "web", "Web_1.api": "web-1-api", "old": "old-service", "request-only": "request-only-service", "_": "service"} {
		if got := unitName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
