package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/node"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/signals"
)

// nodeAgents are the pods that see containers from near, one on each node.
type nodeAgents struct {
	k *kubernetes

	mu    sync.Mutex
	made  bool // the DaemonSet
	nodes map[string]*nodeAgent
}

// nodeAgent is that of one node. It dials again whenever its stream has ended.
type nodeAgent struct {
	mu      sync.Mutex
	client  *node.Client // nil before it first dials in; after its end until it dials again
	came    chan struct{}
	watched map[*watching]bool
	last    node.Reading // that was given
}

// Times of node agents.
const (
	// readEvery is the time between two readings of counters: those of a frame are
	// at most so old.
	readEvery = 250 * time.Millisecond
	nearIn    = 2 * time.Minute // for a node agent to be pulled, started and to dial in
)

// make makes the DaemonSet, once.
func (n *nodeAgents) make(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.made {
		return nil
	}
	if _, err := kube.DaemonSets.Create(ctx, n.k.api, n.k.maker.daemons()); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the node agents: %w", err)
	}
	n.made = true
	return nil
}

// of gives the agent of a node, once it has dialled in.
func (n *nodeAgents) of(ctx context.Context, name string) (*nodeAgent, error) {
	n.mu.Lock()
	a := n.nodes[name]
	if a == nil {
		a = &nodeAgent{came: make(chan struct{}), watched: map[*watching]bool{}}
		n.nodes[name] = a
		go a.run(n.k, name)
	}
	n.mu.Unlock()
	patience := time.NewTimer(nearIn)
	defer patience.Stop()
	select {
	case <-a.came:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-patience.C:
		return nil, fmt.Errorf("the node agent of %s has not dialled the conductor within %v%s", name, nearIn, n.why(ctx, name))
	}
}

// why is what keeps a node's agent from running, as far as that can be told.
func (n *nodeAgents) why(ctx context.Context, name string) string {
	some, _, _ := n.k.pods.of(map[string]string{kube.LabelPart: kube.PartNode})
	for _, p := range some {
		if p.Spec.NodeName != name {
			continue
		}
		if o := obstacleOf(p, nodeContainer); o != nil {
			return ": " + o.what
		}
		if end := ended(statusOf(p, nodeContainer)); end != nil {
			return ": " + obituary(end, nodeResources.MemoryBytes)
		}
		return ": its pod " + p.Name + " runs; see its log, and whether a NetworkPolicy keeps it from the conductor"
	}
	return ": it has no pod there; a namespace of the Pod Security level baseline or restricted takes no volume of a node" + n.k.lastWarning(ctx, "DaemonSet", objectName(n.k.options.Run, "node"))
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
// has everything watched on each.
func (a *nodeAgent) run(k *kubernetes, name string) {
	ctx, first := k.running, true
	for ctx.Err() == nil {
		stream, offset, err := k.options.Agents.Node(ctx, name)
		if err != nil {
			if !life.Sleep(ctx, time.Second) {
				return
			}
			continue
		}
		client := node.NewClient(stream, offset)
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

// watch gives what watches a replica's containers, none yet.
func (a *nodeAgent) watch(quota, period time.Duration) *watching {
	w := &watching{agent: a, quota: quota, period: period}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watched[w] = true
	w.client = a.client
	return w
}

// watching is what a node agent sees of a replica, over its containers and the
// agent's streams. It may be used by several goroutines at once.
type watching struct {
	agent         *nodeAgent
	quota, period time.Duration

	mu             sync.Mutex
	client         *node.Client
	over           bool // it is ended
	uid, container string
	watched        *node.Watched
	windows        []signals.Window // of those that were watched before
}

// begin has a container watched from now on.
func (w *watching) begin(uid, container string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uid, w.container = uid, container
	w.renew()
}

// attach goes on with another stream of the agent.
func (w *watching) attach(client *node.Client) {
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
		w.watched = w.client.Watch(w.container, w.uid, w.quota, w.period)
	}
}

// read takes a newer reading, or why there is none.
func (w *watching) read(into *counting) {
	w.mu.Lock()
	watched, container := w.watched, w.container
	w.mu.Unlock()
	if watched == nil {
		into.fail(errors.New("its node's agent is not there"))
		return
	}
	c, err := watched.Counters()
	if err != nil {
		into.fail(err)
		return
	}
	into.put(container, c)
}

// take gives the windows that ended since the last call.
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
