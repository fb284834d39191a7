package file_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// parse reads a file that must be right. It lies in the folder "dir".
func parse(t testing.TB, text string, sets ...string) *experiment.Experiment {
	t.Helper()
	e, err := file.Parse(filepath.Join("dir", "x.yaml"), []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func texts(values ...string) []*string {
	var all []*string
	for _, v := range values {
		all = append(all, &v)
	}
	return all
}

// everything uses every key at least once, but for load.find (see searching).
const everything = `
name: everything
about: |
  Two lines
  of ${text} that stay as they are.
services:
  api:
    command: [./server, --port, "${port}", --workers, "${workers}", --db, "${db.address}", "$${HOME}"]
    dir: bin
    env: {GOMAXPROCS: "${workers}", DB_PORT: "${db.port}", MODE: fast, LEVEL: 010, DEBUG: true, GOGC: null}
    ready: /healthz
    ready_timeout: 1m
    dependencies:
      - name: cache
        url: redis://10.0.0.7:6379
      - name: db
        command: [./db, --listen, ":${port}", --cache, "${cache.url}"]
        dir: /srv/db
        env: {SIZE: "${workers}", TZ: null}
        ready: /ready
        ready_timeout: 90s
        limits: {cpu: "2", memory: 1Gi}
    actions:
      - at: 5s
        request: {method: POST, path: "/workers/${workers}", headers: {X-Why: test}, body: "n=${workers}"}
  box:
    image: registry.example/box:1
    port: 8080
    metrics: {path: /stats, dependency: db_wait_seconds}
    limits: {cpu: null, burst: null, memory: "6${workers}Mi", replicas: 1}
  grows:
    image: registry.example/grows:1
    env: {GOMAXPROCS: "${limits.cpu}", LIMIT: "${limits.memory}"}
    limits: {replicas: null}
    autoscale: {min: 2, max: 10, cpu: 60%}
limits: {cpu: 1500m, memory: 256Mi, burst: 250m, period: 50ms, cpuset: 0-1, replicas: 2}
vary:
  workers: [2, 4]
load:
  request:
    method: PUT
    path: /items/{{uuid}}?limit=10
    headers: {Accept: application/json, X-Count: 5}
    body: '{"id": "{{uuid}}"}'
  rate: {stages: [{duration: 0s, target: 100}, {duration: 10s, target: 100}, {duration: 1m30s, target: 250.5}]}
  spacing: even
  agents: 2
  threads: 3
  connections: 64
  timeout: 500ms
measure: {warmup: 1s, repeats: 3, interval: 500ms}
objective: {p999: 250ms, availability: 99.95}
profile: true
kubernetes:
  namespace: tests
  labels: {team: a, example.com/cost-centre: 17, gone: null}
  annotations: {sidecar.istio.io/inject: false, note: "two words"}
  tolerations:
    - {key: dedicated, value: load, effect: NoExecute, seconds: 60}
    - {operator: Exists}
  node_selector: {disk: ssd}
  pull_secrets: [registry, null]
  requests: {cpu: 0, memory: 32Mi}
  agents: {cpu: "1", memory: 64Mi, node_selector: {pool: load}}
  conductor: {cpu: 100m, memory: 1Gi, node_selector: {pool: rest}}
  image: registry.example/millicore:2
  images: {node: registry.example/node, bun: registry.example/bun:3}
  keep: 10m
  node_agent: true
  security: baseline
  kubelet_certificate: any
  record_claim: records.a
`

func TestEveryKeyArrives(t *testing.T) {
	limits := experiment.Limits{
		CPUMillis: 1500, BurstMillis: 250, Period: 50 * time.Millisecond,
		Memory: 256 << 20, CPUSet: "0-1", Replicas: 2,
	}
	load := experiment.Load{
		Request: experiment.Request{
			Method:  "PUT",
			Path:    "/items/{{uuid}}?limit=10",
			Headers: map[string]string{"Accept": "application/json", "X-Count": "5"},
			Body:    `{"id": "{{uuid}}"}`,
		},
		Rate: &experiment.Target{Stages: []experiment.Stage{
			{Duration: 0, Target: 100},
			{Duration: 10 * time.Second, Target: 100},
			{Duration: 90 * time.Second, Target: 250.5},
		}},
		Even: true, Agents: 2, Threads: 3, Connections: 64, Timeout: 500 * time.Millisecond,
	}
	api := func(index int, workers string) experiment.Cell {
		return experiment.Cell{
			Index:   index,
			Vary:    []experiment.Setting{{Name: "workers", Value: &workers}},
			Service: apiService(workers),
			Limits:  limits,
			Load:    load,
		}
	}
	box := func(index int, workers string, memory int64) experiment.Cell {
		return experiment.Cell{
			Index: index,
			Vary:  []experiment.Setting{{Name: "workers", Value: &workers}},
			Service: experiment.Service{
				Name: "box", Image: "registry.example/box:1", Port: 8080,
				Ready:   experiment.Ready{Timeout: 30 * time.Second},
				Metrics: &experiment.Metrics{Path: "/stats", Dependency: "db_wait_seconds"},
			},
			Limits: experiment.Limits{Period: 50 * time.Millisecond, Memory: memory, CPUSet: "0-1", Replicas: 1},
			Load:   load,
		}
	}
	grows := experiment.Cell{
		Index: 4,
		Service: experiment.Service{
			Name: "grows", Image: "registry.example/grows:1",
			Env:       map[string]string{"GOMAXPROCS": "${limits.cpu}", "LIMIT": "${limits.memory}"},
			Ready:     experiment.Ready{Timeout: 30 * time.Second},
			Autoscale: &experiment.Autoscale{Min: 2, Max: 10, CPUPercent: 60},
		},
		Limits: limits,
		Load:   load,
	}
	want := &experiment.Experiment{
		Name:  "everything",
		About: "Two lines\nof ${text} that stay as they are.\n",
		Vary:  []experiment.Axis{{Name: "workers", Values: texts("2", "4")}},
		Cells: []experiment.Cell{api(0, "2"), api(1, "4"), box(2, "2", 62<<20), box(3, "4", 64<<20), grows},
		Measure: experiment.Measure{
			Warmup: time.Second, Duration: 20 * time.Second, Repeats: 3, Interval: 500 * time.Millisecond,
		},
		Objective:  &experiment.Objective{Quantile: "p999", Latency: 250 * time.Millisecond, Availability: 99.95},
		Profile:    true,
		Kubernetes: everyKubernetes(),
		Source:     everything,
	}
	e := parse(t, everything)
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("experiment (-want +got):\n%s", diff)
	}
	if got := e.Measure.Measured(&e.Cells[0]); got != 100*time.Second {
		t.Errorf("the stages last %v, want 1m40s", got)
	}
}

// everyKubernetes is the section of everything.
func everyKubernetes() experiment.Kubernetes {
	minute, none, memory := int64(60), int64(0), int64(32<<20)
	return experiment.Kubernetes{
		Namespace:   "tests",
		Labels:      map[string]string{"team": "a", "example.com/cost-centre": "17"},
		Annotations: map[string]string{"sidecar.istio.io/inject": "false", "note": "two words"},
		Tolerations: []experiment.Toleration{
			{Key: "dedicated", Operator: "Equal", Value: "load", Effect: "NoExecute", Seconds: &minute},
			{Operator: "Exists"},
		},
		NodeSelector:       map[string]string{"disk": "ssd"},
		PullSecrets:        []string{"registry"},
		Requests:           experiment.Requests{CPUMillis: &none, MemoryBytes: &memory},
		Agents:             experiment.Resources{CPUMillis: 1000, MemoryBytes: 64 << 20, NodeSelector: map[string]string{"pool": "load"}},
		Conductor:          experiment.Resources{CPUMillis: 100, MemoryBytes: 1 << 30, NodeSelector: map[string]string{"pool": "rest"}},
		Image:              "registry.example/millicore:2",
		Images:             map[string]string{"node": "registry.example/node", "bun": "registry.example/bun:3"},
		Keep:               10 * time.Minute,
		NodeAgent:          true,
		Security:           experiment.SecurityBaseline,
		KubeletCertificate: experiment.CertificateAny,
		RecordClaim:        "records.a",
	}
}

// apiService is the first service of everything. What the platform replaces
// later still stands there, $${ too.
func apiService(workers string) experiment.Service {
	return experiment.Service{
		Name:    "api",
		Command: []string{"./server", "--port", "${port}", "--workers", workers, "--db", "${db.address}", "$${HOME}"},
		Dir:     filepath.Join("dir", "bin"),
		Env: map[string]string{
			"GOMAXPROCS": workers, "DB_PORT": "${db.port}", "MODE": "fast", "LEVEL": "010", "DEBUG": "true",
		},
		Unset: []string{"GOGC"},
		Ready: experiment.Ready{Path: "/healthz", Timeout: time.Minute},
		Dependencies: []experiment.Dependency{{
			Name:   "cache",
			URL:    "redis://10.0.0.7:6379",
			Ready:  experiment.Ready{Timeout: 30 * time.Second},
			Limits: experiment.Limits{Period: 100 * time.Millisecond, Replicas: 1},
		}, {
			Name:    "db",
			Command: []string{"./db", "--listen", ":${port}", "--cache", "${cache.url}"},
			Dir:     "/srv/db",
			Env:     map[string]string{"SIZE": workers},
			Unset:   []string{"TZ"},
			Ready:   experiment.Ready{Path: "/ready", Timeout: 90 * time.Second},
			Limits: experiment.Limits{
				CPUMillis: 2000, Period: 100 * time.Millisecond, Memory: 1 << 30, Replicas: 1,
			},
		}},
		Actions: []experiment.Action{{At: 5 * time.Second, Request: experiment.Request{
			Method: "POST", Path: "/workers/" + workers,
			Headers: map[string]string{"X-Why": "test"}, Body: "n=" + workers,
		}}},
	}
}

const least = `
name: least
services: {server: {command: [./server]}}
load: {request: {path: /}, users: 1}
`

func TestAbsentKeysHaveTheirDefaults(t *testing.T) {
	want := &experiment.Experiment{
		Name: "least",
		Cells: []experiment.Cell{{
			Service: experiment.Service{
				Name: "server", Command: []string{"./server"}, Dir: "dir",
				Ready: experiment.Ready{Timeout: 30 * time.Second},
			},
			Limits: experiment.Limits{Period: 100 * time.Millisecond, Replicas: 1},
			Load: experiment.Load{
				Request: experiment.Request{Method: "GET", Path: "/"},
				Users:   &experiment.Target{Value: 1},
				Agents:  1, Threads: 1, Timeout: 2 * time.Second,
			},
		}},
		Measure: experiment.Measure{
			Warmup: 5 * time.Second, Duration: 20 * time.Second, Repeats: 6, Interval: time.Second,
		},
		Kubernetes: experiment.Kubernetes{
			Agents:    experiment.Resources{CPUMillis: 250, MemoryBytes: 256 << 20},
			Conductor: experiment.Resources{CPUMillis: 500, MemoryBytes: 512 << 20},
			Keep:      time.Hour, Security: "restricted", KubeletCertificate: "verify",
		},
		Source: least,
	}
	if diff := cmp.Diff(want, parse(t, least)); diff != "" {
		t.Errorf("experiment (-want +got):\n%s", diff)
	}
	nulls := `
limits: {cpu: null, memory: null, burst: null, period: null, cpuset: null, replicas: null}
vary:
profile:
measure: {warmup: null, duration: null, repeats: null, interval: null}
objective:
kubernetes: {agents: null, requests: {cpu: null}, images: {node: null}, keep: null, tolerations: null}
`
	ignored := cmpopts.IgnoreFields(experiment.Experiment{}, "Source", "Sets")
	sets := []string{"services.server.port=null", "services.server.metrics=null", "services.server.limits=null", "services.server.autoscale=null", "load.find=null", "load.request.auth=null", "load.request.check=null"}
	if diff := cmp.Diff(want, parse(t, least+nulls, sets...), ignored); diff != "" {
		t.Errorf("the same with nulls (-want +got):\n%s", diff)
	}
}

func TestANullLeavesUnsetWhatItsNameStandsFor(t *testing.T) {
	e := parse(t, `
name: nulls
services:
  s:
    command: [./server, "${flag}", last]
    env: {GOMAXPROCS: "${flag}"}
    actions: [{at: "${at}", request: {path: /change}}]
limits: {cpu: "${cpu}", burst: "${cpu}"}
vary: {flag: [null, --fast], at: [null, 5s], cpu: [null, 500m]}
load: {request: {path: /, body: "${flag}"}, users: 5, timeout: "${at}"}
`)
	type cell struct {
		Label   string
		Command []string
		Unset   []string
		Actions int
		Limits  [2]int64
		Timeout time.Duration
		Body    string
	}
	var got []cell
	for _, c := range e.Cells {
		got = append(got, cell{
			c.Label(), c.Service.Command, c.Service.Unset, len(c.Service.Actions),
			[2]int64{c.Limits.CPUMillis, c.Limits.BurstMillis}, c.Load.Timeout, c.Load.Request.Body,
		})
	}
	without, with := []string{"./server", "last"}, []string{"./server", "--fast", "last"}
	unset := []string{"GOMAXPROCS"}
	want := []cell{
		{"s flag=unset at=unset cpu=unset", without, unset, 0, [2]int64{}, 2 * time.Second, ""},
		{"s flag=unset at=unset cpu=500m", without, unset, 0, [2]int64{500, 500}, 2 * time.Second, ""},
		{"s flag=unset at=5s cpu=unset", without, unset, 1, [2]int64{}, 5 * time.Second, ""},
		{"s flag=unset at=5s cpu=500m", without, unset, 1, [2]int64{500, 500}, 5 * time.Second, ""},
		{"s flag=--fast at=unset cpu=unset", with, nil, 0, [2]int64{}, 2 * time.Second, "--fast"},
		{"s flag=--fast at=unset cpu=500m", with, nil, 0, [2]int64{500, 500}, 2 * time.Second, "--fast"},
		{"s flag=--fast at=5s cpu=unset", with, nil, 1, [2]int64{}, 5 * time.Second, "--fast"},
		{"s flag=--fast at=5s cpu=500m", with, nil, 1, [2]int64{500, 500}, 5 * time.Second, "--fast"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestAServiceGetsCellsOnlyOfTheNamesItUses(t *testing.T) {
	e := parse(t, `
name: used
services:
  uses-a: {command: [./server], env: {A: "${a}"}}
  uses-b-in-a-dependency: {command: [./server], dependencies: [{name: db, command: [./db, "${b}"]}]}
  uses-none: {command: [./server]}
vary: {a: [1, 2], b: [x, y], users: [5, 6]}
load: {request: {path: /}, users: "${users}"}
`)
	var got []string
	for i, c := range e.Cells {
		if c.Index != i {
			t.Errorf("cell %d has the index %d", i, c.Index)
		}
		got = append(got, c.Label())
	}
	want := []string{
		"uses-a a=1 users=5", "uses-a a=1 users=6", "uses-a a=2 users=5", "uses-a a=2 users=6",
		"uses-b-in-a-dependency b=x users=5", "uses-b-in-a-dependency b=x users=6",
		"uses-b-in-a-dependency b=y users=5", "uses-b-in-a-dependency b=y users=6",
		"uses-none users=5", "uses-none users=6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestAnythingUnderLimitsAndLoadCanBeVaried(t *testing.T) {
	for _, c := range []struct {
		field, value string
		got          func(experiment.Cell) any
		want         any
	}{
		{"limits: {cpu: 2, burst: '${v}'}", "500m", func(c experiment.Cell) any { return c.Limits.BurstMillis }, int64(500)},
		{"limits: {memory: '${v}'}", "64Mi", func(c experiment.Cell) any { return c.Limits.Memory }, int64(64 << 20)},
		{"limits: {memory: '${v}Mi'}", "64", func(c experiment.Cell) any { return c.Limits.Memory }, int64(64 << 20)},
		{"limits: {period: '${v}'}", "20ms", func(c experiment.Cell) any { return c.Limits.Period }, 20 * time.Millisecond},
		{"limits: {cpuset: '${v}'}", "0,2", func(c experiment.Cell) any { return c.Limits.CPUSet }, "0,2"},
		{"limits: {replicas: '${v}'}", "3", func(c experiment.Cell) any { return c.Limits.Replicas }, 3},
		{"load: {users: 9, request: {path: '/a/${v}/b'}}", "x", func(c experiment.Cell) any { return c.Load.Request.Path }, "/a/x/b"},
		{"load: {users: 9, request: {path: /, method: '${v}'}}", "HEAD", func(c experiment.Cell) any { return c.Load.Request.Method }, "HEAD"},
		{"load: {users: 9, request: {path: /, headers: {A: '${v}'}}}", "x", func(c experiment.Cell) any { return c.Load.Request.Headers["A"] }, "x"},
		{"load: {users: '${v}', request: {path: /}}", "7", func(c experiment.Cell) any { return c.Load.Users.Value }, 7.0},
		{"load: {rate: '${v}', request: {path: /}}", "7.5", func(c experiment.Cell) any { return c.Load.Rate.Value }, 7.5},
		{"load: {rate: {stages: [{duration: 9s, target: '${v}'}]}, request: {path: /}}", "8", func(c experiment.Cell) any { return c.Load.Rate.Highest() }, 8.0},
		{"load: {rate: {stages: [{duration: '${v}', target: 5}]}, request: {path: /}}", "8s", func(c experiment.Cell) any { return c.Load.Rate.Length() }, 8 * time.Second},
		{"load: {users: 9, request: {path: /}, requests: '${v}'}", "90", func(c experiment.Cell) any { return c.Load.Requests }, int64(90)},
		{"load: {rate: 9, request: {path: /}, spacing: '${v}'}", "even", func(c experiment.Cell) any { return c.Load.Even }, true},
		{"load: {users: 9, request: {path: /}, agents: '${v}'}", "4", func(c experiment.Cell) any { return c.Load.Agents }, 4},
		{"load: {users: 9, request: {path: /}, threads: '${v}'}", "2", func(c experiment.Cell) any { return c.Load.Threads }, 2},
		{"load: {users: 9, request: {path: /}, connections: '${v}'}", "11", func(c experiment.Cell) any { return c.Load.Connections }, 11},
		{"load: {users: 9, request: {path: /}, timeout: '${v}'}", "9s", func(c experiment.Cell) any { return c.Load.Timeout }, 9 * time.Second},
	} {
		t.Run(c.field, func(t *testing.T) {
			text := "name: x\nservices: {s: {command: [./server]}}\nvary: {v: ['" + c.value + "']}\n" + c.field + "\n"
			if !strings.Contains(c.field, "load:") {
				text += "load: {users: 9, request: {path: /}}\n"
			}
			if diff := cmp.Diff(c.want, c.got(parse(t, text).Cells[0])); diff != "" {
				t.Errorf("value in the cell (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHowLongATrialIsMeasured(t *testing.T) {
	for _, c := range []struct {
		load string
		want time.Duration
	}{
		{"users: 5", 8 * time.Second},
		{"rate: 5", 8 * time.Second},
		{"users: 5, requests: 200", 0},
		{"users: 5, requests: null", 8 * time.Second},
	} {
		t.Run(c.load, func(t *testing.T) {
			e := parse(t, "name: x\nservices: {s: {command: [./server]}}\nmeasure: {duration: 8s}\nload: {request: {path: /}, "+c.load+"}\n")
			if got := e.Measure.Measured(&e.Cells[0]); got != c.want {
				t.Errorf("measured for %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheSameYAMLInOtherDress(t *testing.T) {
	want := parse(t, least)
	for name, text := range map[string]string{
		"CRLF":            strings.ReplaceAll(least, "\n", "\r\n"),
		"byte order mark": "\ufeff" + least,
		"document marks":  "---" + least + "---\n",
		"anchors":         "name: least\nservices: {server: {command: &c [./server]}}\nload: &l {request: {path: /}, users: 1}\n",
		"block style":     "name: least\nservices:\n  server:\n    command:\n    - ./server\nload:\n  users: '1'\n  request:\n    path: \"/\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			ignored := cmpopts.IgnoreFields(experiment.Experiment{}, "Source")
			if diff := cmp.Diff(want, parse(t, text), ignored); diff != "" {
				t.Errorf("experiment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnchorStandsForItsValue(t *testing.T) {
	e := parse(t, `
name: anchors
services:
  a: {command: &c [./server, "${port}"], env: &e {A: 1}}
  b: {command: *c, env: *e}
load: {request: {path: /}, users: 1}
`, "services.b.env.A=2")
	if diff := cmp.Diff(e.Cells[0].Service.Command, e.Cells[1].Service.Command); diff != "" {
		t.Errorf("commands differ:\n%s", diff)
	}
	if a, b := e.Cells[0].Service.Env["A"], e.Cells[1].Service.Env["A"]; a != "1" || b != "2" {
		t.Errorf("--set of b's copy gave a=%s b=%s, want 1 and 2", a, b)
	}
}
