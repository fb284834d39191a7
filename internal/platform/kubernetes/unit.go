package kubernetes

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

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/kubernetes/cadvisor"
	"github.com/millicore/millicore/internal/platform/life"
)

// unit is a running unit.
type unit struct {
	k      *kubernetes
	of     platform.Unit
	name   string            // of its Deployment and Service
	chosen map[string]string // labels of its pods

	mu       sync.Mutex
	replicas []*replica
	first    int  // of them the unit was started with
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

// Evicted says which replica's pod is no more, and why. The pod in its place has
// another address, which nobody was told. One that is autoscaled may go.
func (u *unit) Evicted() string {
	if u.of.Autoscale != nil {
		return ""
	}
	for _, r := range u.own() {
		if why := r.whyGone(); why != "" {
			return fmt.Sprintf("the pod %s is no more: %s", r.pod, why)
		}
	}
	return ""
}

// own are the replicas as they are now.
func (u *unit) own() []*replica {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]*replica(nil), u.replicas...)
}

// startUnit starts all replicas, or none.
func (k *kubernetes) startUnit(ctx context.Context, u platform.Unit) (*unit, error) {
	switch {
	case u.Image == "":
		return nil, errors.New("no image: commands run with --on local")
	case u.FindPort:
		return nil, errFindPort
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if u.Autoscale != nil {
		u.Limits.Replicas = u.Autoscale.Min
	}
	started := &unit{k: k, of: u, name: k.maker.unitName(&u), chosen: k.maker.unitLabels(&u)}
	err := k.add(started)
	if err == nil {
		err = started.start(ctx)
	}
	if err == nil {
		return started, nil
	}
	hurried, cancel := context.WithCancel(context.Background())
	cancel() // no grace for what never served
	return nil, errors.Join(err, started.Stop(hurried))
}

// start makes the unit's objects and waits until its replicas serve.
func (u *unit) start(ctx context.Context) error {
	if u.k.near != nil {
		if err := u.k.near.make(ctx); err != nil {
			return err
		}
	}
	if err := u.make(ctx); err != nil {
		return err
	}
	if err := u.awaitPods(ctx); err != nil {
		return err
	}
	all := u.own()
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

// make makes the Deployment and the Service.
func (u *unit) make(ctx context.Context) error {
	part := u.k.part(u.of.Name)
	deployment, err := u.k.maker.deployment(&u.of, part)
	if err != nil {
		return err
	}
	// To its end, also where ctx ends before: what the server makes all the same is
	// then known, and removed.
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	u.mu.Lock()
	u.made = true
	u.mu.Unlock()
	if _, err := kube.Services.Create(making, u.k.api, u.k.maker.service(&u.of, part)); err != nil {
		return fmt.Errorf("make the Service %s: %w", u.name, err)
	}
	if _, err := kube.Deployments.Create(making, u.k.api, deployment); err != nil {
		return fmt.Errorf("make the Deployment %s: %w", u.name, err)
	}
	return nil
}

// awaitPods waits until there are as many pods as replicas, and their containers
// run or have run.
func (u *unit) awaitPods(ctx context.Context) error {
	want := max(u.of.Limits.Replicas, 1)
	hurdles := newHurdles(u.k.options.Note, fmt.Sprintf("start %q", u.of.Name))
	look := time.NewTicker(lookFor)
	defer look.Stop()
	for {
		some, changed, err := u.k.pods.of(u.chosen)
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
		if in == nil { // no pod is in trouble, but there are too few
			d, err := kube.Deployments.Get(ctx, u.k.api, u.name)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return fmt.Errorf("look at the Deployment %s: %w", u.name, err)
			}
			in = refusal(d)
		}
		if err := hurdles.meet(in, time.Now()); err != nil {
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

// adopt makes replicas of pods that are new, and gives what keeps one of them
// from running.
func (u *unit) adopt(some []*corev1.Pod, want int) (*obstacle, error) {
	known := map[string]bool{}
	for _, r := range u.own() {
		known[r.pod] = true
	}
	var in *obstacle
	for _, p := range some {
		if why := gone(p); why != "" {
			if known[p.Name] {
				return nil, evicted(p.Name, why)
			}
			continue
		}
		if o := obstacleOf(p, unitContainer); o != nil {
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

// begin makes a replica of a pod whose container runs, or has run. name tells its
// log from others'.
func (u *unit) begin(p *corev1.Pod, name string) (*replica, error) {
	r := &replica{k: u.k, pod: p.Name, node: p.Spec.NodeName, host: p.Status.HostIP, ready: u.of.Ready, serves: u.of.Serves,
		memory: u.of.Limits.Memory, scaled: u.of.Autoscale != nil}
	r.stopping, r.stop = context.WithCancel(context.Background())
	var err error
	if r.log, err = life.OpenLog(u.of.Logs, fmt.Sprintf("trial%03d-%s-%s.log", u.of.Trial, u.of.Name, name)); err != nil {
		return nil, err
	}
	r.output = follow(u.k.api, u.k.pods, p.Name, unitContainer, r.log)
	return r, nil
}

// locatedIn is how long the addresses of pods that run may take to be known.
const locatedIn = 30 * time.Second

// locate gives replicas their addresses, from the Service's EndpointSlices.
func (u *unit) locate(ctx context.Context, all []*replica) error {
	ctx, cancel := life.Within(ctx, locatedIn)
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
				if pod, _ := u.k.pods.get(r.pod); gone(pod) != "" {
					return evicted(r.pod, gone(pod))
				}
			}
		}
		if missing == "" {
			return nil
		}
		if !life.Sleep(ctx, lookFor/2) {
			return fmt.Errorf("the address of the pod %s is in no EndpointSlice of the Service %s (%w)", missing, u.name, context.Cause(ctx))
		}
	}
}

// addresses are those of pods, by their names, whether or not they are ready: a
// container that has just died keeps its pod's address.
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
			// Of a pod with addresses of both families the first that is found holds,
			// but IPv4's before the other's.
			if found[e.TargetRef.Name] == "" || s.AddressType == discoveryv1.AddressTypeIPv4 {
				found[e.TargetRef.Name] = net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*s.Ports[0].Port)))
			}
		}
	}
	return found
}

