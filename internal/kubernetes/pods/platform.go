// Package pods runs services as pods of a Kubernetes cluster: each unit is
// a Deployment and a headless Service, each replica a pod with limits. It runs in
// the conductor's pod, or wherever it can reach the addresses of pods.
//
// It reads the counters of a replica from the kubelet of its node, with the
// kubelet's time stamps, or from a node agent on that node. The pod's status shows
// whether a replica is up, and why it died. The kubelet restarts a container that
// dies, at the same address. An evicted pod does not return at its address: its
// replica is down from then on.
//
// Every object is labelled with the run and owned by the run's ConfigMap; the package
// objects makes it. This package sends no traffic, evaluates no measurement, and does not
// know how agents reach it (Dialled).
package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/kubelet"
	"github.com/millicore/millicore/internal/kubernetes/logbudget"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Options are the choices of New.
type Options struct {
	Client *kube.Client
	Run    string // the run's name, a DNS label of at most 40 characters
	// Owner is the run's ConfigMap, which owns every object of the run.
	Owner    metav1.OwnerReference
	Settings experiment.Kubernetes
	// Image has Millicore's own programs.
	Image string
	// Agents gives the streams of agents: the conductor's hub.
	Agents    Dialled
	Conductor string // host:port that agents dial
	// Note receives warnings and progress, one line each. Several goroutines may
	// call it concurrently.
	Note func(string)
}

// Dialled gives the streams of agents and node agents, which connect to the
// conductor.
type Dialled interface {
	// Agent waits until agent number index connects, and returns its stream for one
	// trial.
	Agent(ctx context.Context, index int) (platform.Agent, error)
	// Node does the same for the node agent of a node. The duration is the node's
	// clock minus this machine's.
	Node(ctx context.Context, name string) (io.ReadWriteCloser, time.Duration, error)
	objects.Credentials
}

// cluster is the platform.
type cluster struct {
	options    Options
	api        *kube.Client
	maker      *objects.Maker
	pods       *podstatus.Watch
	kubelets   *kubelet.Reader
	nodeAgents *nodeAgents // nil: kubelets are read instead
	logs       *logbudget.Budget

	running context.Context // ends with Close
	end     context.CancelFunc

	mu       sync.Mutex
	units    map[*unit]struct{} // started and not yet stopped
	agents   agentJob
	services map[string]bool // services of the experiment; other units are dependencies
	warned   map[string]bool
	secrets  map[string]string // names of Secrets, by their values as JSON
	closed   bool
}

// Bounds of waits.
const (
	brief   = 30 * time.Second // a few short requests
	goneIn  = time.Minute      // deleted pods, after their grace time
	lookFor = 200 * time.Millisecond
)

// New returns the platform. First it removes what an earlier conductor of the run
// left: a restarted conductor repeats the trial that was interrupted.
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
	k := &cluster{options: o, api: o.Client, units: map[*unit]struct{}{}, warned: map[string]bool{}, services: map[string]bool{},
		maker: objects.New(objects.Options{Run: o.Run, Owner: o.Owner, Settings: o.Settings, Image: o.Image, Conductor: o.Conductor}), logs: logbudget.New(logbudget.Total)}
	k.running, k.end = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(k.running, brief+goneIn)
	defer cancel()
	if err := k.sweep(ctx); err != nil {
		k.end()
		return nil, fmt.Errorf("remove what an earlier conductor of run %s left: %w", o.Run, err)
	}
	k.pods = podstatus.NewWatch(k.running, k.api, kube.LabelRun+"="+o.Run)
	k.kubelets = kubelet.New(k.running, k.api, o.Settings.KubeletCertificate == experiment.CertificateAny, k.warn)
	if o.Settings.NodeAgent {
		k.nodeAgents = &nodeAgents{k: k, nodes: map[string]*nodeAgent{}}
	}
	return k, nil
}

// Name is the platform's name in --on.
func (*cluster) Name() string { return "kubernetes" }

// Start starts all replicas of a unit and returns when they are ready. The
// context bounds the start only.
func (k *cluster) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, err := k.startUnit(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", u.Name, err)
	}
	if u.Autoscale != nil {
		return scaledUnit{started}, nil
	}
	return fixedUnit{started}, nil
}

// Folder always fails: pods keep their own files.
func (*cluster) Folder(string, *platform.User) (platform.Folder, error) {
	return nil, errors.New("there are no folders with --on kubernetes: pods keep their own files")
}

// Close stops and removes everything that is labelled with the run, except the
// conductor's own objects.
func (k *cluster) Close() error {
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
	errs := supervise.Each(len(left), func(i int) error { return left[i].Stop(context.Background()) })
	if k.nodeAgents != nil {
		k.nodeAgents.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), brief+goneIn)
	defer cancel()
	errs = append(errs, k.sweep(ctx))
	k.end()
	k.kubelets.Close()
	if words := k.logs.Total(); words != "" {
		k.options.Note(words)
	}
	return errors.Join(errs...)
}

// sweep removes all objects of the run except the conductor's, and waits until
// its pods are gone.
func (k *cluster) sweep(ctx context.Context) error {
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
	// These exist until what they own is gone. The next trial uses their names again.
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
func (k *cluster) add(u *unit) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.New("the platform is closed")
	}
	k.units[u] = struct{}{}
	return nil
}

func (k *cluster) drop(u *unit) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.units, u)
}

// part is the label of a unit's part in the run.
func (k *cluster) part(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.services[name] {
		return kube.PartService
	}
	return kube.PartDependency
}

// warn notes something once.
func (k *cluster) warn(text string) {
	k.mu.Lock()
	before := k.warned[text]
	k.warned[text] = true
	k.mu.Unlock()
	if !before {
		k.options.Note(text)
	}
}

// SeesThrottleWindows reports whether node agents measure when replicas are
// throttled. Kubelets report only how often.
func (k *cluster) SeesThrottleWindows() bool { return k.nodeAgents != nil }

var (
	_ platform.ImageRunner        = (*cluster)(nil)
	_ platform.ThrottleVisibility = (*cluster)(nil)
)
