package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// maker makes the same pods as the conductor's.
func (a *Request) maker() *objects.Maker {
	return objects.New(objects.Options{Run: a.Run, Settings: a.Experiment.Kubernetes, Image: a.Image()})
}

// demand returns the pods that run concurrently in each cell: the conductor, and the
// pods that it starts. Node agents are left out: their number depends on the nodes.
func (a *Request) demand() [][]objects.PodSet {
	cells := a.maker().Demand(a.Experiment)
	conductor := objects.PodSet{What: "the conductor's pod", Count: 1, Template: a.pod()}
	for i := range cells {
		cells[i] = append([]objects.PodSet{conductor}, cells[i]...)
	}
	return cells
}

// images are the images of the run, Millicore's own first, each once.
func (a *Request) images() []string {
	var all []string
	for _, cell := range a.demand() {
		for _, p := range cell {
			if image := imageOf(p.Template); !slices.Contains(all, image) {
				all = append(all, image)
			}
		}
	}
	return all
}

// summed is what pods use of a quota, by the quota's names: requests.cpu,
// limits.memory, pods.
func summed(all []objects.PodSet) corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(name corev1.ResourceName, times int, q resource.Quantity) {
		q.Mul(int64(times))
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
	for _, p := range all {
		add(corev1.ResourcePods, p.Count, *resource.NewQuantity(1, resource.DecimalSI))
		for _, c := range p.Template.Spec.Containers {
			for name, q := range c.Resources.Requests {
				add("requests."+name, p.Count, q)
			}
			for name, q := range c.Resources.Limits {
				add("limits."+name, p.Count, q)
			}
		}
	}
	return sum
}

// largest is the largest use of any cell, for each resource.
func (a *Request) largest() corev1.ResourceList {
	most := corev1.ResourceList{}
	for _, cell := range a.demand() {
		for name, q := range summed(cell) {
			if had, ok := most[name]; !ok || q.Cmp(had) > 0 {
				most[name] = q
			}
		}
	}
	return most
}

// imageOf is the image of a pod's container.
func imageOf(t corev1.PodTemplateSpec) string { return t.Spec.Containers[0].Image }
