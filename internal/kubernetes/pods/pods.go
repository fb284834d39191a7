package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// pods are the run's current pods, from a watch. Several goroutines may use it
// concurrently. Callers must not change the pods that it returns.
type pods struct {
	api      *kube.Client
	selector string

	mu      sync.Mutex
	all     map[string]*corev1.Pod // by name
	changed chan struct{}          // closed with the next change
	err     error                  // of the watch, which has ended
}

// listEvery is how often pods are also listed: a watch does not report a pod that
// was deleted while the watch was interrupted.
const listEvery = 20 * time.Second

// watchPods watches until ctx ends.
func watchPods(ctx context.Context, api *kube.Client, selector string) *pods {
	p := &pods{api: api, selector: selector, all: map[string]*corev1.Pod{}, changed: make(chan struct{})}
	go func() {
		err := kube.Pods.Watch(ctx, api, selector, func(change watch.EventType, pod *corev1.Pod) error {
			p.put(change, pod)
			return nil
		})
		p.change(func() { p.err = fmt.Errorf("watch the run's pods: %w", err) })
	}()
	go func() {
		tick := time.NewTicker(listEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				p.prune(ctx)
			}
		}
	}()
	return p
}

func (p *pods) put(change watch.EventType, pod *corev1.Pod) {
	p.change(func() {
		if change == watch.Deleted {
			delete(p.all, pod.Name)
			return
		}
		p.all[pod.Name] = pod
	})
}

// prune removes pods that no longer exist.
func (p *pods) prune(ctx context.Context) {
	p.mu.Lock()
	var known []string
	for name := range p.all {
		known = append(known, name)
	}
	p.mu.Unlock()
	if len(known) == 0 {
		return
	}
	listed, err := kube.Pods.List(ctx, p.api, p.selector)
	if err != nil {
		return
	}
	there := map[string]bool{}
	for i := range listed {
		there[listed[i].Name] = true
	}
	for _, name := range known { // names are never used twice
		if !there[name] {
			p.change(func() { delete(p.all, name) })
		}
	}
}

func (p *pods) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// get returns a pod by name, or nil, and a channel that is closed with the next
// change of any pod.
func (p *pods) get(name string) (*corev1.Pod, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[name], p.changed
}

// of returns the pods with these labels, oldest first, and a channel that is closed
// with the next change. The error is that of the watch, which has ended.
func (p *pods) of(chosen map[string]string) ([]*corev1.Pod, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	selector := labels.SelectorFromSet(chosen)
	var some []*corev1.Pod
	for _, pod := range p.all {
		if selector.Matches(labels.Set(pod.Labels)) {
			some = append(some, pod)
		}
	}
	slices.SortFunc(some, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return some, p.changed, p.err
}

// named is an object with a name.
type named[T any] interface {
	*T
	GetName() string
}

// removeAll deletes all objects of a kind that a selector selects, after what they
// own.
func removeAll[T any, O named[T]](ctx context.Context, api *kube.Client, kind kube.Kind[T], selector string) error {
	all, err := kind.List(ctx, api, selector)
	if err != nil {
		return fmt.Errorf("list %s: %w", kind.Plural, err)
	}
	for i := range all {
		name := O(&all[i]).GetName()
		if err := kind.Delete(ctx, api, name, kube.Delete{Foreground: true}); err != nil {
			return fmt.Errorf("delete the %s %s: %w", kind.Name, name, err)
		}
	}
	return nil
}

// awaitGone waits until no pods match a selector.
func awaitGone(ctx context.Context, api *kube.Client, selector string) error {
	name, err := awaitNone(ctx, api, kube.Pods, selector)
	if name == "" {
		return err
	}
	return fmt.Errorf("the pod %s does not end (%w): see `kubectl -n %s describe pod %s`; `kubectl -n %s delete pod %s --force` removes it",
		name, err, api.Namespace, name, api.Namespace, name)
}

// awaitNone waits until no objects of a kind match a selector. With an error it
// returns the name of one that is left, if known.
func awaitNone[T any, O named[T]](ctx context.Context, api *kube.Client, kind kube.Kind[T], selector string) (name string, err error) {
	for {
		left, err := kind.List(ctx, api, selector)
		if err == nil && len(left) == 0 {
			return "", nil
		}
		if ctx.Err() == nil {
			supervise.Sleep(ctx, lookFor)
		}
		switch {
		case ctx.Err() == nil:
		case err == nil:
			return O(&left[0]).GetName(), context.Cause(ctx)
		default:
			return "", fmt.Errorf("wait until the %s are gone: %w", kind.Plural, err)
		}
	}
}
