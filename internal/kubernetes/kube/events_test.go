package kube

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The server selects the events of an object; the last one is returned.
func TestTheLastWarning(t *testing.T) {
	var events []corev1.Event
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.Query().Get("fieldSelector"), "involvedObject.kind=Pod,involvedObject.name=p,type=Warning"; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
		json.NewEncoder(w).Encode(corev1.EventList{Items: events})
	})
	is := func(want string) {
		t.Helper()
		if got, err := LastWarning(t.Context(), c, "Pod", "p"); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	is("")
	events = []corev1.Event{
		{Reason: "Failed", Message: "m", LastTimestamp: metav1.Unix(5, 0)},
		{Reason: "FailedMount", Message: "no volume", EventTime: metav1.NewMicroTime(time.Unix(7, 0))},
		{Reason: "MissingClusterDNS", Message: "m", LastTimestamp: metav1.Unix(10, 0)},
	}
	is("FailedMount: no volume")
	events = append(events, corev1.Event{Reason: "BackOff", LastTimestamp: metav1.Unix(8, 0)})
	is("BackOff")
	forbidden := served(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(403) })
	if got, err := LastWarning(t.Context(), forbidden, "Pod", "p"); got != "" || err == nil {
		t.Errorf("%q, %v, want an error", got, err)
	}
}
