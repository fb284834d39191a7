package kubelet

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// lookAt is how long SamplesOften observes a kubelet.
const lookAt = 3 * time.Second

// SamplesOften reports whether the kubelet of a node read most of the node's control
// groups again within a few seconds. If that is not wanted it sends one request, to check
// the permission.
func (r *Reader) SamplesOften(ctx context.Context, n *corev1.Node, wanted bool) (bool, error) {
	return r.unwatched(n).samplesOften(ctx, wanted)
}

// unwatched returns the kubelet of a node, independent of the watched ones.
func (r *Reader) unwatched(n *corev1.Node) *node {
	port := int(n.Status.DaemonEndpoints.KubeletEndpoint.Port)
	if port == 0 {
		port = kubeletPort
	}
	host := n.Name
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			host = a.Address
			break
		}
	}
	return &node{of: r, node: n.Name, address: net.JoinHostPort(host, strconv.Itoa(port))}
}

func (n *node) samplesOften(ctx context.Context, wanted bool) (bool, error) {
	before, err := n.stamps(ctx)
	if err != nil || !wanted {
		return true, err
	}
	if !supervise.Sleep(ctx, lookAt) {
		return false, context.Cause(ctx)
	}
	after, err := n.stamps(ctx)
	if err != nil {
		return false, err
	}
	return renewed(before, after), nil
}

// renewed reports whether most groups that are in both readings have a newer time
// in the second.
func renewed(before, after map[string]int64) bool {
	both, newer := 0, 0
	for id, at := range before {
		now, ok := after[id]
		if !ok {
			continue
		}
		both++
		if now > at {
			newer++
		}
	}
	return 2*newer > both
}

func (n *node) stamps(ctx context.Context) (map[string]int64, error) {
	body, err := n.ask(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	stamps, err := cadvisor.Stamps(body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of the kubelet of node %s: %w", n.node, err)
	}
	return stamps, nil
}
