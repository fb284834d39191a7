package kubernetes

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/database"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform"
)

// What a run would have, for those who ask whether a cluster takes it before
// anything is started.

// PodSet is some pods of one kind.
type PodSet struct {
	What     string // in words: "the pods of service go"
	Count    int    // that there are at a time
	Template corev1.PodTemplateSpec
}

// Demand gives the pods that there are at once while a cell is measured, for each
// cell in its place: the agents, which are the same for all cells, the service, as
// many as it may be scaled to, and what that depends on. They are as those of the
// run, but for what their containers are told: addresses in it are known only then.
// What has no image (Suits) is left out. How many node agents there are the nodes
// tell: they are not in it.
func (m *Maker) Demand(e *experiment.Experiment) [][]PodSet {
	agents := PodSet{What: "the pods of agents", Count: max(mostAgents(e), 1)}
	agents.Template = m.job(agents.Count).Spec.Template
	all := make([][]PodSet, len(e.Cells))
	for i := range e.Cells {
		c := &e.Cells[i]
		all[i] = append(all[i], agents)
		service := &platform.Unit{Name: c.Service.Name, Image: c.Service.Image, Dir: c.Service.Dir, Limits: c.Limits, Port: c.Service.Port}
		if c.Service.Workload != "" {
			service.Image = m.workload(c.Service.Workload)
		}
		replicas := c.Limits.Replicas
		if c.Service.Autoscale != nil {
			replicas = c.Service.Autoscale.Max
		}
		if service.Image != "" {
			all[i] = append(all[i], PodSet{"the pods of service " + service.Name, max(replicas, 1), m.unitPod(service, kube.PartService)})
		}
		for j := range c.Service.Dependencies {
			d := &c.Service.Dependencies[j]
			unit := &platform.Unit{Name: d.Name, Image: cmp.Or(d.Image, database.Image(d.Builtin)), Dir: d.Dir, Limits: d.Limits}
			if unit.Image != "" {
				all[i] = append(all[i], PodSet{"the pod of dependency " + d.Name, 1, m.unitPod(unit, kube.PartDependency)})
			}
		}
	}
	return all
}

// NodeAgent is the pod of a node agent, one on each node that services may run on.
func (m *Maker) NodeAgent() PodSet {
	return PodSet{What: "the pods of node agents", Count: 1, Template: m.daemons().Spec.Template}
}

// OfImage is the pod of a service of an image, which nothing is told and which has
// no limits.
func (m *Maker) OfImage(image string) corev1.PodTemplateSpec {
	return m.unitPod(&platform.Unit{Image: image}, kube.PartDependency)
}
