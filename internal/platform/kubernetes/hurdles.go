package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kube"
)

// hurdles is the patience with what keeps pods from running. It has no clock.
type hurdles struct {
	note  func(string)
	doing string // as in "start "go""

	now   *obstacle
	since time.Time
	told  bool
}

// tellAfter is how long something may be in the way before it is told.
const tellAfter = 10 * time.Second

func newHurdles(note func(string), doing string) *hurdles { return &hurdles{note: note, doing: doing} }

// meet takes what is in the way now. The error is that it has been for too long.
func (h *hurdles) meet(o *obstacle, now time.Time) error {
	if h.now == nil || h.now.kind() != o.kind() {
		h.since, h.told = now, false
	}
	h.now = o
	waited := now.Sub(h.since)
	switch {
	case waited >= o.patience:
		err := fmt.Errorf("%s", o.what)
		if o.patience > 0 {
			err = fmt.Errorf("%w (for %v)", err, waited.Round(time.Second))
		}
		if o.how != "" {
			err = fmt.Errorf("%w; %s", err, o.how)
		}
		return err
	case waited >= tellAfter && !h.told:
		h.told = true
		h.note(fmt.Sprintf("%s: %s; waiting for up to %v", h.doing, o.what, o.patience))
	}
	return nil
}

// kind tells obstacles apart whose words differ in figures: a scheduler's message
// changes with each node.
func (o *obstacle) kind() string {
	words, _, _ := strings.Cut(o.what, ":")
	return words
}

// warningOf is the last warning that the cluster tells of some pods, for people,
// where there is one and the obstacle does not say it: a network or a volume that
// could not be set up is not in a pod's status.
func (k *kubernetes) warningOf(ctx context.Context, in *obstacle, some []*corev1.Pod) string {
	if !in.vague {
		return ""
	}
	for _, p := range some {
		if text := k.lastWarning(ctx, "Pod", p.Name); text != "" {
			return text
		}
	}
	return ""
}

// lastWarning is the last one of an object, "" where there is none.
func (k *kubernetes) lastWarning(ctx context.Context, kind, name string) string {
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	events, err := kube.Events.List(ctx, k.api, "")
	if err != nil {
		return ""
	}
	if text := lastWarning(events, kind, name); text != "" {
		return "; the cluster's last warning: " + text
	}
	return ""
}

func lastWarning(events []corev1.Event, kind, name string) string {
	events = slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool {
		return e.Type != corev1.EventTypeWarning || e.Reason == "MissingClusterDNS" || e.InvolvedObject.Kind != kind || e.InvolvedObject.Name != name
	})
	if len(events) == 0 {
		return ""
	}
	last := slices.MaxFunc(events, func(a, b corev1.Event) int { return whenOf(&a).Compare(whenOf(&b)) })
	return last.Reason + because(last.Message)
}

// whenOf is when an event came last; those of the newer kind have another field.
func whenOf(e *corev1.Event) time.Time {
	if t := e.LastTimestamp.Time; !t.IsZero() {
		return t
	}
	return e.EventTime.Time
}
