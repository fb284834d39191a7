package launch

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// The network policies of a run. Pods of one run reach those that they need, and other
// pods reach none of them. A cluster whose network has no policies ignores them.

// policies are those of all parts, the conductor's first. The rules of ingress:
//
//	to            from
//	conductor     agents, node agents, and the API server (policy)
//	services      agents, conductor, services, dependencies
//	dependencies  services, dependencies, conductor
//	agents        nobody
//	node agents   nobody
//
// Services and dependencies of an experiment may need addresses that nobody knows
// beforehand, so that only agents and node agents, which need none, have rules of
// egress.
func (a *Request) policies() []*networkingv1.NetworkPolicy {
	const agent, node, service, dependency, conductor = kube.PartAgent, kube.PartNode, kube.PartService, kube.PartDependency, kube.PartConductor
	toConductor := networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{a.peer(conductor)}, Ports: conductorPort()}
	all := []*networkingv1.NetworkPolicy{
		a.policy(false),
		a.ingress(service, a.peer(agent, conductor, service, dependency)),
		a.ingress(dependency, a.peer(service, dependency, conductor)),
		a.egress(a.ingress(agent), toConductor, networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{a.peer(service)}}),
	}
	if a.Experiment.Kubernetes.NodeAgent {
		all = append(all, a.egress(a.ingress(node), toConductor))
	}
	return all
}

// policy is the conductor's. It admits agents and node agents of the run, and the pods
// through which some clusters' API servers reach others (kube-system: konnectivity).
// Most networks let the API server reach pods from a node or from outside regardless of
// policies. Otherwise Follow replaces this policy by the open one. In both cases tokens
// and the certificate protect the port.
func (a *Request) policy(open bool) *networkingv1.NetworkPolicy {
	p := a.ingress(kube.PartConductor)
	p.Name = Name(a.Run)
	rule := networkingv1.NetworkPolicyIngressRule{Ports: conductorPort()}
	if !open {
		rule.From = []networkingv1.NetworkPolicyPeer{
			a.peer(kube.PartAgent, kube.PartNode),
			{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: metav1.NamespaceSystem}}},
		}
	}
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{rule}
	return p
}

// ingress is a policy by which only these pods reach a part of the run.
func (a *Request) ingress(part string, from ...networkingv1.NetworkPolicyPeer) *networkingv1.NetworkPolicy {
	p := &networkingv1.NetworkPolicy{ObjectMeta: a.meta(Name(a.Run)+"-"+part, kube.PartConductor), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{kube.LabelRun: a.Run, kube.LabelPart: part}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
	}}
	if len(from) > 0 { // a rule without peers would admit everybody
		p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: from}}
	}
	return p
}

// egress adds to a policy that its pods reach nobody else.
func (a *Request) egress(p *networkingv1.NetworkPolicy, to ...networkingv1.NetworkPolicyEgressRule) *networkingv1.NetworkPolicy {
	p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	p.Spec.Egress = to
	return p
}

// peer are the pods of some parts of the run, in its namespace.
func (a *Request) peer(parts ...string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{
		MatchLabels:      map[string]string{kube.LabelRun: a.Run},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: kube.LabelPart, Operator: metav1.LabelSelectorOpIn, Values: parts}},
	}}
}

func conductorPort() []networkingv1.NetworkPolicyPort {
	tcp, port := corev1.ProtocolTCP, intstr.FromInt32(kube.ConductorPort)
	return []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &port}}
}
