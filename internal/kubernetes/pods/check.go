package pods

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/span"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/pods/cadvisor"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/internal/signals"
)

// checkWithin bounds the requests of Check to the cluster.
const checkWithin = time.Minute

// Check reports what of the experiment cannot run in this cluster: what no cluster
// supports (Suits), and then what this cluster does not have.
func (k *cluster) Check(e *experiment.Experiment) error {
	k.know(e)
	if err := Suits(e); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(k.running, checkWithin)
	defer cancel()
	if e.Measure.Resize {
		v, err := k.api.Version(ctx)
		if err == nil {
			err = SuitsVersion(e, v)
		}
		if err != nil {
			return fmt.Errorf("measure.resize: %w", err)
		}
	}
	if autoscales(e) {
		if err := k.checkMetrics(ctx); err != nil {
			return err
		}
	}
	if k.nodeAgents != nil {
		return nil // kubelets are not asked
	}
	return k.checkKubelets(ctx, e)
}

// know stores what Start and Agent need to know of the whole experiment.
func (k *cluster) know(e *experiment.Experiment) {
	k.mu.Lock()
	for i := range e.Cells {
		k.services[e.Cells[i].Service.Name] = true
	}
	k.mu.Unlock()
	k.logs.plan(e)
	k.agents.mu.Lock()
	k.agents.most = mostAgents(e)
	k.agents.mu.Unlock()
}

// mostAgents is the largest number of agents of any cell. All cells share them.
func mostAgents(e *experiment.Experiment) int {
	most := 0
	for i := range e.Cells {
		most = max(most, e.Cells[i].Load.Agents)
	}
	return most
}

func autoscales(e *experiment.Experiment) bool {
	return slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Service.Autoscale != nil })
}

// Suits reports what of an experiment cannot run on any Kubernetes cluster. It
// sends no requests.
func Suits(e *experiment.Experiment) error {
	var errs []error
	for i := range e.Cells {
		c := &e.Cells[i]
		if err := errors.Join(suitsService(c), suitsLimits(c.Limits)); err != nil {
			errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
		}
		for j := range c.Service.Dependencies {
			d := &c.Service.Dependencies[j]
			if err := errors.Join(suitsDependency(d), suitsLimits(d.Limits)); err != nil {
				errs = append(errs, fmt.Errorf("dependency %q: %w", d.Name, err))
			}
		}
	}
	if e.Profile {
		errs = append(errs, errors.New("profiles need a process on this machine; leave profile out, or use --on local"))
	}
	if e.Measure.Resize {
		errs = append(errs, suitsResize(e.Cells))
	}
	return supervise.JoinDistinct(errs)
}

var errFindPort = errors.New("the port of a pod cannot be detected: state it (port: 8080), or use --on local")

func suitsService(c *experiment.Cell) error {
	switch s := &c.Service; {
	case c.Load.Benchmark:
		return errors.New("a benchmark that ends by itself runs with --on local only")
	case s.Command != nil:
		return errors.New("a command cannot run in a pod: set image: to one that contains it, or use --on local")
	case !podUser(s.User):
		return errUser(s.User)
	case s.FindPort:
		return errFindPort
	case s.Workload != "" && s.Workload != "go" && built[s.Workload] == "":
		return noImage(s.Workload)
	}
	return nil
}

func suitsDependency(d *experiment.Dependency) error {
	if d.Command != nil {
		return errors.New("a command cannot run in a pod: set image: to one that contains it, or url: to a server that already runs, or use --on local")
	}
	if !podUser(d.User) {
		return errUser(d.User)
	}
	if host, itself := supervise.Loopback(d.URL); itself {
		return fmt.Errorf("%s means the pod itself: use an address that the cluster can reach", host)
	}
	return nil
}

func suitsLimits(l experiment.Limits) error {
	switch {
	case l.BurstMillis != 0:
		return errors.New("Kubernetes has no field for a CPU burst; leave burst out, or use --on local or docker")
	case l.PIDs != 0:
		return errors.New("Kubernetes has no field for the processes of a pod (the kubelet has one for all of its pods: podPidsLimit); leave pids out, or use --on local or docker")
	case l.CPUSet != "":
		return errors.New("Kubernetes has no field for the CPUs of a pod; leave cpuset out, or use --on local or docker")
	case l.CPUMillis != 0 && l.Period != 0 && l.Period != signals.DefaultPeriod:
		return fmt.Errorf("the kubelet sets the CFS period of pods, usually to %v and not to %v; leave period out, or use --on local or docker", signals.DefaultPeriod, l.Period)
	}
	return nil
}

// Minor versions of Kubernetes 1 from which limits of running pods can be changed, and
// from which their memory limit can become smaller. Before, the API server refuses that:
// "memory limits cannot be decreased unless resizePolicy is RestartContainer". A restart
// would measure another service than before, one without its caches.
const (
	resizesFrom = 33
	shrinksFrom = 34
)

// SuitsVersion reports what of measure.resize a version of Kubernetes does not support.
// It reports nothing if the version is not known.
func SuitsVersion(e *experiment.Experiment, v kube.Version) error {
	switch {
	case !e.Measure.Resize || v.Minor == 0:
	case v.Minor < resizesFrom:
		return fmt.Errorf("Kubernetes 1.%d and newer have it, this is %s; leave measure.resize out", resizesFrom, v.Name)
	case v.Minor < shrinksFrom && shrinks(e.Cells):
		return fmt.Errorf("Kubernetes 1.%d and newer can reduce the memory limit of a running pod, this is %s; give all cells the same limits.memory, or leave measure.resize out", shrinksFrom, v.Name)
	}
	return nil
}

