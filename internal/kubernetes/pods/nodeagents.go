package pods

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// nodeAgents are the pods that read control groups, one on each node that runs a unit.
type nodeAgents struct {
	k *cluster

	mu    sync.Mutex
	nodes map[string]*nodeAgent // those whose DaemonSet was made
}

// nodeAgent is the agent of one node. It connects again when its stream has ended.
type nodeAgent struct {
	mu      sync.Mutex
	client  *nodeagent.Client // nil before its first connection, and ended until it connects again
	came    chan struct{}
	watched map[*watching]bool
	last    nodeagent.Reading // that was returned
}

// Times of node agents.
const (
	// readEvery is the time between two readings of counters, and so the largest age
	// of those of a frame.
	readEvery = 250 * time.Millisecond
	connectIn = 2 * time.Minute // for a node agent to be pulled, started and connected
)

// begin creates the agent of a node, once. It does not wait for it.
func (n *nodeAgents) begin(ctx context.Context, name string) (*nodeAgent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a := n.nodes[name]; a != nil {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	if err := n.k.makeSecret(ctx, n.k.maker.NodeSecret(name, n.k.options.Agents)); err != nil {
		return nil, err
	}
	if _, err := kube.DaemonSets.Create(ctx, n.k.api, n.k.maker.NodeDaemon(name)); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create the DaemonSet of the node agent of %s: %w", name, err)
	}
	a := &nodeAgent{came: make(chan struct{}), watched: map[*watching]bool{}}
	n.nodes[name] = a
	go a.run(n.k, name)
	return a, nil
}

// of returns the agent of a node once it has connected.
func (n *nodeAgents) of(ctx context.Context, name string) (*nodeAgent, error) {
	a, err := n.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	patience := time.NewTimer(connectIn)
	defer patience.Stop()
	select {
	case <-a.came:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-patience.C:
		return nil, fmt.Errorf("the node agent of %s has not connected to the conductor within %v%s", name, span.Text(connectIn), n.why(ctx, name))
	}
}

// why describes what keeps a node's agent from running, as far as that is known.
func (n *nodeAgents) why(ctx context.Context, name string) string {
	some, _, _ := n.k.pods.With(map[string]string{kube.LabelPart: kube.PartNode})
	for _, p := range some {
		if p.Spec.NodeName != name {
			continue
		}
		if o := podstatus.ObstacleOf(p, objects.NodeContainer); o != nil {
			return ": " + o.What
		}
		if end := podstatus.Ended(podstatus.Of(p, objects.NodeContainer)); end != nil {
			return ": " + podstatus.EndText(end, objects.NodeResources.MemoryBytes)
		}
		return ": its pod " + p.Name + " runs; see its log, and check whether a NetworkPolicy blocks its connection to the conductor"
	}
	return ": it has no pod there; the Pod Security levels baseline and restricted do not allow its hostPath volume" + n.k.lastWarning(ctx, "DaemonSet", n.k.maker.NodeAgentName(name))
}

func (n *nodeAgents) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.nodes {
		a.mu.Lock()
		if a.client != nil {
			_ = a.client.Close()
		}
		a.mu.Unlock()
	}
}

// run takes the node's streams one after the other until the platform closes, and
// watches all containers on each.
func (a *nodeAgent) run(k *cluster, name string) {
	ctx, first := k.running, true
	for ctx.Err() == nil {
		stream, offset, err := k.options.Agents.Node(ctx, name)
		if err != nil {
			if !supervise.Sleep(ctx, time.Second) {
				return
			}
			continue
		}
		client := nodeagent.NewClient(stream, offset)
		client.Interval(readEvery)
		a.mu.Lock()
		a.client = client
		all := a.watching()
		a.mu.Unlock()
		for _, w := range all {
			w.attach(client)
		}
		if first {
			close(a.came)
			first = false
		}
		k.count(client, name)
	}
}

func (a *nodeAgent) watching() []*watching {
	var all []*watching
	for w := range a.watched {
		all = append(all, w)
	}
	return all
}

// watch returns a watching without a container yet.
func (a *nodeAgent) watch(limit meter.Bandwidth) *watching {
	w := &watching{agent: a, limit: limit}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watched[w] = true
	w.client = a.client
	return w
}

// watching receives what a node agent reads of a replica, over all of its containers and
// the agent's streams. Several goroutines may use it concurrently.
type watching struct {
	agent *nodeAgent
	limit meter.Bandwidth

	mu             sync.Mutex
	client         *nodeagent.Client
	over           bool // end was called
	uid, container string
	watched        *nodeagent.Watched
	windows        []signals.Window // of earlier containers and streams
}

// begin watches a container from now on.
func (w *watching) begin(uid, container string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uid, w.container = uid, container
	w.renew()
}

// attach continues on a new stream of the agent.
func (w *watching) attach(client *nodeagent.Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.client = client
	w.renew()
}

func (w *watching) renew() {
	if w.watched != nil {
		w.watched.Close()
		w.windows = append(w.windows, w.watched.Windows()...)
		w.watched = nil
	}
	if w.client != nil && w.container != "" {
		w.watched = w.client.Watch(w.container, w.uid, w.limit.Quota, w.limit.Period)
	}
}

// read stores a newer reading in into, or the reason why there is none.
func (w *watching) read(into *sampledTotals) {
	w.mu.Lock()
	watched, container := w.watched, w.container
	w.mu.Unlock()
	if watched == nil {
		into.fail(errors.New("the agent of its node is not connected"))
		return
	}
	c, err := watched.Counters()
	if err != nil {
		into.fail(err)
		return
	}
	into.put(container, c)
}

// own is what the container's group sets itself, as in nodeagent.Watched; nil if it is not
// known.
func (w *watching) own() (own *nodeagent.Own, at time.Time, empty time.Duration) {
	w.mu.Lock()
	watched := w.watched
	w.mu.Unlock()
	if watched == nil {
		return nil, time.Time{}, 0
	}
	return watched.Own()
}

// take returns the windows that have ended since the last call.
func (w *watching) take() []signals.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.windows
	w.windows = nil
	if w.watched != nil {
		all = append(all, w.watched.Windows()...)
	}
	return all
}

func (w *watching) end() {
	w.agent.mu.Lock()
	delete(w.agent.watched, w)
	w.agent.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client, w.over = nil, true
	w.renew()
}
