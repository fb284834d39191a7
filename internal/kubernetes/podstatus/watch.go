package podstatus

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
)

// Watch has the run's current pods, from a watch. Several goroutines may use it
// concurrently. Callers must not change the pods that it returns.
type Watch struct {
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

// NewWatch watches until ctx ends.
func NewWatch(ctx context.Context, api *kube.Client, selector string) *Watch {
	p := &Watch{api: api, selector: selector, all: map[string]*corev1.Pod{}, changed: make(chan struct{})}
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

func (p *Watch) put(change watch.EventType, pod *corev1.Pod) {
	p.change(func() {
		if change == watch.Deleted {
			delete(p.all, pod.Name)
			return
		}
		p.all[pod.Name] = pod
	})
}

// prune removes pods that no longer exist.
func (p *Watch) prune(ctx context.Context) {
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

func (p *Watch) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}

// Get returns a pod by name, or nil, and a channel that is closed with the next
// change of any pod.
func (p *Watch) Get(name string) (*corev1.Pod, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[name], p.changed
}

// With returns the pods with these labels, oldest first, and a channel that is closed
// with the next change. The error is that of the watch, which has ended.
func (p *Watch) With(chosen map[string]string) ([]*corev1.Pod, <-chan struct{}, error) {
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
