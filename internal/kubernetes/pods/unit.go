package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// unit is a running unit.
type unit struct {
	k      *cluster
	of     platform.UnitSpec
	name   string            // of its Deployment and Service
	chosen map[string]string // labels of its pods

	mu       sync.Mutex
	replicas []*replica
	first    int  // how many of them the unit was started with
	made     bool // there may be something to remove

	scaling *scaling // nil: the replicas stay

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas that the unit was started with, in the order of
// their numbers.
func (u *unit) Replicas() []platform.Replica {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]platform.Replica, u.first)
	for i, r := range u.replicas[:u.first] {
		all[i] = r
	}
	return all
}

// Evicted describes which replica's pod was removed, and why. Its replacement has
// another address, to which no agent sends. An autoscaler may remove replicas: then
// it is "".
func (u *unit) Evicted() string {
	if u.of.Autoscale != nil {
		return ""
	}
	for _, r := range u.own() {
		if why := r.whyGone(); why != "" {
			return fmt.Sprintf("the pod %s was removed: %s", r.pod, why)
		}
	}
	return ""
}

// own returns the current replicas.
func (u *unit) own() []*replica {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]*replica(nil), u.replicas...)
}

// startUnit starts all replicas, or none.
func (k *cluster) startUnit(ctx context.Context, u platform.UnitSpec) (*unit, error) {
	switch {
	case u.Image == "":
		return nil, errors.New("no image: commands run with --on local")
	case u.FindPort:
		return nil, objects.ErrFindPort
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if u.Autoscale != nil {
		u.Limits.Replicas = u.Autoscale.Min
	}
	started := &unit{k: k, of: u, name: k.maker.UnitName(&u), chosen: k.maker.UnitLabels(&u)}
	err := k.add(started)
	if err == nil {
		err = started.start(ctx)
	}
	if err == nil {
		return started, nil
	}
	hurried, cancel := context.WithCancel(context.Background())
	cancel() // no grace time for a unit that never served
	return nil, errors.Join(err, started.Stop(hurried))
}

// start creates the unit's objects and waits until its replicas serve.
func (u *unit) start(ctx context.Context) error {
	if err := u.make(ctx); err != nil {
		return err
	}
	if err := u.awaitPods(ctx); err != nil {
		return err
	}
	all := u.own()
	for _, r := range all { // all nodes at once: each takes some seconds
		if u.k.nodeAgents == nil {
			break
		}
		if _, err := u.k.nodeAgents.begin(ctx, r.node); err != nil {
			return err
		}
	}
	if err := u.locate(ctx, all); err != nil {
		return err
	}
	for _, r := range all {
		if err := r.observe(ctx, u.of.Limits); err != nil {
			return fmt.Errorf("replica %d: %w", r.index, err)
		}
	}
	if err := u.awaitReady(ctx, all); err != nil {
		return err
	}
	return u.scale(ctx)
}

// make creates the Deployment and the Service.
func (u *unit) make(ctx context.Context) error {
	part := u.k.part(u.of.Name)
	deployment, secrets, err := u.k.maker.Deployment(&u.of, part)
	if err != nil {
		return err
	}
	// The requests are not cancelled with ctx: an object that the server created must
	// be known, so that it is removed.
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	if len(secrets) > 0 {
		name, err := u.k.secretOf(making, secrets)
		if err != nil {
			return err
		}
		objects.Refer(deployment, name)
	}
	u.mu.Lock()
	u.made = true
	u.mu.Unlock()
	if _, err := kube.Services.Create(making, u.k.api, u.k.maker.Service(&u.of, part)); err != nil {
		return fmt.Errorf("create the Service %s: %w", u.name, err)
	}
	if _, err := kube.Deployments.Create(making, u.k.api, deployment); err != nil {
		return fmt.Errorf("create the Deployment %s: %w", u.name, err)
	}
	return nil
}

// awaitPods waits until there is a pod for each replica whose container runs or
// has run.
func (u *unit) awaitPods(ctx context.Context) error {
	want := max(u.of.Limits.Replicas, 1)
	obstacles := podstatus.NewObstacles(u.k.options.Note, fmt.Sprintf("start %q", u.of.Name))
	look := time.NewTicker(lookFor)
	defer look.Stop()
	for {
		some, changed, err := u.k.pods.With(u.chosen)
		if err != nil {
			return err
		}
		in, err := u.adopt(some, want)
		if err != nil {
			return err
		}
		if in == nil && len(u.own()) == want {
			return nil
		}
		if in == nil { // no pod has an obstacle, but there are too few
			d, err := kube.Deployments.Get(ctx, u.k.api, u.name)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return fmt.Errorf("read the Deployment %s: %w", u.name, err)
			}
			in = podstatus.Refusal(d)
		}
		if err := obstacles.Meet(in, time.Now()); err != nil {
			return fmt.Errorf("%w%s", err, u.k.warningOf(ctx, in, some))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		case <-look.C:
		}
	}
}

