package pods

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
)

// What a node's CPUs did and no container of the run used is others', and that of
// its kubelet too.
func TestWhatANodeDid(t *testing.T) {
	start, end := time.Unix(100, 0), time.Unix(102, 0)
	before := nodeagent.Reading{HostTimes: meter.HostTimes{At: start, CPUs: 4, Idle: 10, Steal: 1},
		Used: map[string]float64{"web": 5, "db": 1, "agent": 2, "conductor": 1, "node": 0.5, "stranger": 7}}
	now := nodeagent.Reading{HostTimes: meter.HostTimes{At: end, CPUs: 4, Idle: 12, Steal: 1.2}, // 5.8 s busy of 8
		Used: map[string]float64{"web": 7, "db": 1.4, "agent": 2.6, "conductor": 1.1, "node": 0.6, "stranger": 9, "new": 3}}
	got := machine("n1", before, now, map[string]string{"web": kube.PartService, "db": kube.PartDependency, "agent": kube.PartAgent,
		"conductor": kube.PartConductor, "node": kube.PartNode, "new": kube.PartAgent, "gone": kube.PartService})
	want := platform.Machine{Name: "n1", Start: start, End: end, Host: signals.Host{CPUs: 4, Idle: 1, Steal: 0.1, Busy: 2.9,
		Services: 1, Dependencies: 0.2, Agents: 0.3, Lab: 0.1, Foreign: 1.3}}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Error(d)
	}
}

// The first reading of a stream knows none of the run's containers.
func TestAReadingThatDoesNotKnowAll(t *testing.T) {
	r := nodeagent.Reading{Used: map[string]float64{"web": 5}}
	if !counts(r, []string{"web"}) || counts(r, []string{"web", "agent"}) || counts(nodeagent.Reading{}, []string{"web"}) || !counts(r, nil) {
		t.Error("the check for missing containers is wrong")
	}
}
