package kubernetes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/test/chaos"
	"github.com/millicore/millicore/test/testkit"
)

// TestCampaign runs attempts of package chaos in the cluster: a run each, in a namespace of
// its own, with a fault of one of its parts.
func TestCampaign(t *testing.T) {
	n, first := chaos.Size(t, 0, 32)
	need(t)
	var results []chaos.Result
	for i := range uint64(n) {
		a := &attempt{Result: chaos.Result{Plan: chaos.Draw("kubernetes", first+i)}}
		passed := t.Run(fmt.Sprintf("seed=%d", a.Seed), func(t *testing.T) {
			t.Logf("%v", &a.Plan)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%v\nrepeat it with: %s", &a.Plan, a.Repeat())
				}
			})
			a.inNamespace(t)
		})
		a.Failed = !passed
		t.Log(a.Logged())
		results = append(results, a.Result)
	}
	t.Logf("seeds %d to %d:\n%s", first, first+uint64(n)-1, chaos.Table(results))
}

// attempt is a run with a fault, and what follows it.
type attempt struct {
	chaos.Result
	l   *laptop
	box *chaos.Box
	run string // its name; "": the cluster has none yet
}

// interval is that of the experiments, the default.
const interval = time.Second

const struckExperiment = `
name: chaos
services:
  service: {image: ` + serverImage + `, ready: /ok DEPENDENCIES}
limits: {cpu: 300m, memory: 128Mi}
load: {request: {path: "/sleep?ms=5"}, users: 4, timeout: 1s}
measure: {warmup: 0s, duration: DURATION, repeats: 1}
kubernetes:
  image: ` + ownImage + `
  requests: {cpu: 20m}
  agents: {cpu: 20m, memory: 64Mi}
  conductor: {cpu: 20m, memory: 256Mi}
`

func (a *attempt) inNamespace(t *testing.T) {
	level := "restricted"
	if a.Target == chaos.NodeAgent {
		level = "privileged"
	}
	a.l = newLaptopAt(t, level).allowed(t)
	a.box = chaos.NewBox(t, filepath.Dir(a.l.program), &a.Plan)
	dependencies := ""
	if a.Database {
		dependencies = ", dependencies: [{name: database, image: " + serverImage + ", ready: /ok, limits: {cpu: 200m, memory: 64Mi}}]"
	}
	// A kubelet is read every few seconds.
	text := strings.NewReplacer("DEPENDENCIES", dependencies, "DURATION", (a.Load + 4*time.Second).String()).Replace(struckExperiment)
	if err := os.WriteFile(a.box.Seen(a.file()), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	files := 0
	if a.Fault == chaos.FewFiles {
		files = a.Files
	}
	client := a.start(t, files, "run", a.file(), "--out", a.record("first"))
	struck := a.strike(t, client)
	a.ends(t, client)
	if err := a.box.Free(); err != nil {
		t.Fatal(err)
	}
	a.fetch(t)
	a.readable(t, struck)
	a.clean(t)
	next := a.start(t, 0, "run", a.file(), "--out", a.record("next"), "--set", "measure.duration=2s")
	next.Ends(t, longest)
	if r, err := record.Open(a.box.Seen(a.record("next"))); next.ProcessState.ExitCode() != 0 || err != nil || !r.Finished {
		t.Errorf("the next run ended with %v, %v:\n%s", next.ProcessState, err, &next.Err)
	}
	a.l.empty(t, time.Minute)
}

func (a *attempt) file() string              { return filepath.Join(a.box.Work, "experiment.yaml") }
func (a *attempt) record(name string) string { return filepath.Join(a.box.Work, name) }

func (a *attempt) start(t *testing.T, files int, args ...string) *testkit.Background {
	t.Helper()
	args = append(args, "--on", "kubernetes", "--kubeconfig", a.l.kubeconfig, "--namespace", a.l.api.Namespace)
	if args[0] == "run" && a.Target == chaos.NodeAgent {
		args = append(args, "--node-agent")
	}
	return testkit.InBackground(t, a.box.Command(files, args...))
}

// strike does what is planned when it is due. It returns when the measurement broke off;
// the zero time: it did not.
func (a *attempt) strike(t *testing.T, client *testkit.Background) time.Time {
	t.Helper()
	on := client.Process
	if a.Target != chaos.Client && a.Target != chaos.Record {
		on = nil
		testkit.Within(t, longest, fmt.Sprintf("the run has its %s, or ended", a.Target), func() bool {
			on = a.find(t)
			return on != nil || client.Ended()
		})
	}
	due := time.NewTimer(a.After)
	defer due.Stop()
	select {
	case <-due.C:
	case <-client.Over:
	}
	if on == nil || client.Ended() {
		a.Late = true
		return time.Time{}
	}
	at := time.Now()
	if err := a.Act(a.box, on); errors.Is(err, os.ErrProcessDone) {
		a.Late = true
		return time.Time{}
	} else if err != nil {
		t.Fatal(err)
	}
	if a.Target == chaos.Conductor && a.Fault != chaos.Pause {
		return at
	}
	return time.Time{}
}

// name is the name of the namespace's only run; "": there is none.
func (a *attempt) name(t *testing.T) string {
	t.Helper()
	all, err := kube.ConfigMaps.List(t.Context(), a.l.api, kube.LabelRun)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0].Labels[kube.LabelRun]
}