// adopt makes replicas of new pods, and returns what keeps one of the others from
// running.
func (u *unit) adopt(some []*corev1.Pod, want int) (*podstatus.Obstacle, error) {
	known := map[string]bool{}
	for _, r := range u.own() {
		known[r.pod] = true
	}
	var in *podstatus.Obstacle
	for _, p := range some {
		if why := podstatus.Gone(p); why != "" {
			if known[p.Name] {
				return nil, evicted(p.Name, why)
			}
			continue
		}
		if o := podstatus.ObstacleOf(p, objects.UnitContainer); o != nil {
			in = o
			continue
		}
		if !known[p.Name] && len(u.own()) < want {
			r, err := u.begin(p, strconv.Itoa(len(known)))
			if err != nil {
				return nil, err
			}
			known[p.Name] = true
			u.mu.Lock()
			r.index = len(u.replicas)
			u.replicas, u.first = append(u.replicas, r), u.first+1
			u.mu.Unlock()
		}
	}
	return in, nil
}

// begin makes a replica of a pod whose container runs or has run. name is part of
// the name of its log.
func (u *unit) begin(p *corev1.Pod, name string) (*replica, error) {
	if why := objects.Admitted(&p.Spec, u.of.Limits); why != "" {
		return nil, fmt.Errorf("the pod %s: %s", p.Name, why)
	}
	r := &replica{k: u.k, pod: p.Name, node: p.Spec.NodeName, host: p.Status.HostIP, ready: u.of.Ready, serves: u.of.Serves,
		memory: u.of.Limits.Memory, scaled: u.of.Autoscale != nil, held: held{want: statedIn(p, u.of.Limits)}}
	r.stopping, r.stop = context.WithCancel(context.Background())
	var err error
	if r.log, err = supervise.OpenLog(u.of.Logs, fmt.Sprintf("trial%03d-%s-%s.log", u.of.Trial, u.of.Name, name)); err != nil {
		return nil, err
	}
	r.log.Removed = u.of.LogsRemoved
	r.output = follow(u.k.api, u.k.pods, p.Name, objects.UnitContainer, u.k.logs.Open(r.log))
	return r, nil
}

// locatedIn is how long the addresses of running pods may take to be published.
const locatedIn = 30 * time.Second

// locate sets the addresses of replicas from the Service's EndpointSlices.
func (u *unit) locate(ctx context.Context, all []*replica) error {
	ctx, cancel := supervise.WithTimeout(ctx, locatedIn)
	defer cancel(nil)
	for {
		slices, err := kube.EndpointSlices.List(ctx, u.k.api, discoveryv1.LabelServiceName+"="+u.name)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("look for addresses: %w", err)
		}
		found, missing := addresses(slices), ""
		for _, r := range all {
			if r.address = found[r.pod]; r.address == "" {
				missing = r.pod
				if pod, _ := u.k.pods.Get(r.pod); podstatus.Gone(pod) != "" {
					return evicted(r.pod, podstatus.Gone(pod))
				}
			}
		}
		if missing == "" {
			return nil
		}
		if !supervise.Sleep(ctx, lookFor/2) {
			return fmt.Errorf("the address of the pod %s is in no EndpointSlice of the Service %s (%w)", missing, u.name, context.Cause(ctx))
		}
	}
}

