// Package fleet looks at the processes of all nodes of a cluster: it starts a look in the pod of
// a DaemonSet on each, and merges what they read. What is read is judged here, by the rules of
// the program that asked, as on a single host. Nothing in the cluster is created or changed.
package fleet

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
)

// Names in the manifest.
const (
	Namespace = "millicore-doctor"
	label     = "app.kubernetes.io/name=millicore-doctor"
	container = "doctor"
	program   = "/millicore-nodeagent"
)

//go:embed daemonset.yaml
var manifest string

// ErrNoImage means that there is no image of this program.
var ErrNoImage = errors.New("this millicore was built without a version and has no image; name one with --image")

// WriteManifest writes the YAML of the namespace and the DaemonSet with an image, by default
// that of this version, or ErrNoImage.
func WriteManifest(w io.Writer, image, version string) error {
	if image == "" && version == launch.Unreleased {
		return ErrNoImage
	}
	_, err := io.WriteString(w, strings.Replace(manifest, "IMAGE", cmp.Or(image, launch.Released+":"+version), 1))
	return err
}

// look is what a node's pod writes. Both sides are of one version, so that it needs no format
// of its own.
type look struct {
	Version string
	Host    inspect.Host
}

// Look scans this host, for a collector of the same version.
func Look(ctx context.Context, w io.Writer, version string, watch time.Duration) error {
	host, err := inspect.New("").Scan(ctx, inspect.Only{}, watch)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(look{version, host})
}

// Node is a node with what was read there.
type Node struct {
	Name string
	Host inspect.Host
	Err  error // why it was not read; nil: it was
}

// Bounds of a collection.
const (
	atOnce    = 128              // looks
	allowance = time.Minute      // for a look to start, and to be read, beside the watch
	mostLook  = 64 << 20         // bytes of one
	briefly   = 30 * time.Second // for the list of nodes
)

// ErrNoPods means that the DaemonSet has no pods, or does not exist.
var ErrNoPods = errors.New("there is no pod of the DaemonSet millicore-doctor")

// Collect starts a look on every node of the cluster and returns all nodes, by name. An error
// means that no node could be asked. The user needs the rights to list pods and to create
// pods/exec in the namespace of the DaemonSet; with the right to list nodes, those without a pod
// are among the result.
func Collect(ctx context.Context, c *kube.Client, version string, watch time.Duration) ([]Node, error) {
	pods, err := kube.Pods.List(ctx, c, label)
	if err != nil {
		return nil, fmt.Errorf("list the pods of the DaemonSet in namespace %s: %w", c.Namespace, err)
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("%w in namespace %s", ErrNoPods, c.Namespace)
	}
	byNode := map[string]*corev1.Pod{}
	for i := range pods {
		name := nodeOf(&pods[i])
		if known := byNode[name]; known == nil || !running(known) { // an old one may be ending
			byNode[name] = &pods[i]
		}
	}
	listing, stop := context.WithTimeout(ctx, briefly)
	defer stop()
	if all, err := kube.Nodes.List(listing, c, "kubernetes.io/os=linux"); err == nil {
		for _, n := range all {
			if _, known := byNode[n.Name]; !known {
				byNode[n.Name] = nil
			}
		}
	}
	nodes := make([]Node, 0, len(byNode))
	for name := range byNode {
		nodes = append(nodes, Node{Name: name})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	var looking sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i := range nodes {
		looking.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			nodes[i].read(ctx, c, byNode[nodes[i].Name], version, watch)
		})
	}
	looking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !slices.ContainsFunc(nodes, func(n Node) bool { return n.Err == nil }) {
		return nil, fmt.Errorf("no node could be read; of %s: %w", nodes[0].Name, nodes[0].Err)
	}
	return nodes, nil
}

// read starts a look on a node. pod is nil if there is none.
func (n *Node) read(ctx context.Context, c *kube.Client, pod *corev1.Pod, version string, watch time.Duration) {
	switch {
	case pod == nil:
		n.Err = errors.New("no pod of the DaemonSet is there")
		return
	case !running(pod):
		n.Err = fmt.Errorf("pod %s does not run", pod.Name)
		if o := podstatus.ObstacleOf(pod, container); o != nil {
			n.Err = fmt.Errorf("pod %s does not run: %s", pod.Name, o.What)
		}
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, watch+allowance, fmt.Errorf("pod %s did not answer within %v", pod.Name, watch+allowance))
	defer cancel()
	text, err := c.Exec(ctx, pod.Name, container, []string{program, "--look", watch.String()}, mostLook)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	var read look
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	switch {
	case err != nil:
		n.Err = err
	case read.Version != version:
		n.Err = fmt.Errorf("pod %s has version %s of millicore, and this is %s; millicore doctor --manifest has the present one", pod.Name, read.Version, version)
	default:
		n.Host = read.Host
	}
}

// running reports whether a pod's container runs.
func running(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == container && s.State.Running != nil
	})
}

// nodeOf is the node of a DaemonSet's pod. Before the pod is scheduled its affinity names it.
func nodeOf(p *corev1.Pod) string {
	if p.Spec.NodeName != "" || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil ||
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return p.Spec.NodeName
	}
	for _, term := range p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// Merge returns all processes of the nodes as those of one host, and all findings, the most
// severe first: those of a level by throttling, then by use of the limit. The host is partial if
// a node was not read, and was watched for as long as the node that was watched the least.
func Merge(nodes []Node) (host inspect.Host, findings []doctor.Finding) {
	first := true
	for _, n := range nodes {
		if n.Err != nil {
			host.Partial = true
			continue
		}
		if first || n.Host.Watched < host.Watched {
			host.Watched, first = n.Host.Watched, false
		}
		for i := range n.Host.Processes {
			n.Host.Processes[i].Node = n.Name
		}
		host.Online += n.Host.Online
		host.Processes = append(host.Processes, n.Host.Processes...)
		findings = append(findings, doctor.Examine(n.Host)...)
	}
	share := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	slices.SortStableFunc(findings, func(a, b doctor.Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(share(b.Throttled), share(a.Throttled)), cmp.Compare(share(b.Used), share(a.Used)))
	})
	return host, findings
}
