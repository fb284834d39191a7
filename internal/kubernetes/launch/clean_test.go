package launch

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// left puts a run into the cluster; old ones have no business to be without a Job.
func (c *cluster) left(t *testing.T, run string, age time.Duration, job *batchv1.Job) {
	made := metav1.NewTime(time.Now().Add(-age))
	c.put(t, core+"configmaps/"+Name(run), corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: Name(run), CreationTimestamp: made,
		Labels: map[string]string{kube.LabelManager: kube.Manager, kube.LabelRun: run}}})
	if job != nil {
		c.put(t, batch+"jobs/"+Name(run), job)
	}
}

func TestClean(t *testing.T) {
	failed := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too long"}}}}
	for _, test := range []struct {
		name, run string
		age       time.Duration
		job       *batchv1.Job
		want      Cleaned
	}{
		{"under way", "", time.Hour, &batchv1.Job{}, Cleaned{Living: []string{"one"}}},
		{"under way, and named", "one", time.Hour, &batchv1.Job{}, Cleaned{Removed: []string{"run one (it was running)"}}},
		{"its conductor failed", "", time.Hour, failed, Cleaned{Removed: []string{"run one (its conductor has ended: DeadlineExceeded: too long)"}}},
		{"its conductor is gone", "", time.Hour, nil, Cleaned{Removed: []string{"run one (its conductor is gone)"}}},
		{"it is being made", "", time.Minute, nil, Cleaned{Living: []string{"one"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, client := newCluster(t)
			c.left(t, "one", test.age, test.job)
			got, err := Clean(t.Context(), client, test.run)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if there := len(c.paths()) > 0; there != (len(test.want.Living) > 0) {
				t.Errorf("there is %v", c.paths())
			}
		})
	}
	_, client := newCluster(t)
	if _, err := Clean(t.Context(), client, "none"); !errors.Is(err, ErrGone) {
		t.Errorf("error %v, want that there is no such run", err)
	}
}

func TestPodsThatTriedImages(t *testing.T) {
	c, client := newCluster(t)
	pod := func(name string, age time.Duration, phase corev1.PodPhase) {
		c.put(t, core+"pods/"+name, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age)),
			Labels: map[string]string{kube.LabelManager: kube.Manager, kube.LabelPart: partCheck}}, Status: corev1.PodStatus{Phase: phase}})
	}
	pod("ended", time.Minute, corev1.PodFailed)
	pod("tries", time.Minute, corev1.PodPending)
	pod("old", time.Hour, corev1.PodPending)
	got, err := Clean(t.Context(), client, "")
	if err != nil || len(got.Removed) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if d := cmp.Diff([]string{core + "pods/tries"}, c.paths()); d != "" {
		t.Error(d)
	}
}

// What the cluster is slow to remove is named; what may not be listed is left to
// the cluster.
func TestWhatIsLeft(t *testing.T) {
	c, client := newCluster(t)
	c.put(t, core+"pods/stuck", conductorPod("stuck", metav1.Now(), nil))
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		return strings.HasSuffix(r.URL.Path, "/roles") && refuse(w, 403, metav1.StatusReasonForbidden, "you may not")
	}
	run := "quick-1123-021818-x7"
	err := gone(t.Context(), client, run, 5*time.Millisecond, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "there is still Pod stuck") {
		t.Errorf("error %v", err)
	}
	c.take(core + "pods/stuck")
	if err := Remove(t.Context(), client, run); err != nil {
		t.Errorf("error %v", err)
	}
}

// A ConfigMap with the labels of a run and another name is not that of the run: it does
// not end a run that lives, and is neither removed nor waited for.
func TestACopyOfARunsConfigMap(t *testing.T) {
	c, client := newCluster(t)
	c.left(t, "lives", time.Hour, &batchv1.Job{})
	for _, run := range []string{"lives", "nowhere"} {
		c.put(t, core+"configmaps/copy-of-"+run, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "copy-of-" + run,
			CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour)), Labels: map[string]string{kube.LabelManager: kube.Manager, kube.LabelRun: run}}})
	}
	before := c.paths()
	got, err := Clean(t.Context(), client, "")
	if d := cmp.Diff(Cleaned{Living: []string{"lives"}}, got); d != "" || err != nil {
		t.Errorf("%v, %s", err, d)
	}
	if d := cmp.Diff(before, c.paths()); d != "" {
		t.Error(d)
	}
	c.take(core + "configmaps/" + Name("lives"))
	c.take(batch + "jobs/" + Name("lives"))
	if err := gone(t.Context(), client, "lives", 5*time.Millisecond, time.Millisecond); err != nil {
		t.Errorf("its copy counts as a part of the run: %v", err)
	}
}
