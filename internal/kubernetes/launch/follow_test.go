package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
)

// followed is a run in a cluster with a follower that is in a hurry.
type followed struct {
	*cluster
	follower *Follower
	notes    []string
	lines    []string
	looks    atomic.Int64 // how often the pods were listed

	onLook  func(look int64)
	onState func() (conductor.State, int) // and its status
	log     func() string
}

func newFollowed(t *testing.T) *followed {
	t.Helper()
	c, client := newCluster(t)
	f := &followed{cluster: c}
	if err := Start(t.Context(), client, asked(t, "")); err != nil {
		t.Fatal(err)
	}
	f.follower = &Follower{Client: client, Run: "quick-1123-021818-x7", every: time.Millisecond, patient: time.Hour, closed: time.Hour,
		Note: func(s string) { f.notes = append(f.notes, s) }, Line: func(s string) { f.lines = append(f.lines, s) }}
	f.onState = func() (conductor.State, int) { return state(conductor.Done), 200 }
	f.log = func() string { return "" }
	c.answer = f.answer
	return f
}

func state(stage conductor.Stage) conductor.State {
	return conductor.State{Run: "quick-1123-021818-x7", State: stage}
}

func (f *followed) answer(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/pods"):
		if look := f.looks.Add(1); f.onLook != nil {
			f.onLook(look)
		}
	case strings.HasSuffix(r.URL.Path, "/log"):
		io.WriteString(w, f.log())
		return true
	case strings.HasSuffix(r.URL.Path, ":7443/proxy/state"):
		if !f.reads(r.Header.Get("Millicore-Token")) {
			return refuse(w, 401, "", "no token")
		}
		s, code := f.onState()
		if code != 200 {
			return refuse(w, code, "", "no")
		}
		json.NewEncoder(w).Encode(s)
		return true
	}
	return false
}

// reads reports whether a token is that of a reader of the run.
func (f *followed) reads(token string) bool {
	all, err := Readers(context.Background(), f.follower.Client, f.follower.Run)
	return err == nil && slices.Contains(all, conductor.HashToken(token))
}

func (f *followed) pod(t *testing.T, name string, second int64, change func(*corev1.Pod)) {
	f.put(t, core+"pods/"+name, conductorPod(name, metav1.Unix(second, 0), change))
}

func TestFollowing(t *testing.T) {
	f := newFollowed(t)
	f.onLook = func(look int64) {
		switch look {
		case 3:
			f.pod(t, "one", 1, func(p *corev1.Pod) {
				p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"}}}
			})
		case 6:
			f.pod(t, "one", 1, func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}
			})
		case 9:
			f.pod(t, "one", 1, nil)
		}
	}
	f.log = func() string { return stamped(1, "[1/2] go") + stamped(2, "[2/2] go") }
	var count atomic.Int64
	f.onState = func() (conductor.State, int) {
		switch asks := count.Add(1); {
		case asks < 3:
			return conductor.State{}, 503 // it does not listen yet
		case asks < 5:
			return state(conductor.Running), 200
		case asks < 7: // its container is ended, and started again
			return state(conductor.Interrupted), 200
		}
		return state(conductor.Done), 200
	}
	pod, s, err := f.follower.Follow(t.Context())
	if err != nil || pod != "one" || s.State != conductor.Done {
		t.Fatalf("pod %q, %+v, %v", pod, s, err)
	}
	want := []string{"the conductor's pod does not exist yet", "no node accepts the conductor's pod: 0/1 nodes are available",
		"the conductor's container waits: ErrImagePull: not found"}
	if d := cmp.Diff(want, f.notes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"[1/2] go", "[2/2] go"}, f.lines); d != "" {
		t.Error(d)
	}
	if !f.follower.Started() {
		t.Error("the conductor is not reported as started")
	}
}

// A pod that was evicted is followed by the next one of its Job.
func TestAnotherPod(t *testing.T) {
	f := newFollowed(t)
	f.pod(t, "one", 1, func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"}
	})
	f.onLook = func(look int64) {
		if look == 4 {
			f.pod(t, "two", 2, nil)
		}
	}
	if pod, _, err := f.follower.Follow(t.Context()); err != nil || pod != "two" {
		t.Fatalf("pod %q, %v", pod, err)
	}
	if d := cmp.Diff([]string{"the conductor's pod one has ended (Evicted: the node was low on memory); the cluster starts another"}, f.notes); d != "" {
		t.Error(d)
	}
}