// addresses are the addresses of pods by name, ready or not: the pod of a container
// that has just died keeps its address.
func addresses(slices []discoveryv1.EndpointSlice) map[string]string {
	found := map[string]string{}
	for _, s := range slices {
		if len(s.Ports) == 0 || s.Ports[0].Port == nil || s.AddressType == discoveryv1.AddressTypeFQDN {
			continue
		}
		for _, e := range s.Endpoints {
			if e.TargetRef == nil || e.TargetRef.Kind != "Pod" || len(e.Addresses) == 0 {
				continue
			}
			// IPv4 is preferred; otherwise the first address is used.
			if found[e.TargetRef.Name] == "" || s.AddressType == discoveryv1.AddressTypeIPv4 {
				found[e.TargetRef.Name] = net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*s.Ports[0].Port)))
			}
		}
	}
	return found
}

// observe starts the reading of the replica's counters.
func (r *replica) observe(ctx context.Context, l experiment.Limits) error {
	if r.k.nodeAgents == nil {
		r.forget = r.k.kubelets.Watch(r.pod, r.node, r.host, func(s cadvisor.Sample, err error) {
			if err != nil {
				r.counters.fail(err)
				return
			}
			if l.CPUMillis > 0 && s.Periods == nil && s.CPULimit == nil {
				r.unlimited()
			}
			r.enforces(s, l)
			r.counters.put(s.ID, s.Counters)
		})
		return nil
	}
	agent, err := r.k.nodeAgents.of(ctx, r.node)
	if err != nil {
		return err
	}
	r.watching = agent.watch(meter.BandwidthOf(l))
	if pod, _ := r.k.pods.Get(r.pod); pod != nil {
		r.follow(pod, podstatus.Of(pod, objects.UnitContainer).ContainerID)
	}
	return nil
}

// awaitReady waits until replicas serve, within the unit's ready timeout.
func (u *unit) awaitReady(ctx context.Context, all []*replica) error {
	serving := make([]string, len(all))
	ctx, cancel := supervise.WithTimeout(ctx, cmp.Or(u.of.Ready.Timeout, supervise.ReadyTimeout)) // of the service, not of Kubernetes
	defer cancel(nil)
	err := supervise.AwaitAll(len(all), cancel, func(i int) (err error) {
		if serving[i], err = all[i].serve(ctx); err != nil {
			return all[i].explain(ctx, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range all {
		r.rise()
		r.kept = make(chan struct{})
		go r.keep(serving[i])
	}
	return nil
}

// serve waits until the replica serves in its first life, and for SettleTime more.
func (r *replica) serve(ctx context.Context) (container string, err error) {
	pod, _ := r.k.pods.Get(r.pod)
	if podstatus.Gone(pod) != "" {
		return "", supervise.ErrDied
	}
	s := podstatus.Of(pod, objects.UnitContainer)
	if s.RestartCount > 0 || s.State.Running == nil {
		return "", supervise.ErrDied
	}
	if err := r.awaitReady(ctx, s.ContainerID); err != nil {
		return "", err
	}
	if !supervise.Sleep(ctx, supervise.SettleTime) || !r.lives(s.ContainerID) {
		return "", supervise.ErrDied
	}
	return s.ContainerID, nil
}

func (r *replica) lives(container string) bool {
	pod, _ := r.k.pods.Get(r.pod)
	return runs(pod, container)
}

// explain adds the reason and the end of the log to an error of serve.
func (r *replica) explain(ctx context.Context, err error) error {
	if errors.Is(err, supervise.ErrDied) { // its last output may still arrive
		select {
		case <-r.output.heard:
		case <-time.After(tailWithin):
		}
	}
	if pod, _ := r.k.pods.Get(r.pod); errors.Is(err, supervise.ErrDied) && podstatus.Gone(pod) != "" {
		return evicted(r.pod, podstatus.Gone(pod))
	}
	died := func() string {
		pod, _ := r.k.pods.Get(r.pod)
		return podstatus.EndText(podstatus.Ended(podstatus.Of(pod, objects.UnitContainer)), r.memory)
	}
	return r.log.Explain(ctx, err, died, func() string {
		return fmt.Sprintf("; it must listen at %s, on all addresses and not only on loopback: use ${port} or $PORT, or state its own port (port: in the experiment file); a NetworkPolicy of the namespace may block the conductor", r.address)
	})
}
