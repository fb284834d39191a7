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
		all[i] = append([]PodSet{agents}, m.units(&e.Cells[i])...)
	}
	return all
}

// units are the pods of a cell's service and of what it depends on.
func (m *Maker) units(c *experiment.Cell) []PodSet {
	var all []PodSet
	add := func(what, part string, count int, u platform.Unit) {
		if u.Image != "" {
			all = append(all, PodSet{what + " " + u.Name, max(count, 1), m.unitPod(&u, part)})
		}
	}
	s, count := &c.Service, c.Limits.Replicas
	service := platform.Unit{Name: s.Name, Image: s.Image, Dir: s.Dir, Limits: c.Limits, Port: s.Port}
	if s.Workload != "" {
		service.Image = m.workload(s.Workload)
	}
	if s.Autoscale != nil {
		count = s.Autoscale.Max
	}
	add("the pods of service", kube.PartService, count, service)
	for i := range s.Dependencies {
		d := &s.Dependencies[i]
		add("the pod of dependency", kube.PartDependency, 1,
			platform.Unit{Name: d.Name, Image: cmp.Or(d.Image, database.Image(d.Builtin)), Dir: d.Dir, Limits: d.Limits})
	}
	return all
}

// NodeAgent is the pod of a node agent, one on each node that services may run on.
func (m *Maker) NodeAgent() PodSet {
	return PodSet{What: "the pods of node agents", Count: 1, Template: m.daemons().Spec.Template}
}

// OfImage is the pod of a unit of an image, which nothing is told, and without
// limits and requests.
func (m *Maker) OfImage(image string) corev1.PodTemplateSpec {
	return m.unitPod(&platform.Unit{Image: image}, kube.PartDependency)
}
