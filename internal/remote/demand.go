package remote

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/database"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/kubernetes"
)

// pods are some of one kind that a cell has at a time.
type pods struct {
	what  string // "the pods of service go"
	part  string
	count int
	image string
	spec  corev1.PodSpec
}

// demand is what runs at once in a cell: its service, as many as it may be scaled
// to, what it depends on, its agents, and the conductor. Where node agents run and
// how many only the scheduler knows: they are not in it.
func (a *Asked) demand(c *experiment.Cell) []pods {
	k := &a.Experiment.Kubernetes
	replicas := c.Limits.Replicas
	if c.Service.Autoscale != nil {
		replicas = c.Service.Autoscale.Max
	}
	image := c.Service.Image
	if c.Service.Workload != "" {
		image = a.workloadImage(c.Service.Workload)
	}
	all := []pods{
		{"the conductor's pod", kube.PartConductor, 1, a.Image(), a.pod().Spec},
		{"the pods of agents", kube.PartAgent, max(c.Load.Agents, 1), a.Image(), a.program("agent", k.Agents)},
		{"the pods of service " + c.Service.Name, kube.PartService, replicas, image, a.unit(c.Service.Name, image, c.Limits, &k.Requests)},
	}
	for i := range c.Service.Dependencies {
		d := &c.Service.Dependencies[i]
		if image := cmp.Or(d.Image, database.Image(d.Builtin)); image != "" {
			all = append(all, pods{"the pod of dependency " + d.Name, kube.PartDependency, 1, image, a.unit(d.Name, image, d.Limits, &experiment.Requests{})})
		}
	}
	return all
}

// program is like a pod of Millicore's own program.
func (a *Asked) program(name string, r experiment.Resources) corev1.PodSpec {
	k := &a.Experiment.Kubernetes
	return corev1.PodSpec{NodeSelector: r.NodeSelector, Tolerations: tolerations(k), ImagePullSecrets: pullSecrets(k), SecurityContext: restrictedPod(),
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: name, Image: a.Image(), Resources: resources(r), SecurityContext: restrictedContainer()}}}
}

// unit is like a pod of a service or a dependency.
func (a *Asked) unit(name, image string, l experiment.Limits, r *experiment.Requests) corev1.PodSpec {
	k := &a.Experiment.Kubernetes
	spec := corev1.PodSpec{NodeSelector: k.NodeSelector, Tolerations: tolerations(k), ImagePullSecrets: pullSecrets(k),
		Containers: []corev1.Container{{Name: name, Image: image, Resources: unitResources(l, r)}}}
	if k.Security == experiment.SecurityBaseline && !a.sample(image) {
		return spec
	}
	spec.SecurityContext, spec.Containers[0].SecurityContext = restrictedPod(), restrictedContainer()
	spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil
	if user, ok := kubernetes.UserOf(image); ok {
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup, spec.SecurityContext.FSGroup = &user, &user, nil
	} else if !a.sample(image) { // its own user, who must not be root
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup, spec.SecurityContext.FSGroup = nil, nil, nil
	}
	return spec
}

// sample tells whether an image is one of Millicore's, which run as anybody.
func (a *Asked) sample(image string) bool {
	for _, name := range []string{"go", "node", "bun"} {
		if image == a.workloadImage(name) {
			return true
		}
	}
	return false
}

// unitResources are limits, and requests that are the same unless others are asked.
func unitResources(l experiment.Limits, r *experiment.Requests) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	if l.CPUMillis > 0 {
		out.Limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(l.CPUMillis, resource.DecimalSI)
	}
	if l.Memory > 0 {
		out.Limits[corev1.ResourceMemory] = *resource.NewQuantity(l.Memory, resource.BinarySI)
	}
	for name, limit := range out.Limits {
		out.Requests[name] = limit
	}
	if r.CPUMillis != nil {
		out.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(*r.CPUMillis, resource.DecimalSI)
	}
	if r.MemoryBytes != nil {
		out.Requests[corev1.ResourceMemory] = *resource.NewQuantity(*r.MemoryBytes, resource.BinarySI)
	}
	return out
}

// node is like the pod of a node agent: it reads the node's control groups.
func (a *Asked) node() corev1.PodSpec {
	spec := a.program(kube.PartNode, experiment.Resources{CPUMillis: 50, MemoryBytes: 64 << 20})
	spec.Volumes = []corev1.Volume{{Name: "cgroup", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/sys/fs/cgroup"}}}}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "cgroup", MountPath: "/host/cgroup", ReadOnly: true}}
	return spec
}

// summed is what pods take of a quota, by the quota's names: requests.cpu,
// limits.memory, pods.
func summed(all []pods) corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(name corev1.ResourceName, times int, q resource.Quantity) {
		q.Mul(int64(times))
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
	for _, p := range all {
		add(corev1.ResourcePods, p.count, *resource.NewQuantity(1, resource.DecimalSI))
		for _, c := range p.spec.Containers {
			for name, q := range c.Resources.Requests {
				add("requests."+name, p.count, q)
			}
			for name, q := range c.Resources.Limits {
				add("limits."+name, p.count, q)
			}
		}
	}
	return sum
}

// largest is the most that any cell takes, resource by resource.
func (a *Asked) largest() corev1.ResourceList {
	most := corev1.ResourceList{}
	for i := range a.Experiment.Cells {
		for name, q := range summed(a.demand(&a.Experiment.Cells[i])) {
			if had, ok := most[name]; !ok || q.Cmp(had) > 0 {
				most[name] = q
			}
		}
	}
	return most
}
