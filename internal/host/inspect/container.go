package inspect

import (
	"path"
	"regexp"
	"strings"
)

// containers are the names of containers by id.
type containers map[string]string

// place is where a process runs, according to the names of its groups.
type place struct {
	name string // of the container or systemd service; "" if there is none
	id   string // whole id of the container; "" if there is none
	pod  string // uid of the Kubernetes pod; "" if there is none
}

var (
	// containerID is a container's id in a group name of Docker, containerd, CRI-O or
	// Podman: alone (/docker/ID, /kubepods/…/ID), in the name of a systemd scope
	// (docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope), or
	// after slice and runtime if containerd does not use the systemd cgroup driver
	// (…slice:cri-containerd:ID).
	containerID = regexp.MustCompile(`^(?:.*:)?([a-z][a-z-]*-)?([0-9a-f]{64})(?:\.scope)?$`)
	// podUID is the uid of a pod: pod7d9f… with the cgroupfs driver, and
	// kubepods-burstable-pod7d9f….slice with the systemd driver, with _ instead of -.
	// The uid of a static pod has 32 digits without separators.
	podUID = regexp.MustCompile(`(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice(?::.*)?)?$`)
	// named are groups whose last element is a container's name: LXC, and containerd's
	// default namespace, which ctr and nerdctl use.
	named = regexp.MustCompile(`^(?:.*/lxc\.payload\.|.*/lxc/|/default/)([^/]+)$`)
	// unit is a systemd service.
	unit = regexp.MustCompile(`^(.+)\.service$`)
)

// conmon is the prefix of groups of Podman's container monitor, which runs outside
// of the container.
const conmon = "conmon-"

// of finds where a process runs from the text of its /proc/PID/cgroup: the innermost
// container of any line, or else the innermost systemd service.
func (c containers) of(text string) place {
	var in place
	service, before := "", ""
	for line := range strings.Lines(text) {
		_, group, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		_, group, _ = strings.Cut(group, ":")
		if group == before { // v1: most lines are equal
			continue
		}
		before = group
		for ; group != "/" && group != "." && group != ""; group = path.Dir(group) {
			base := path.Base(group)
			if found := containerID.FindStringSubmatch(base); found != nil && in.id == "" && !strings.HasSuffix(found[1], conmon) {
				in.id, in.name = found[2], found[2][:12]
				if name, ok := c[in.id]; ok {
					in.name = name
				}
			}
			if found := podUID.FindStringSubmatch(base); found != nil && in.pod == "" {
				in.pod = strings.ReplaceAll(found[1], "_", "-")
			}
			if found := named.FindStringSubmatch(group); found != nil && in.name == "" {
				in.name = found[1]
			}
			if found := unit.FindStringSubmatch(base); found != nil && service == "" {
				service = found[1]
			}
		}
	}
	if in.name == "" {
		in.name = service
	}
	return in
}

// shortest is the minimum length of a prefix of an id.
const shortest = 4

// is reports whether a place matches a request: the name, a prefix of the container's
// id (also in the form containerd://ID, as kubectl shows it), a prefix of the pod's
// uid, or a systemd unit.
func (in place) is(asked string) bool {
	if asked == in.name || strings.TrimSuffix(asked, ".service") == in.name && in.id == "" {
		return in.name != ""
	}
	if _, id, ok := strings.Cut(asked, "://"); ok {
		asked = id
	}
	return len(asked) >= shortest && (strings.HasPrefix(in.id, asked) || strings.HasPrefix(in.pod, asked))
}