func TestAClusterThatIsAwayForAWhile(t *testing.T) {
	f := newFollowed(t)
	f.pod(t, "one", 1, nil)
	f.follower.Client.Patience = 0 // so that it is noted immediately
	usual := f.cluster.answer
	var n atomic.Int64
	f.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if n.Add(1) < 5 {
			panic(http.ErrAbortHandler)
		}
		return usual(w, r, body)
	}
	if _, _, err := f.follower.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(f.notes) != 2 || !strings.Contains(f.notes[0], "the run continues") || f.notes[1] != "the cluster answers again" {
		t.Errorf("notes %q", f.notes)
	}
}

func TestFollowingEnds(t *testing.T) {
	over := func(kind batchv1.JobConditionType, words string) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: words, Message: "words"}}}}
	}
	job := batch + "jobs/millicore-quick-1123-021818-x7"
	for _, test := range []struct {
		name string
		set  func(*followed)
		is   error
		want string
	}{
		{"the Job gave up", func(f *followed) { f.put(t, job, over(batchv1.JobFailed, "BackoffLimitExceeded")) }, ErrLost, "BackoffLimitExceeded: words"},
		{"the Job is complete", func(f *followed) { f.put(t, job, over(batchv1.JobComplete, "")) }, ErrLost, "it is complete"},
		{"the run is gone", func(f *followed) { f.take(job) }, ErrGone, "the namespace has no such run"},
		{"no run at all", func(f *followed) { f.take(core + "configmaps/millicore-quick-1123-021818-x7") }, ErrGone, "the namespace has no such run"},
		{"no pod for too long", func(f *followed) { f.follower.patient = 0 }, ErrWaits, "the conductor's pod does not exist yet"},
		{"no right to look", func(f *followed) {
			f.cluster.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
				return strings.HasSuffix(r.URL.Path, "/pods") && refuse(w, 403, metav1.StatusReasonForbidden, "you may not list pods")
			}
		}, nil, "which continues: you may not list pods"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFollowed(t)
			test.set(f)
			_, _, err := f.follower.Follow(t.Context())
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestLeavingARun(t *testing.T) {
	f := newFollowed(t)
	f.pod(t, "one", 1, nil)
	f.onState = func() (conductor.State, int) { return state(conductor.Running), 200 }
	ctx, leave := context.WithCancelCause(t.Context())
	why := errors.New("the terminal was closed")
	f.onLook = func(look int64) {
		if look == 3 {
			leave(why)
		}
	}
	if _, _, err := f.follower.Follow(ctx); err != why {
		t.Errorf("error %v, want %v", err, why)
	}
	if len(f.paths()) == 0 {
		t.Error("the run is gone")
	}
}

// A conductor that does not know the reader was reached: no policy keeps the reader out.
func TestAReaderWhoIsRefused(t *testing.T) {
	f := newFollowed(t)
	f.pod(t, "one", 1, nil)
	f.follower.closed = 5 * time.Millisecond
	usual := f.cluster.answer
	f.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if strings.HasSuffix(r.URL.Path, ":7443/proxy/state") {
			http.Error(w, "the header does not have a reader's token of this run", http.StatusUnauthorized)
			return true
		}
		return usual(w, r, body)
	}
	_, _, err := f.follower.Follow(t.Context())
	if err == nil || !strings.Contains(err.Error(), "does not have a reader's token") || !strings.Contains(err.Error(), "the millicore that started the run") {
		t.Errorf("%v", err)
	}
	if f.follower.opened {
		t.Error("the network policy was opened")
	}
}

// Where the API server cannot reach the pod, the network policy lets it in.
func TestAPolicyThatShutsTheServerOut(t *testing.T) {
	f := newFollowed(t)
	f.pod(t, "one", 1, nil)
	f.follower.closed = 5 * time.Millisecond
	at := "/apis/networking.k8s.io/v1/namespaces/here/networkpolicies/millicore-quick-1123-021818-x7"
	f.onState = func() (conductor.State, int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		policy := f.objects[at]
		if policy == nil || strings.Contains(fmt.Sprint(policy["spec"]), "from") {
			return conductor.State{}, 503
		}
		return state(conductor.Done), 200
	}
	if _, _, err := f.follower.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if owners := f.objects[at]["metadata"].(map[string]any)["ownerReferences"]; !strings.Contains(fmt.Sprint(owners), "uid-of-millicore-quick") {
		t.Errorf("the new policy has the owners %v", owners)
	}
	if len(f.notes) != 1 || !strings.Contains(f.notes[0], "cannot reach the conductor's pod") {
		t.Errorf("notes %q", f.notes)
	}
}
