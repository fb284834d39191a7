package objects

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
)

// The pods of a run, for the checks before anything is started.

// PodSet is some pods of one kind.
type PodSet struct {
	What     string // for people: "the pods of service go"
	Count    int    // that exist concurrently
	Template corev1.PodTemplateSpec
	Limits   experiment.Limits // of a unit, see Admitted
	// Objects are those that the conductor creates for the pods: a Deployment and a Service.
	// Secrets of theirs have no values.
	Objects []kube.Object
}

// Demand returns the pods that exist concurrently while a cell is measured, by
// cell: the agents, which all cells share, the service at its largest number of
// replicas, and its dependencies. They equal the pods of the run except for
// commands and variables, which need addresses that are known only later. Units
// without an image (Suits) are left out. So are node agents: their number depends
// on the nodes.
func (m *Maker) Demand(e *experiment.Experiment) [][]PodSet {
	count := max(MostAgents(e), 1)
	job := m.AgentJob(count)
	agents := PodSet{What: "the pods of agents", Count: count, Template: job.Spec.Template,
		Objects: []kube.Object{kube.Secrets.Object(m.secret(m.AgentsName(), kube.PartAgent)), kube.Jobs.Object(job)}}
	all := make([][]PodSet, len(e.Cells))
	for i := range e.Cells {
		all[i] = append([]PodSet{agents}, m.units(&e.Cells[i])...)
	}
	return all
}

// units lists the pods of a cell's service and of what it depends on.
func (m *Maker) units(c *experiment.Cell) []PodSet {
	var all []PodSet
	add := func(what, part string, count int, u platform.UnitSpec) {
		if u.Image == "" {
			return
		}
		pod := m.unitPod(&u, part)
		all = append(all, PodSet{What: what + " " + u.Name, Count: max(count, 1), Template: pod, Limits: u.Limits,
			Objects: []kube.Object{kube.Services.Object(m.Service(&u, part)), kube.Deployments.Object(m.deploymentOf(&u, part, pod))}})
		if u.Autoscale != nil {
			last := &all[len(all)-1]
			last.Objects = append(last.Objects, kube.Autoscalers.Object(m.Autoscaler(&u, part)))
		}
	}
	s, count := &c.Service, c.Limits.Replicas
	service := platform.UnitSpec{Name: s.Name, Image: s.Image, Dir: s.Dir, RunAs: s.User, Limits: c.Limits, Port: s.Port, Autoscale: s.Autoscale}
	if s.Workload != "" {
		service.Image = m.Workload(s.Workload)
	}
	if s.Autoscale != nil {
		count = s.Autoscale.Max
	}
	add("the pods of service", kube.PartService, count, service)
	for i := range s.Dependencies {
		d := &s.Dependencies[i]
		add("the pod of dependency", kube.PartDependency, 1,
			platform.UnitSpec{Name: d.Name, Image: cmp.Or(d.Image, experiment.DatabaseImage(d.Builtin)), Dir: d.Dir, RunAs: d.User, Limits: d.Limits})
	}
	return all
}

// NodeAgent returns one node agent. A run has one on each node that services may run on.
func (m *Maker) NodeAgent() PodSet {
	const node = "node"
	daemon := m.NodeDaemon(node)
	return PodSet{What: "the pods of node agents", Count: 1, Template: daemon.Spec.Template,
		Objects: []kube.Object{kube.Secrets.Object(m.secret(m.NodeAgentName(node), kube.PartNode)), kube.DaemonSets.Object(daemon)}}
}

// OfImage makes a pod that runs an image as a unit would, without a command, variables,
// limits and requests.
func (m *Maker) OfImage(image string) corev1.PodTemplateSpec {
	return m.unitPod(&platform.UnitSpec{Image: image}, kube.PartDependency)
}

// MostAgents is the largest number of agents of any cell. All cells share them.
func MostAgents(e *experiment.Experiment) int {
	most := 0
	for i := range e.Cells {
		most = max(most, e.Cells[i].Load.Agents)
	}
	return most
}