// find returns the process of the target; nil: it does not run yet.
func (a *attempt) find(t *testing.T) *os.Process {
	t.Helper()
	part := map[chaos.Target]string{chaos.Conductor: kube.PartConductor, chaos.Agent: kube.PartAgent, chaos.Service: kube.PartService,
		chaos.Database: kube.PartDependency, chaos.NodeAgent: kube.PartNode}[a.Target]
	if a.run = a.name(t); a.run == "" {
		return nil
	}
	pods, err := kube.Pods.List(t.Context(), a.l.api, launch.Selector(a.run, part))
	if err != nil || len(pods) != 1 || len(pods[0].Status.ContainerStatuses) != 1 {
		return nil
	}
	_, id, _ := strings.Cut(pods[0].Status.ContainerStatuses[0].ContainerID, "://")
	if id == "" {
		return nil
	}
	pid := processIn(id)
	if pid == 0 {
		return nil
	}
	found, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	return found
}

// ends waits for the end of the client, and checks how it ended.
func (a *attempt) ends(t *testing.T, c *testkit.Background) {
	t.Helper()
	c.Ends(t, longest)
	allowed := []int{0, 1, 98, 99}
	if a.Target == chaos.Client && !a.Late {
		switch a.Fault {
		case chaos.Kill, chaos.Stop:
			allowed = []int{-1}
		case chaos.Terminate, chaos.Interrupt:
			allowed = []int{130, 0}
			if a.After < time.Second { // before it handles signals
				allowed = append(allowed, -1)
			}
		}
	}
	if a.Target == chaos.Conductor {
		allowed = append(allowed, 130)
	}
	if !slices.Contains(allowed, c.ProcessState.ExitCode()) {
		t.Errorf("the client ended with %v, want one of %v:\n%s", c.ProcessState, allowed, &c.Err)
	}
	if strings.Contains(c.Err.String(), "goroutine ") {
		t.Errorf("the client ended with a panic:\n%s", &c.Err)
	}
	t.Logf("it ended with %v:\n%s", c.ProcessState, &c.Err)
}

// fetch fetches the record of a run that its client left in the cluster.
func (a *attempt) fetch(t *testing.T) {
	t.Helper()
	if a.run = a.name(t); a.run == "" {
		return
	}
	if err := os.RemoveAll(a.box.Seen(a.record("first"))); err != nil { // what a client that was killed has of it
		t.Fatal(err)
	}
	c := a.start(t, 0, "run", "--attach", a.run, "--out", a.record("first"))
	c.Ends(t, longest)
	t.Logf("fetched with %v:\n%s", c.ProcessState, &c.Err)
}

// readable checks that `millicore report` reads the record, and counts its intervals.
func (a *attempt) readable(t *testing.T, struck time.Time) {
	t.Helper()
	dir := a.record("first")
	if _, err := os.Stat(filepath.Join(a.box.Seen(dir), record.RunFile)); err != nil {
		if a.Target != chaos.Client && a.Fault != chaos.Full {
			t.Errorf("there is no record: %v", err)
		}
		return
	}
	var out, errs bytes.Buffer
	report := a.box.Command(0, "report", dir, "--json")
	report.Stdout, report.Stderr = &out, &errs
	err := report.Run()
	var s summary.Summary
	if jsonErr := json.Unmarshal(out.Bytes(), &s); err != nil || jsonErr != nil {
		t.Errorf("the record cannot be read: %v, %v:\n%s", err, jsonErr, &errs)
		return
	}
	r, err := record.Open(a.box.Seen(dir))
	if err != nil {
		t.Fatal(err)
	}
	if a.Intervals, err = chaos.Count(r.Frames(), interval, int((a.Load+4*time.Second)/interval), struck, nil); err != nil {
		t.Error(err)
	}
	if a.Intervals.Lost > 1 {
		t.Errorf("the record lost %d intervals of %d", a.Intervals.Lost, a.Intervals.Lost+a.Intervals.Kept)
	}
	t.Logf("%d intervals, %d lost, %d trials", a.Intervals.Kept, a.Intervals.Lost, len(r.Trials))
}

// clean runs `millicore clean`, after which nothing may be left.
func (a *attempt) clean(t *testing.T) {
	t.Helper()
	before, err := left(a.l.api, kube.LabelManager+"="+kube.Manager)
	if err != nil {
		t.Fatal(err)
	}
	a.Left = len(before)
	args := []string{"clean"}
	if name := a.name(t); name != "" {
		args = append(args, "--run", name)
	}
	c := a.start(t, 0, args...)
	c.Ends(t, longest)
	if c.ProcessState.ExitCode() != 0 {
		t.Errorf("`millicore clean`: %v\n%s", c.ProcessState, &c.Err)
	}
	a.l.empty(t, time.Minute)
}
