package launch

import (
	"maps"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// network decides as a network plugin does whether packets pass, for pods of one
// namespace and kube-system.
type network struct {
	t        *testing.T
	policies []*networkingv1.NetworkPolicy
}

// end is one end of a connection.
type end struct {
	namespace string
	labels    map[string]string
}

// passes reports whether a connection to a port is admitted by both ends. A pod that no
// policy of a direction selects admits all of that direction.
func (n *network) passes(from, to end, port int) bool {
	return n.admits(networkingv1.PolicyTypeEgress, from, to, port) && n.admits(networkingv1.PolicyTypeIngress, to, from, port)
}

func (n *network) admits(way networkingv1.PolicyType, own, other end, port int) bool {
	selected := false
	for _, p := range n.policies {
		if own.namespace != "here" || !slices.Contains(p.Spec.PolicyTypes, way) || !n.selects(&p.Spec.PodSelector, own.labels) {
			continue
		}
		selected = true
		if way == networkingv1.PolicyTypeIngress {
			for _, r := range p.Spec.Ingress {
				if n.open(r.From, r.Ports, other, port) {
					return true
				}
			}
			continue
		}
		for _, r := range p.Spec.Egress {
			if n.open(r.To, r.Ports, other, port) {
				return true
			}
		}
	}
	return !selected
}

func (n *network) open(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, other end, port int) bool {
	if len(ports) > 0 && !slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntValue() == port }) {
		return false
	}
	return len(peers) == 0 || slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		if p.NamespaceSelector != nil {
			return n.selects(p.NamespaceSelector, map[string]string{"kubernetes.io/metadata.name": other.namespace}) &&
				(p.PodSelector == nil || n.selects(p.PodSelector, other.labels))
		}
		return other.namespace == "here" && n.selects(p.PodSelector, other.labels)
	})
}

func (n *network) selects(s *metav1.LabelSelector, of map[string]string) bool {
	n.t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		n.t.Fatal(err)
	}
	return selector.Matches(labels.Set(of))
}

// Who reaches whom, for all pairs of parts and for pods that are not the run's.
func TestWhoReachesWhom(t *testing.T) {
	a := asked(t, "kubernetes: {node_agent: true}")
	n := &network{t, a.policies()}
	ends := map[string]end{
		"outside": {"here", map[string]string{"app": "other"}}, "elsewhere": {"there", map[string]string{kube.LabelRun: a.Run, kube.LabelPart: kube.PartAgent}},
		"system": {"kube-system", map[string]string{"app": "konnectivity-agent"}},
	}
	for _, part := range []string{kube.PartConductor, kube.PartAgent, kube.PartService, kube.PartDependency, kube.PartNode} {
		ends[part] = end{"here", map[string]string{kube.LabelRun: a.Run, kube.LabelPart: part}}
		ends["other "+part] = end{"here", map[string]string{kube.LabelRun: "other-run", kube.LabelPart: part}}
	}
	want := map[string][]string{
		kube.PartConductor:  {kube.PartAgent, kube.PartNode, "system"},
		kube.PartService:    {kube.PartAgent, kube.PartConductor, kube.PartDependency, kube.PartService},
		kube.PartDependency: {kube.PartConductor, kube.PartDependency, kube.PartService},
		kube.PartAgent:      nil,
		kube.PartNode:       nil,
		// Services may need whatever is outside; agents and node agents do not.
		"outside": {"elsewhere", "other agent", "other conductor", "other dependency", "other node", "other service",
			"outside", kube.PartConductor, kube.PartDependency, kube.PartService, "system"},
	}
	for to, from := range want {
		var got []string
		for _, name := range slices.Sorted(maps.Keys(ends)) {
			if n.passes(ends[name], ends[to], kube.ConductorPort) {
				got = append(got, name)
			}
		}
		slices.Sort(from)
		if !slices.Equal(got, from) {
			t.Errorf("%v reach %s, want %v", got, to, from)
		}
	}
	if n.passes(ends[kube.PartAgent], ends[kube.PartConductor], 22) {
		t.Error("agents reach another port of the conductor")
	}
	n.policies[0] = a.policy(true)
	if !n.passes(ends["outside"], ends[kube.PartConductor], kube.ConductorPort) || n.passes(ends["outside"], ends[kube.PartConductor], 22) {
		t.Error("the open policy does not open exactly the conductor's port")
	}
}