// shrinks reports whether a trial may follow one of the same service with more memory.
// The order of trials is random, so that different limits suffice.
func shrinks(cells []experiment.Cell) bool {
	for i := range cells {
		for j := range cells[:i] {
			if a, b := &cells[i], &cells[j]; a.Limits.Memory != b.Limits.Memory && a.Resizable(b) {
				return true
			}
		}
	}
	return false
}

// suitsResize reports limits that cannot be changed in place.
func suitsResize(cells []experiment.Cell) error {
	for i := range cells {
		for j := range cells[:i] {
			a, b := &cells[i], &cells[j]
			if a.Limits == b.Limits || !a.Resizable(b) {
				continue
			}
			if a.Service.Autoscale != nil {
				return fmt.Errorf("service %q: an autoscaled service cannot be resized; leave out measure.resize or autoscale", a.Service.Name)
			}
			if err := resizable(a.Limits, b.Limits); err != nil {
				return fmt.Errorf("service %q: %w", a.Service.Name, err)
			}
		}
	}
	return nil
}

// checkMetrics reports that no metrics-server measures what an autoscaler needs.
func (k *cluster) checkMetrics(ctx context.Context) error {
	answer, err := k.api.Raw(ctx, "/apis/metrics.k8s.io/v1beta1", nil)
	if err == nil {
		return answer.Body.Close()
	}
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return errors.New("autoscale: the cluster has no metrics-server, which an autoscaler needs (check with `kubectl top nodes`); install it, or leave autoscale out")
	}
	return fmt.Errorf("autoscale: check whether the cluster has a metrics-server: %w", err)
}

// How long kubelets are observed, and on how many nodes.
const (
	lookAt     = 3 * time.Second
	mostLooked = 3
	// leastMeasured is the shortest measurement that kubelets which sample every 10 s
	// to 15 s can resolve.
	leastMeasured = 30 * time.Second
)

// checkKubelets reports that the run may not read kubelets, or that they sample
// containers too seldom for this experiment.
func (k *cluster) checkKubelets(ctx context.Context, e *experiment.Experiment) error {
	nodes, err := kube.Nodes.List(ctx, k.api, "")
	if apierrors.IsForbidden(err) {
		return errNoMetrics(k.api.Namespace)
	}
	if err != nil {
		return fmt.Errorf("look for nodes: %w", err)
	}
	usable := usableNodes(nodes, k.options.Settings)
	if len(usable) == 0 {
		return fmt.Errorf("no node can run services: of %d nodes, none is ready, matches kubernetes.node_selector and has only taints in kubernetes.tolerations", len(nodes))
	}
	if len(usable) > mostLooked {
		usable = usable[:mostLooked]
	}
	hurried := tooShort(e)
	return supervise.JoinDistinct(supervise.Each(len(usable), func(i int) error {
		n := k.nodes.one(usable[i])
		often, err := n.looksOften(ctx, hurried != "")
		if err != nil {
			return err
		}
		if !often && hurried != "" {
			return fmt.Errorf("%s: the kubelet of node %s samples its containers only about every 10 s; measure for at least %v, or use node agents (kubernetes.node_agent: true), or start the kubelet with --housekeeping-interval=1s",
				hurried, n.node, span.Text(leastMeasured))
		}
		return nil
	}))
}

// tooShort describes what of an experiment a sample every 10 s cannot resolve; ""
// if there is nothing.
func tooShort(e *experiment.Experiment) string {
	for i := range e.Cells {
		c := &e.Cells[i]
		if c.Load.Find {
			return "load.find: the steps of a search last some seconds"
		}
		if c.Load.Benchmark {
			continue
		}
		stages := c.Load.Target().Stages
		for i, s := range stages { // a step is a jump and the level after it
			if i > 0 && stages[i-1] == (experiment.Stage{Target: s.Target}) && s.Duration > 0 && s.Duration < leastMeasured {
				return fmt.Sprintf("a step of the load lasts %v", span.Text(s.Duration))
			}
		}
		if d := e.Measure.Measured(c); d > 0 && d < leastMeasured {
			return fmt.Sprintf("measure.duration is %v", span.Text(d))
		}
	}
	return ""
}

// usableNodes are those whose labels and taints allow a service's pod.
func usableNodes(nodes []corev1.Node, s experiment.Kubernetes) []corev1.Node {
	selector := labels.SelectorFromSet(s.NodeSelector)
	return slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool {
		return n.Spec.Unschedulable || !isReady(&n) || !selector.Matches(labels.Set(n.Labels)) || !tolerated(n.Spec.Taints, s.Tolerations)
	})
}

func isReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// tolerated reports whether none of the taints keeps a pod away.
func tolerated(taints []corev1.Taint, tolerations []experiment.Toleration) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerations, func(o experiment.Toleration) bool {
			return (o.Effect == "" || o.Effect == string(t.Effect)) && (o.Key == "" || o.Key == t.Key) &&
				(o.Operator == string(corev1.TolerationOpExists) || o.Value == t.Value)
		})
	})
}

// one returns the kubelet of a node, independent of the watched ones.
func (k *kubelets) one(n corev1.Node) *kubelet {
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
	return &kubelet{of: k, node: n.Name, address: net.JoinHostPort(host, strconv.Itoa(port))}
}

// looksOften reports whether the kubelet read most of the node's control groups
// again within a few seconds. If that is not wanted it sends one request, to check
// the permission.
func (n *kubelet) looksOften(ctx context.Context, wanted bool) (bool, error) {
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

func (n *kubelet) stamps(ctx context.Context) (map[string]int64, error) {
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
