// Package kubernetes runs services as pods of a Kubernetes cluster: each unit is
// a Deployment and a headless Service, each replica a pod with limits. It is made
// to run inside the cluster, in the conductor's pod, and runs wherever the pods'
// addresses are reached.
//
// How a replica does is read from the kubelet of its node, with the kubelet's own
// time stamps, or from a node agent beside it; whether it is up, and why it died,
// from its pod's status. A container that dies is started again by its kubelet,
// and keeps its address; a pod that is evicted does not come back at its address,
// so that its replica is down from then on.
//
// Everything that is made is labelled with the run and owned by the run's
// ConfigMap. Maker, which makes it, also tells what there would be before anything
// is started. The package makes no traffic, does not judge what it reads, and does
// not know how agents reach it (Dialled).
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/life"
)

// Options are the choices of New.
type Options struct {
	Client *kube.Client
	Run    string // the run's name, a DNS label of at most 40 characters
	// Owner is the run's ConfigMap, which owns all that is made.
	Owner    metav1.OwnerReference
	Settings experiment.Kubernetes
	// Image is that of Millicore's own programs.
	Image string
	// Agents are those who dial in: the conductor's hub.
	Agents    Dialled
	Conductor string // host:port that agents dial
	// Secret names the run's Secret, of which agents get the keys tls.crt and token.
	Secret string
	// Note takes warnings, and what takes long, a line each. It may be called by
	// several goroutines at once.
	Note func(string)
}

// Dialled gives the streams of those who dial in.
type Dialled interface {
	// Agent waits for agent number index to dial in and gives its stream for one
	// trial.
	Agent(ctx context.Context, index int) (platform.Agent, error)
	// Node likewise gives the stream of a node agent, and what its clock stands
	// ahead of this one's.
	Node(ctx context.Context, name string) (io.ReadWriteCloser, time.Duration, error)
}

// kubernetes is the platform.
type kubernetes struct {
	options Options
	api     *kube.Client
	maker   *Maker
	pods    *pods
	nodes   *kubelets
	near    *nodeAgents // nil: there are none

	running context.Context // ends with Close
	end     context.CancelFunc

	mu       sync.Mutex
	units    map[*unit]struct{} // what is started and not yet stopped
	agents   agentJob
	services map[string]bool // names of services of the experiment; others are dependencies
	warned   map[string]bool
	closed   bool
}

// Bounds of what is waited for.
const (
	brief   = 30 * time.Second // a few requests that are answered at once
	goneIn  = time.Minute      // pods that were told to end, after their grace
	lookFor = 200 * time.Millisecond
)

// New returns the platform, after it removed what a run of this name has left
// before: trials of a conductor that was started again are begun anew.
func New(o Options) (platform.Platform, error) {
	switch {
	case o.Client == nil:
		return nil, errors.New("no cluster is given")
	case o.Run == "":
		return nil, errors.New("the run has no name")
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	k := &kubernetes{options: o, api: o.Client, units: map[*unit]struct{}{}, warned: map[string]bool{}, services: map[string]bool{},
		maker: NewMaker(o)}
	k.running, k.end = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(k.running, brief+goneIn)
	defer cancel()
	if err := k.sweep(ctx); err != nil {
		k.end()
		return nil, fmt.Errorf("remove what the run %s has left before: %w", o.Run, err)
	}
	k.pods = watchPods(k.running, k.api, kube.LabelRun+"="+o.Run)
	k.nodes = newKubelets(k.running, k.api, o.Settings.KubeletCertificate == experiment.CertificateVerify, k.warn)
	if o.Settings.NodeAgent {
		k.near = &nodeAgents{k: k, nodes: map[string]*nodeAgent{}}
	}
	return k, nil
}

// Name is the word of --on.
func (*kubernetes) Name() string { return "kubernetes" }

// Start starts all replicas of a unit and returns when they are ready. The
// context bounds the starting, not the life of what was started.
func (k *kubernetes) Start(ctx context.Context, u platform.Unit) (platform.Running, error) {
	started, err := k.startUnit(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", u.Name, err)
	}
	if u.Autoscale != nil {
		return scaledUnit{started}, nil
	}
	return fixedUnit{started}, nil
}

// Folder makes none: pods keep their files themselves.
func (*kubernetes) Folder(string, *platform.User) (platform.Folder, error) {
	return nil, errors.New("pods keep their files themselves: there are no folders with --on kubernetes")
}

// Close stops and removes all that is still there: Deployments, Services, the
// agents' Job and what else is labelled with the run, but the conductor's own.
func (k *kubernetes) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return nil
	}
	k.closed = true
	var left []*unit
	for u := range k.units {
		left = append(left, u)
	}
	k.mu.Unlock()
	errs := life.Each(len(left), func(i int) error { return left[i].Stop(context.Background()) })
	if k.near != nil {
		k.near.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), brief+goneIn)
	defer cancel()
	errs = append(errs, k.sweep(ctx))
	k.end()
	k.nodes.close()
	return errors.Join(errs...)
}

// sweep removes all that the run has, but the conductor and what owns it, and
// waits until its pods are gone.
func (k *kubernetes) sweep(ctx context.Context) error {
	selector := fmt.Sprintf("%s=%s,%s!=%s", kube.LabelRun, k.options.Run, kube.LabelPart, kube.PartConductor)
	errs := []error{
		removeAll(ctx, k.api, kube.Deployments, selector),
		removeAll(ctx, k.api, kube.Services, selector),
		removeAll(ctx, k.api, kube.Jobs, selector),
		removeAll(ctx, k.api, kube.Autoscalers, selector),
	}
	if k.options.Settings.NodeAgent {
		errs = append(errs, removeAll(ctx, k.api, kube.DaemonSets, selector))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := awaitGone(ctx, k.api, selector); err != nil {
		return err
	}
	// Which are there until what they own has gone, and whose names come again.
	_, err := awaitNone(ctx, k.api, kube.Deployments, selector)
	if err == nil {
		_, err = awaitNone(ctx, k.api, kube.Jobs, selector)
	}
	if err == nil && k.options.Settings.NodeAgent {
		_, err = awaitNone(ctx, k.api, kube.DaemonSets, selector)
	}
	return err
}

// add registers a unit, so that Close ends it.
func (k *kubernetes) add(u *unit) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.New("the platform is closed")
	}
	k.units[u] = struct{}{}
	return nil
}

func (k *kubernetes) drop(u *unit) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.units, u)
}

// part is what a unit is to the run.
func (k *kubernetes) part(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.services[name] {
		return kube.PartService
	}
	return kube.PartDependency
}

// warn notes something once.
func (k *kubernetes) warn(text string) {
	k.mu.Lock()
	before := k.warned[text]
	k.warned[text] = true
	k.mu.Unlock()
	if !before {
		k.options.Note(text)
	}
}

// SeesWindows reports whether node agents see when replicas are throttled.
// Kubelets tell only that they were.
func (k *kubernetes) SeesWindows() bool { return k.near != nil }

var (
	_ platform.Images = (*kubernetes)(nil)
	_ platform.Seer   = (*kubernetes)(nil)
)
