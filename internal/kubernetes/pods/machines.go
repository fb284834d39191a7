package pods

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Node agents measure the nodes: a node's CPU times, and the CPU time of each
// container of the run there. The difference is the CPU time of others.

// on returns the run's pods on a node by the ids of their containers, and a channel
// that is closed with the next change of any pod.
func (k *cluster) on(name string) (map[string]*corev1.Pod, <-chan struct{}) {
	all, changed, _ := k.pods.With(nil)
	found := map[string]*corev1.Pod{}
	for _, p := range all {
		if p.Spec.NodeName != name {
			continue
		}
		for _, s := range p.Status.ContainerStatuses {
			if s.ContainerID != "" {
				found[s.ContainerID] = p
			}
		}
	}
	return found, changed
}

// count makes a node's agent read the CPU time of the run's containers there, until
// its stream ends or the platform closes.
func (k *cluster) count(client *nodeagent.Client, name string) {
	counted := map[string]*nodeagent.Watched{}
	for {
		there, changed := k.on(name)
		for id, p := range there {
			if counted[id] == nil {
				counted[id] = client.Count(id, string(p.UID))
			}
		}
		for id, w := range counted {
			if there[id] == nil {
				w.Close()
				delete(counted, id)
			}
		}
		select {
		case <-changed:
		case <-client.Done():
			return
		case <-k.running.Done():
			_ = client.Close()
			return
		}
	}
}

// Machines returns a sample of each node that runs a unit, since the last call. It
// is empty without node agents.
func (k *cluster) Machines() []platform.Machine {
	if k.nodeAgents == nil {
		return nil
	}
	k.nodeAgents.mu.Lock()
	agents := maps.Clone(k.nodeAgents.nodes)
	k.nodeAgents.mu.Unlock()
	var all []platform.Machine
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		parts, running := map[string]string{}, []string(nil) // by container
		serves := false
		there, _ := k.on(name)
		for id, p := range there {
			part := p.Labels[kube.LabelPart]
			parts[nodeagent.ContainerID(id)] = part
			serves = serves || part == kube.PartService || part == kube.PartDependency
			if runsNow(p, id) {
				running = append(running, nodeagent.ContainerID(id))
			}
		}
		before, now, ok := agents[name].reading()
		if ok && serves && counts(before, running) && counts(now, running) {
			all = append(all, machine(name, before, now, parts))
		}
	}
	return all
}

// reading returns the newest reading of the node and the one that was returned
// before; false if one of them is missing.
func (a *nodeAgent) reading() (before, now nodeagent.Reading, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client == nil {
		return before, now, false
	}
	now, err := a.client.Host()
	if err != nil || !now.At.After(a.last.At) {
		return before, now, false
	}
	before, a.last = a.last, now
	return before, now, !before.At.IsZero()
}

// runsNow reports whether a container of a pod runs.
func runsNow(p *corev1.Pod, container string) bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.ContainerID == container && s.State.Running != nil
	})
}

// counts reports whether a reading has all of the containers. The CPU time of a
// missing one, as in the first reading of a stream, would count as that of others.
func counts(r nodeagent.Reading, containers []string) bool {
	return !slices.ContainsFunc(containers, func(id string) bool { _, known := r.Used[id]; return !known })
}

// machine divides a node's CPU time between two readings. parts are the parts of
// the run, by container.
func machine(name string, before, now nodeagent.Reading, parts map[string]string) platform.Machine {
	used := map[string]float64{}
	for id, part := range parts {
		if was, known := before.Used[id]; known {
			used[part] += max(0, now.Used[id]-was)
		}
	}
	return platform.Machine{Name: name, Start: before.At, End: now.At, Host: meter.HostHalf(before.HostTimes, now.HostTimes, meter.Used{
		Services: used[kube.PartService], Dependencies: used[kube.PartDependency], Agents: used[kube.PartAgent],
		Lab: used[kube.PartConductor] + used[kube.PartNode]})}
}

var _ platform.MachineSampler = (*cluster)(nil)
