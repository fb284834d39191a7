package diagnosis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// ofPod puts a process into a pod of a namespace.
func ofPod(p inspect.Process, namespace, pod, container string) inspect.Process {
	p.Namespace, p.Container, p.PodContainer, p.Pod = namespace, pod, container, "uid-of-"+pod
	p.ContainerID, p.Info.Env = fmt.Sprintf("%064x", p.PID), map[string]string{"GOMAXPROCS": fmt.Sprint(p.Info.Parallelism.Value)}
	p.Ruled, p.Why = runtimes.Default(p.Info, runtimes.Limit{CPUs: 2, Leaf: 2}, runtimes.Machine{Online: 8, Affinity: 8})
	return p
}

// cluster has two pods of one workload on one node and a third on another, with the same pid
// there; a StatefulSet, a unit of systemd, and two nodes that were not read.
func cluster() []fleet.Node {
	worker := ofPod(api(44, 8, 1.9, 60), "shop", "cart-7d9f8b6c4-x2k9p", "api")
	worker.Pod = "uid-of-cart-7d9f8b6c4-zzl4q" // a second process of a pod
	unit := full(api(50, 2, 1, 0), 0.95)
	unit.Container = "nightly"
	return []fleet.Node{
		{Name: "n1", Host: host(ofPod(api(42, 8, 1.9, 38), "shop", "cart-7d9f8b6c4-x2k9p", "api"), ofPod(api(43, 8, 1.9, 60), "shop", "cart-7d9f8b6c4-zzl4q", "api"), worker)},
		{Name: "n2", Host: host(ofPod(api(42, 8, 2, 97), "shop", "cart-7d9f8b6c4-b2b2b", "api"), ofPod(full(api(60, 2, 1, 0), 0.93), "data", "store-0", "store"), unit)},
		{Name: "n3", Err: errors.New("pod doctor-n3 did not answer within 1m10s")},
	}
}

func shown(t *testing.T, width int, details bool) string {
	t.Helper()
	nodes := cluster()
	all, findings := fleet.Merge(nodes)
	var b strings.Builder
	view := diagnosis.View{Fleet: &diagnosis.Fleet{Nodes: nodes}, Details: details}
	if err := diagnosis.Write(&b, all, findings, view, display.Terminal{Width: width}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A row is a workload with a problem: of three pods the worst figures.
func TestTheTableOfACluster(t *testing.T) {
	const want = `3 workloads are mis-sized, the worst is shop/cart/api (pid 42 on n2): parallelism 8 exceeds the limit of 2 CPUs: throttled in 97%
of 100 periods.
Why: more threads than the limit has CPUs use the quota up early.
Do: set GOMAXPROCS=2.
! Node n3 was not read: pod doctor-n3 did not answer within 1m10s.

namespace  workload     pods  level       limit  throttled  problem                change
shop       cart/api        3  critical   2 CPUs        97%  high parallelism       GOMAXPROCS=2
–          nightly/api     1  warning   256 MiB          –  near its memory limit  GOMEMLIMIT=230MiB
data       store           1  warning   256 MiB          –  near its memory limit  GOMEMLIMIT=230MiB

Verify: millicore try --cpu 2 --env GOMAXPROCS=8 -- /app/api --port '${port}'
2 of 3 nodes read: 6 processes inspected, under a CPU limit, watched for 10 s. Evidence: --details.
`
	if diff := cmp.Diff(want, shown(t, 130, false)); diff != "" {
		t.Error(diff)
	}
}

// The details name the node of each process.
func TestDetailsOfACluster(t *testing.T) {
	got := shown(t, 100, true)
	for _, want := range []string{"cart-7d9f8b6c4-b2b2b/api (pid 42 on n2)", "nightly/api (pid 50 on n2)"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("want %q once in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "on n1") {
		t.Errorf("the pods of n1 have lower figures:\n%s", got)
	}
}

// Programs get all findings, each with its node, and the nodes with the reason of those that were
// not read. The patch of a workload is one.
func TestAClusterForPrograms(t *testing.T) {
	nodes := cluster()
	all, findings := fleet.Merge(nodes)
	f := &diagnosis.Fleet{Nodes: nodes}
	var b strings.Builder
	if err := diagnosis.JSON(&b, all, findings, diagnosis.View{Fleet: f}); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Nodes []struct {
			Name            string
			CPUs, Processes int
			Error           *string
		}
		Processes []struct{ Node string }
		Findings  []struct{ Node, Service, Fingerprint string }
	}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Nodes) != 3 || out.Nodes[0].Name != "n1" || out.Nodes[0].CPUs != 8 || out.Nodes[1].Processes != 3 || out.Nodes[0].Error != nil ||
		out.Nodes[2].Error == nil || *out.Nodes[2].Error != "pod doctor-n3 did not answer within 1m10s" {
		t.Errorf("got nodes %+v", out.Nodes)
	}
	on := map[string]int{}
	for _, one := range out.Findings {
		on[one.Node]++
	}
	if len(out.Processes) != 6 || out.Processes[3].Node != "n2" || on["n1"] < 3 || on["n2"] < 3 || on[""] > 0 {
		t.Errorf("got %d processes, findings by node %v", len(out.Processes), on)
	}
	if out.Findings[0].Service != "shop/cart/api/api" || out.Findings[0].Node != "n2" || f.Unread() != 1 {
		t.Errorf("got %+v first, %d nodes not read", out.Findings[0], f.Unread())
	}
	script, files := diagnosis.Patches(f.Worst(findings), "p")
	if n := strings.Count(script, "patch deployment cart"); n != 1 || len(files) == 0 || !strings.Contains(script, "(pid 42 on n2)") || strings.Contains(script, "on n1") {
		t.Errorf("%d patches of the workload:\n%s", n, script)
	}
}
