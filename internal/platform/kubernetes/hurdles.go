package kubernetes

import (
	"context"
	"fmt"
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
	text, err := kube.LastWarning(ctx, k.api, kind, name)
	if err != nil || text == "" { // not everybody may read them
		return ""
	}
	return "; the cluster's last warning: " + text
}
