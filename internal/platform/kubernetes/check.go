package kubernetes

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
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/kubernetes/cadvisor"
	"github.com/millicore/millicore/internal/platform/life"
)

// checkWithin bounds what Check asks the cluster.
const checkWithin = time.Minute

// Check reports what of the experiment cannot run in this cluster: what no cluster
// can (Suits), and then what this one lacks.
func (k *kubernetes) Check(e *experiment.Experiment) error {
	k.know(e)
	if err := Suits(e); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(k.running, checkWithin)
	defer cancel()
	if autoscales(e) {
		if err := k.checkMetrics(ctx); err != nil {
			return err
		}
	}
	if k.near != nil {
		return nil // kubelets are not asked
	}
	return k.checkKubelets(ctx, e)
}

// know takes what Start and Agent need to know of the whole experiment.
func (k *kubernetes) know(e *experiment.Experiment) {
	k.mu.Lock()
	for i := range e.Cells {
		k.services[e.Cells[i].Service.Name] = true
	}
	k.mu.Unlock()
	k.agents.mu.Lock()
	k.agents.most = mostAgents(e)
	k.agents.mu.Unlock()
}

// mostAgents is how many agents any cell has: as many are there for all of them.
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

// Suits reports what of an experiment cannot run on Kubernetes, whatever the
// cluster. It asks nobody.
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
		errs = append(errs, errors.New("profiles are taken where a process is, which is on another machine here; leave profile out, or use --on local"))
	}
	if e.Measure.Resize {
		errs = append(errs, suitsResize(e.Cells))
	}
	return life.FirstOfEach(errs)
}

var errFindPort = errors.New("the port of a pod is not looked for: say which it is (port: 8080), or use --on local")

func suitsService(c *experiment.Cell) error {
	switch s := &c.Service; {
	case c.Load.Benchmark:
		return errors.New("a benchmark that ends by itself runs with --on local alone")
	case s.Command != nil:
		return errors.New("a command runs on this machine, not in a pod: give an image: that holds it, or use --on local")
	case s.FindPort:
		return errFindPort
	case s.Workload != "" && s.Workload != "go" && built[s.Workload] == "":
		return noImage(s.Workload)
	}
	return nil
}

func suitsDependency(d *experiment.Dependency) error {
	if d.Command != nil {
		return errors.New("a command runs on this machine, not in a pod: give an image: that holds it, or a url: of one that runs, or use --on local")
	}
	if host, itself := life.Loopback(d.URL); itself {
		return fmt.Errorf("%s is in each pod the pod itself: give an address that is reached from within the cluster", host)
	}
	return nil
}

func suitsLimits(l experiment.Limits) error {
	switch {
	case l.BurstMillis != 0:
		return errors.New("a pod has no field for a CPU burst; leave burst out, or use --on local or docker")
	case l.CPUSet != "":
		return errors.New("a pod does not choose its CPUs; leave cpuset out, or use --on local or docker")
	case l.CPUMillis != 0 && l.Period != 0 && l.Period != period:
		return fmt.Errorf("the CFS period of pods is their kubelet's, %v as a rule, and not %v; leave period out, or use --on local or docker", period, l.Period)
	}
	return nil
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
				return fmt.Errorf("service %q: replicas that come and go cannot be resized; leave measure.resize out, or autoscale", a.Service.Name)
			}
			if err := resizable(a.Limits, b.Limits); err != nil {
				return fmt.Errorf("service %q: %w", a.Service.Name, err)
			}
		}
	}
	return nil
}

// checkMetrics reports that nobody measures what an autoscaler goes by.
func (k *kubernetes) checkMetrics(ctx context.Context) error {
	answer, err := k.api.Raw(ctx, "/apis/metrics.k8s.io/v1beta1", nil)
	if err == nil {
		return answer.Body.Close()
	}
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return errors.New("autoscale: the cluster has no metrics-server, by which an autoscaler goes (`kubectl top nodes` tells); install it, or leave autoscale out")
	}
	return fmt.Errorf("autoscale: ask whether the cluster has a metrics-server: %w", err)
}

// Kubelets are looked at this long, and a sample on so many nodes.
const (
	lookAt     = 3 * time.Second
	mostLooked = 3
	// leastMeasured is the shortest time in which kubelets that look every 10 s to
	// 15 s tell anything.
	leastMeasured = 30 * time.Second
)

// checkKubelets reports that kubelets may not be asked how containers do, or look
// at them too seldom for this experiment.
func (k *kubernetes) checkKubelets(ctx context.Context, e *experiment.Experiment) error {
	nodes, err := kube.Nodes.List(ctx, k.api, "")
	if apierrors.IsForbidden(err) {
		return errNoMetrics(k.api.Namespace)
	}
	if err != nil {
		return fmt.Errorf("look for nodes: %w", err)
	}
	usable := usableNodes(nodes, k.options.Settings)
	if len(usable) == 0 {
		return fmt.Errorf("no node of the cluster is ready for services: %d nodes, none of them with the labels of kubernetes.node_selector and without taints that kubernetes.tolerations does not have", len(nodes))
	}
	if len(usable) > mostLooked {
		usable = usable[:mostLooked]
	}
	hurried := tooShort(e)
	return life.FirstOfEach(life.Each(len(usable), func(i int) error {
		n := k.nodes.one(usable[i])
		often, err := n.looksOften(ctx, hurried != "")
		if err != nil {
			return err
		}
		if !often && hurried != "" {
			return fmt.Errorf("%s: the kubelet of node %s looks at its containers every 10 s or so, which is too seldom for that; measure for %v at least, or have a node agent look each second (kubernetes.node_agent: true), or start the kubelet with --housekeeping-interval=1s",
				hurried, n.node, leastMeasured)
		}
		return nil
	}))
}

// tooShort is what of an experiment cannot be told from a sample every 10 s; ""
// where there is nothing.
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
		for i, s := range stages { // a step is a jump, and the level that is held
			if i > 0 && stages[i-1] == (experiment.Stage{Target: s.Target}) && s.Duration > 0 && s.Duration < leastMeasured {
				return fmt.Sprintf("a step of the load lasts %v", s.Duration)
			}
		}
		if d := e.Measure.Measured(c); d > 0 && d < leastMeasured {
			return fmt.Sprintf("measure.duration is %v", d)
		}
	}
	return ""
}

// usableNodes are those that a service's pod may run on, as far as selectors and
// taints tell.
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

// one is the kubelet of a node, to be asked apart from the others.
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

// looksOften reports whether most of the node's control groups were read anew
// within a few seconds. Where that is not asked for it asks once, for the right.
func (n *kubelet) looksOften(ctx context.Context, wanted bool) (bool, error) {
	before, err := n.stamps(ctx)
	if err != nil || !wanted {
		return true, err
	}
	if !life.Sleep(ctx, lookAt) {
		return false, context.Cause(ctx)
	}
	after, err := n.stamps(ctx)
	if err != nil {
		return false, err
	}
	return renewed(before, after), nil
}

// renewed reports whether most groups of the first reading that are in the second
// were read anew.
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
