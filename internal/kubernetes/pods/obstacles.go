package pods

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/experiment/span"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// obstacles bounds how long pods may have an obstacle. It has no clock.
type obstacles struct {
	note  func(string)
	doing string // as in: start "go"

	now   *obstacle
	since time.Time
	noted bool
}

// noteAfter is how long an obstacle may last before it is reported.
const noteAfter = 10 * time.Second

func newObstacles(note func(string), doing string) *obstacles {
	return &obstacles{note: note, doing: doing}
}

// meet records the current obstacle. The error means that it lasts too long.
func (h *obstacles) meet(o *obstacle, now time.Time) error {
	if h.now == nil || h.now.kind() != o.kind() {
		h.since, h.noted = now, false
	}
	h.now = o
	waited := now.Sub(h.since)
	switch {
	case waited >= o.patience:
		err := fmt.Errorf("%s", o.what)
		if o.patience > 0 {
			err = fmt.Errorf("%w (for %v)", err, span.Text(waited.Round(time.Second)))
		}
		if o.how != "" {
			err = fmt.Errorf("%w; %s", err, o.how)
		}
		return err
	case waited >= noteAfter && !h.noted:
		h.noted = true
		h.note(fmt.Sprintf("%s: %s; waiting for up to %v", h.doing, o.what, span.Text(o.patience)))
	}
	return nil
}

// kind identifies an obstacle without its details: a scheduler's message changes with
// each node.
func (o *obstacle) kind() string {
	words, _, _ := strings.Cut(o.what, ":")
	return words
}

// warningOf is the cluster's last warning about some pods, for people, if the obstacle
// is vague: a network or a volume that could not be set up is not in a pod's status.
func (k *cluster) warningOf(ctx context.Context, in *obstacle, some []*corev1.Pod) string {
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

// lastWarning is the last warning about an object; "" if there is none.
func (k *cluster) lastWarning(ctx context.Context, kind, name string) string {
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	text, err := kube.LastWarning(ctx, k.api, kind, name)
	if err != nil || text == "" { // not every user may read them
		return ""
	}
	return "; the cluster's last warning: " + text
}
