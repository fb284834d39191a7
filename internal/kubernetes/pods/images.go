package pods

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// listen are the arguments that every sample service takes to know where to listen.
var listen = []string{"--host", "${host}", "--port", "${port}"}

// Workload returns the image of a sample service. The image of go is Millicore's
// own, which has several programs: the first argument chooses one.
func (k *cluster) Workload(_ context.Context, name string) (image string, arguments []string, err error) {
	switch image = k.maker.Workload(name); {
	case image == "":
		return "", nil, objects.ErrNoImage(name)
	case name == "go":
		arguments = []string{"/millicore-go"}
	}
	return image, append(arguments, listen...), nil
}

// Fetch pulls nothing: each node pulls the image when it first needs it. Fetch
// returns the digest if a node already has the image, and its name otherwise.
func (k *cluster) Fetch(ctx context.Context, image string) (digest string, err error) {
	nodes, err := kube.Nodes.List(ctx, k.api, "")
	if err != nil {
		return image, nil //nolint:nilerr // who may not see nodes still runs images
	}
	return digestOf(nodes, image), nil
}

// digestOf is an image's digest as nodes list it, or its name if none does. A node
// lists its 50 largest images.
func digestOf(nodes []corev1.Node, image string) string {
	want := kube.ImageName(image)
	for _, n := range nodes {
		for _, i := range n.Status.Images {
			if !slices.ContainsFunc(i.Names, func(name string) bool { return kube.ImageName(name) == want }) {
				continue
			}
			for _, name := range i.Names {
				if _, digest, ok := strings.Cut(name, "@"); ok {
					return digest
				}
			}
		}
	}
	return image
}

// Versions are those of the cluster and, if the nodes may be listed, of its nodes:
// "kubernetes", "kubelet", "container-runtime" and "kernel". If nodes differ, each
// version is in the list.
func (k *cluster) Versions() map[string]string {
	ctx, cancel := context.WithTimeout(k.running, brief)
	defer cancel()
	versions := map[string]string{}
	if v, err := k.api.Version(ctx); err == nil && v.Name != "" {
		versions["kubernetes"] = v.Name
	}
	if nodes, err := kube.Nodes.List(ctx, k.api, ""); err == nil {
		maps.Copy(versions, nodeVersions(nodes))
	}
	return versions
}

func nodeVersions(nodes []corev1.Node) map[string]string {
	all := map[string][]string{}
	for i := range nodes {
		info := &nodes[i].Status.NodeInfo
		for name, version := range map[string]string{"kubelet": info.KubeletVersion, "container-runtime": info.ContainerRuntimeVersion, "kernel": info.KernelVersion} {
			if version != "" && !slices.Contains(all[name], version) {
				all[name] = append(all[name], version)
			}
		}
	}
	versions := map[string]string{}
	for name, some := range all {
		slices.Sort(some)
		versions[name] = strings.Join(some, ", ")
	}
	return versions
}
