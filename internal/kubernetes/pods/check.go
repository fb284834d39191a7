package pods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/kubelet"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// checkWithin bounds the requests of Check to the cluster.
const checkWithin = time.Minute

// Check reports what of the experiment cannot run in this cluster: what no cluster
// supports (objects.Suits), and then what this cluster does not have.
func (k *cluster) Check(e *experiment.Experiment) error {
	k.know(e)
	if err := objects.Suits(e); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(k.running, checkWithin)
	defer cancel()
	if e.Measure.Resize {
		v, err := k.api.Version(ctx)
		if err == nil {
			err = objects.SuitsVersion(e, v)
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
	if err := k.tryObjects(ctx, e); err != nil {
		return err
	}
	if k.nodeAgents != nil {
		return nil // kubelets are not asked
	}
	return k.checkKubelets(ctx, e)
}

// tryObjects does a dry run of what the conductor creates, once for each name. The command
// line did the same as its user, who may have other rights, and for whom the cluster's
// policies may differ.
func (k *cluster) tryObjects(ctx context.Context, e *experiment.Experiment) error {
	all := slices.Concat(k.maker.Demand(e)...)
	if k.nodeAgents != nil {
		all = append(all, k.maker.NodeAgent())
	}
	tried := map[string]bool{}
	for _, set := range all {
		for _, o := range set.Objects {
			name := o.Kind + " " + o.GetName()
			if tried[name] {
				continue
			}
			tried[name] = true
			err := o.Try(ctx, k.api)
			if err != nil && !apierrors.IsAlreadyExists(err) { // as Secrets of an earlier conductor of the run
				return fmt.Errorf("create the %s of %s (dry run, as the conductor): %w; change what forbids it, or use another namespace", name, set.What, err)
			}
		}
	}
	return nil
}

// know stores what Start and Agent need to know of the whole experiment.
func (k *cluster) know(e *experiment.Experiment) {
	k.mu.Lock()
	for i := range e.Cells {
		k.services[e.Cells[i].Service.Name] = true
	}
	k.mu.Unlock()
	k.logs.Plan(e)
	k.agents.mu.Lock()
	k.agents.most = objects.MostAgents(e)
	k.agents.mu.Unlock()
}

func autoscales(e *experiment.Experiment) bool {
	return slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Service.Autoscale != nil })
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

const (
	// mostLooked is how many kubelets are observed.
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
		return kubelet.ErrNoRight(k.api.Namespace)
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
		often, err := k.kubelets.SamplesOften(ctx, &usable[i], hurried != "")
		if err != nil {
			return err
		}
		if !often && hurried != "" {
			return fmt.Errorf("%s: the kubelet of node %s samples its containers only about every 10 s; measure for at least %v, or use node agents (kubernetes.node_agent: true), or start the kubelet with --housekeeping-interval=1s",
				hurried, usable[i].Name, span.Text(leastMeasured))
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
