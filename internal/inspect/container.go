package inspect

import (
	"path"
	"regexp"
	"strings"
)

// containers are the names of containers by their ids.
type containers map[string]string

// place is where a process runs, as the names of its groups tell.
type place struct {
	name string // of the container or the service; "" in none
	id   string // of the container, whole; "" in none
	pod  string // uid of the Kubernetes pod; "" in none
}

var (
	// containerID is an id as Docker, containerd, CRI-O and Podman give it: alone
	// (/docker/ID, /kubepods/…/ID), in the name of a scope of systemd
	// (docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope),
	// or behind the slice and the runtime where containerd was not told that
	// systemd keeps the groups (…slice:cri-containerd:ID).
	containerID = regexp.MustCompile(`^(?:.*:)?([a-z][a-z-]*-)?([0-9a-f]{64})(?:\.scope)?$`)
	// podUID is the uid of a pod: pod7d9f… where the kubelet keeps the groups, and
	// kubepods-burstable-pod7d9f….slice where systemd does, with _ for -. Pods of
	// manifest files have 32 digits without either.
	podUID = regexp.MustCompile(`(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice(?::.*)?)?$`)
	// named are groups whose last part is the name of a container: of LXC, and of
	// containerd's own namespace, which ctr and nerdctl use.
	named = regexp.MustCompile(`^(?:.*/lxc\.payload\.|.*/lxc/|/default/)([^/]+)$`)
	// unit is a service of systemd.
	unit = regexp.MustCompile(`^(.+)\.service$`)
)

// conmon is in the names of the groups of who watches a container from outside.
const conmon = "conmon-"

// of tells where a process runs from the text of its /proc/PID/cgroup: in the
// innermost container on any line, else in the innermost service of systemd.
func (c containers) of(text string) place {
	var in place
	service, before := "", ""
	for line := range strings.Lines(text) {
		_, group, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		_, group, _ = strings.Cut(group, ":")
		if group == before { // of v1 most lines have the same
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

// shortest is how much of an id names a container or a pod.
const shortest = 4

// is reports whether a process's place is the one that is asked for: by the name,
// by the beginning of the container's id, also as kubectl shows it
// (containerd://ID), by that of the pod's uid, or as a service's unit.
func (in place) is(asked string) bool {
	if asked == in.name || strings.TrimSuffix(asked, ".service") == in.name && in.id == "" {
		return in.name != ""
	}
	if _, id, ok := strings.Cut(asked, "://"); ok {
		asked = id
	}
	return len(asked) >= shortest && (strings.HasPrefix(in.id, asked) || strings.HasPrefix(in.pod, asked))
}
