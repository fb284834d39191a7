package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// samples loads the images of the sample services on Node.js and Bun into the cluster.
var samples = sync.OnceValue(func() error {
	return run(filepath.Join("..", ".."), os.Environ(), "test/cluster/samples.sh", "--import")
})

// short are settings with which a published experiment takes about a minute on a node
// with two CPUs: 2 replicas and 20 agents as published, smaller limits, and less time.
var short = strings.Fields("--set limits.cpu=300m --set limits.replicas=2 --set load.agents=20 --set measure.warmup=1s --set measure.repeats=1 " +
	"--set kubernetes.image=" + ownImage + " --set kubernetes.requests.cpu=20m --set kubernetes.agents.cpu=20m --set kubernetes.agents.memory=48Mi " +
	"--set kubernetes.conductor.cpu=50m --set kubernetes.conductor.memory=512Mi")

func TestThePublishedExperiments(t *testing.T) {
	for _, c := range []struct {
		name     string
		sets     string
		node     bool // with node agents
		services int
	}{
		{"cpu-limits-and-go", "measure.duration=6s vary.procs=[1,6] vary.requests=[null] services.go-changed-while-running.actions.0.at=2s", true, 3},
		{"go-vs-node", "load.rate.ramp.from=100 load.rate.ramp.to=400 load.rate.ramp.by=100 load.rate.ramp.each=3s measure.interval=1s", false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLaptopAt(t, map[bool]string{false: "restricted", true: "privileged"}[c.node]).allowed(t)
			if c.name == "go-vs-node" {
				if _, err := exec.LookPath("node"); err != nil {
					t.Skip("Node.js is missing, which its image needs; scripts/setup-tests.sh installs it")
				}
				if err := samples(); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"run", c.name, "--out", "record"}, short...)
			for _, set := range strings.Fields(c.sets) {
				args = append(args, "--set", set)
			}
			if c.node {
				args = append(args, "--node-agent")
			}
			began := time.Now()
			called := l.start(t, args...).ends(t, 0)
			t.Logf("%s took %v\n%s", c.name, time.Since(began).Round(time.Second), &called.out)
			r := l.record(t, "record")
			agents, replicas := map[int]map[int]bool{}, map[int]map[int]bool{}
			windows, hosts := 0, 0
			for f, err := range r.Frames() {
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case f.Client != nil && f.Client.Good > 0:
					add(agents, f.Trial, *f.Agent)
				case f.Server != nil && f.Server.Periods != nil && *f.Server.Periods > 0:
					add(replicas, f.Trial, f.Index)
				case f.Host != nil:
					hosts++
				}
			}
			for w, err := range r.Windows() {
				if err != nil {
					t.Fatal(err)
				}
				if w.Kind == signals.Throttled {
					windows++
				}
			}
			seen := map[string]bool{}
			for _, trial := range r.Trials {
				if trial.Outcome != record.Done && trial.Outcome != record.Disturbed {
					t.Errorf("trial %d: %s %s", trial.Trial, trial.Outcome, trial.Why)
					continue
				}
				seen[r.Run.Experiment.Cells[trial.Cell].Service.Name] = true
				if len(agents[trial.Trial]) != 20 || len(replicas[trial.Trial]) != 2 {
					t.Errorf("trial %d: %d agents had answers, of %d replicas periods were counted; want 20 and 2", trial.Trial, len(agents[trial.Trial]), len(replicas[trial.Trial]))
				}
			}
			if len(seen) != c.services {
				t.Errorf("services %v, want %d", seen, c.services)
			}
			if c.node != (windows > 0) || c.node != (hosts > 0) {
				t.Errorf("%d windows, %d frames of the node; with node agents: %v", windows, hosts, c.node)
			}
			for _, cell := range summaryOf(t, filepath.Join(l.dir, "record")).Cells {
				if cell.Requests == 0 || cell.CPU.Cores == nil || *cell.CPU.Cores <= 0 {
					t.Errorf("cell %d: %d requests, CPU %+v", cell.Cell, cell.Requests, cell.CPU)
				}
			}
			l.empty(t, 10*time.Second)
		})
	}
}

func add(to map[int]map[int]bool, trial, index int) {
	if to[trial] == nil {
		to[trial] = map[int]bool{}
	}
	to[trial][index] = true
}

// search is a search that fits on a node with two CPUs.
const search = `
name: search
services: {go: {workload: go, env: {GOMAXPROCS: 1}}}
limits: {cpu: 200m, memory: 128Mi}
load: {request: {path: /isPrime/666667}, find: breaking-point, agents: 2}
objective: {p99: 500ms, availability: 99.9}
measure: {warmup: 1s, duration: 90s, repeats: 1}
kubernetes:
  image: ` + ownImage + `
  requests: {cpu: 20m}
  agents: {cpu: 20m, memory: 64Mi}
  conductor: {cpu: 20m, memory: 256Mi}
`

// A search ends with a load and an interval, or with a reason; and the record agrees
// with the kernel's counters.
func TestASearch(t *testing.T) {
	l := newLaptopAt(t, "privileged").allowed(t)
	if err := os.WriteFile(filepath.Join(l.dir, "search.yaml"), []byte(search), 0o644); err != nil {
		t.Fatal(err)
	}
	w := watchServices(t, l.api)
	c := l.start(t, "run", "search.yaml", "--out", "record", "--node-agent").ends(t, 0, 98, 99) // 98: others took CPU, so that it has no answer
	t.Logf("%s", &c.out)
	w.agrees(t, l.record(t, "record"))
	b := summaryOf(t, filepath.Join(l.dir, "record")).Cells[0].Breaking
	switch {
	case b == nil:
		t.Error("the search has no result")
	case b.Load() == nil && b.Reason == "":
		t.Errorf("neither a load nor a reason: %+v", b)
	}
	l.empty(t, 10*time.Second)
}
