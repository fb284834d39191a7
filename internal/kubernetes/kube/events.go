package kube

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// LastWarning is the last warning event of an object, for people, as in
// "FailedMount: no such volume"; "" if there is none.
func LastWarning(ctx context.Context, c *Client, kind, name string) (string, error) {
	events, err := Events.List(ctx, c, "", "involvedObject.kind="+kind, "involvedObject.name="+name, "type="+corev1.EventTypeWarning)
	return lastOf(events), err
}

func lastOf(events []corev1.Event) string {
	events = slices.DeleteFunc(events, func(e corev1.Event) bool {
		return e.Reason == "MissingClusterDNS" // no pod of a run needs it
	})
	if len(events) == 0 {
		return ""
	}
	last := slices.MaxFunc(events, func(a, b corev1.Event) int { return whenOf(&a).Compare(whenOf(&b)) })
	return strings.TrimSuffix(last.Reason+": "+last.Message, ": ")
}

// whenOf is the last time of an event; newer events have another field.
func whenOf(e *corev1.Event) time.Time {
	if t := e.LastTimestamp.Time; !t.IsZero() {
		return t
	}
	return e.EventTime.Time
}
