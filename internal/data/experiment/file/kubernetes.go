package file

import "github.com/millicore/millicore/internal/data/experiment"

// checkTolerations checks tolerations as Kubernetes would (core/v1's
// validation), which would refuse the pods later.
func (d *decoder) checkTolerations() {
	items := d.root.find("kubernetes.tolerations").items
	for i, t := range d.doc.Kubernetes.Tolerations {
		if i < len(items) {
			d.checkToleration(&t, items[i])
		}
	}
}

func (d *decoder) checkToleration(t *experiment.Toleration, n *node) {
	key, operator, value, seconds := n.child("key"), n.child("operator"), n.child("value"), n.child("seconds")
	if key.bad || operator.bad || n.child("effect").bad {
		return
	}
	switch exists := t.Operator == "Exists"; {
	case exists && value.given():
		d.add(value.at, n.path, "Exists tolerates every value; leave out value, or write operator: Equal")
	case !exists && !key.given():
		d.add(later(key.at, operator.at), n.path, "key is missing; a toleration without a key is for every taint, and needs the operator Exists")
	}
	if seconds.given() && t.Effect != "NoExecute" {
		d.add(seconds.at, n.path, "seconds limit how long a pod stays on a tainted node; write effect: NoExecute, or leave seconds out")
	}
}

// checkRequests refuses requests above a cell's limits, which Kubernetes would.
func (d *decoder) checkRequests(limits *node, l *experiment.Limits) {
	requests, n := &d.doc.Kubernetes.Requests, d.root.find("kubernetes.requests")
	if cpu := n.child("cpu"); cpu.sound() && l.CPUMillis > 0 && *requests.CPUMillis > l.CPUMillis {
		d.conflict(cpu.path, []*node{cpu, limits.child("cpu")}, "%s is more than the limit of %dm; request at most the limit, or leave it out", cpu.text, l.CPUMillis)
	}
	if memory := n.child("memory"); memory.sound() && l.Memory > 0 && *requests.MemoryBytes > l.Memory {
		d.conflict(memory.path, []*node{memory, limits.child("memory")}, "%s is more than the limit of %d bytes; request at most the limit, or leave it out", memory.text, l.Memory)
	}
}
