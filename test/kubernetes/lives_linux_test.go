package kubernetes

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/lab/results"
)

// Failures during a run: each test removes something while the run is under load.

// podOf is the only pod of a part of a run, or the agent with an index.
func (l *laptop) podOf(t *testing.T, run, part, index string) *corev1.Pod {
	t.Helper()
	selector := launch.Selector(run, part)
	if index != "" {
		selector += ",batch.kubernetes.io/job-completion-index=" + index
	}
	pods, err := kube.Pods.List(t.Context(), l.api, selector)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods of %s, %v", len(pods), selector, err)
	}
	return &pods[0]
}

func TestAnAgentThatIsKilledUnderLoad(t *testing.T) {
	l := newLaptop(t).allowed(t)
	w := watchServices(t, l.api)
	c := l.start(t, "run", "small.yaml", "--out", "record", "--set", "vary.procs=[1]", "--set", "measure.duration=15s")
	run := l.run(t)
	w.loaded(t, 1)
	if err := processOf(t, l.podOf(t, run, kube.PartAgent, "1")).Kill(); err != nil {
		t.Fatal(err)
	}
	c.ends(t, 0)
	r := l.record(t, "record")
	if d := cmp.Diff([]int{1}, r.Trials[0].LostAgents); d != "" {
		t.Errorf("lost agents: %s\n%s", d, &c.err)
	}
	for _, cell := range summaryOf(t, l.dir+"/record").Cells {
		if cell.Requests == 0 || !strings.Contains(cell.Flags.Join(" "), "agent_lost") {
			t.Errorf("%d requests, flags %v; want figures with a flag", cell.Requests, cell.Flags)
		}
	}
	l.empty(t, 10*time.Second)
}

func summaryOf(t *testing.T, dir string) *summary.Summary {
	t.Helper()
	data, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	return data.Summary
}

// A conductor that dies during a run is restarted and resumes the record; its client
// waits for it.
func TestAConductorThatIsKilled(t *testing.T) {
	l := newLaptop(t).allowed(t)
	w := watchServices(t, l.api)
	c := l.start(t, "run", "small.yaml", "--out", "record")
	run := l.run(t)
	w.loaded(t, 2)
	if err := processOf(t, l.podOf(t, run, kube.PartConductor, "")).Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	c.ends(t, 0)
	if d := cmp.Diff([]record.Outcome{record.Done, record.Interrupted, record.Done}, quiet(l.outcomes(t, "record"))); d != "" {
		t.Errorf("%s\n%s", d, &c.err)
	}
	l.empty(t, 10*time.Second)
}

// quiet counts disturbed trials as done: other processes use this machine too.
func quiet(all []record.Outcome) []record.Outcome {
	for i := range all {
		if all[i] == record.Disturbed {
			all[i] = record.Done
		}
	}
	return all
}

// An eviction is no failure of the service: its trial is repeated.
func TestAServiceThatIsEvicted(t *testing.T) {
	l := newLaptop(t).allowed(t)
	w := watchServices(t, l.api)
	c := l.start(t, "run", "small.yaml", "--out", "record", "--set", "vary.procs=[1]", "--set", "measure.duration=15s")
	l.run(t)
	w.loaded(t, 1)
	evict(t, l.api, kube.LabelPart+"="+kube.PartService)
	c.ends(t, 0)
	r := l.record(t, "record")
	if d := cmp.Diff([]record.Outcome{record.Interrupted, record.Done}, quiet(l.outcomes(t, "record"))); d != "" {
		t.Fatalf("%s\n%s", d, &c.err)
	}
	if why := r.Trials[0].Why; !strings.Contains(why, "was removed: EvictionByEvictionAPI") {
		t.Error(why)
	}
	l.empty(t, 10*time.Second)
}