// observe begins to read the replica's counters.
func (r *replica) observe(ctx context.Context, l experiment.Limits) error {
	if r.k.near == nil {
		r.forget = r.k.nodes.watch(r.pod, r.node, r.host, func(s cadvisor.Sample, err error) {
			if err != nil {
				r.counters.fail(err)
				return
			}
			if l.CPUMillis > 0 && s.Periods == nil && s.CPULimit == nil {
				r.unlimited()
			}
			r.counters.put(s.ID, s.Counters)
		})
		return nil
	}
	agent, err := r.k.near.of(ctx, r.node)
	if err != nil {
		return err
	}
	r.near = agent.watch(time.Duration(l.CPUMillis)*period/1000, period)
	if pod, _ := r.k.pods.get(r.pod); pod != nil {
		r.follow(pod, statusOf(pod, unitContainer).ContainerID)
	}
	return nil
}

// period is that of CFS in pods, unless a kubelet is told otherwise.
const period = 100 * time.Millisecond

// awaitReady waits until replicas serve, within the unit's own time for it.
func (u *unit) awaitReady(ctx context.Context, all []*replica) error {
	serving := make([]string, len(all))
	ctx, cancel := life.Within(ctx, cmp.Or(u.of.Ready.Timeout, life.ReadyTimeout)) // of the service, not of Kubernetes
	defer cancel(nil)
	err := life.Together(len(all), cancel, func(i int) (err error) {
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

// serve waits until the replica serves in its first life, and goes on doing so.
func (r *replica) serve(ctx context.Context) (container string, err error) {
	pod, _ := r.k.pods.get(r.pod)
	if gone(pod) != "" {
		return "", life.ErrDied
	}
	s := statusOf(pod, unitContainer)
	if s.RestartCount > 0 || s.State.Running == nil {
		return "", life.ErrDied
	}
	if err := r.awaitReady(ctx, s.ContainerID); err != nil {
		return "", err
	}
	if !life.Sleep(ctx, life.Steady) || !r.lives(s.ContainerID) {
		return "", life.ErrDied
	}
	return s.ContainerID, nil
}

func (r *replica) lives(container string) bool {
	pod, _ := r.k.pods.get(r.pod)
	return runs(pod, container)
}

// explain adds to an error of serve how it came, and the end of the log.
func (r *replica) explain(ctx context.Context, err error) error {
	if errors.Is(err, life.ErrDied) { // what it said last is on its way
		select {
		case <-r.output.heard:
		case <-time.After(tailWithin):
		}
	}
	if pod, _ := r.k.pods.get(r.pod); errors.Is(err, life.ErrDied) && gone(pod) != "" {
		return evicted(r.pod, gone(pod))
	}
	died := func() string {
		pod, _ := r.k.pods.get(r.pod)
		return obituary(ended(statusOf(pod, unitContainer)), r.memory)
	}
	return r.log.Explain(ctx, err, died, func() string {
		return fmt.Sprintf("; it is to listen at %s, on all addresses and not on loopback alone; where it has another port, and takes neither ${port} nor $PORT, state it (port: in the experiment file); a NetworkPolicy of the namespace may keep the conductor from it", r.address)
	})
}
