package podstatus

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// pod is a pod of a unit on a node, with the state of its container.
func pod(s corev1.ContainerStatus) *corev1.Pod {
	s.Name = objects.UnitContainer
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: objects.UnitContainer, Image: "shop:1"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}}}
}

func waiting(reason, message string) *corev1.Pod {
	return pod(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
}

func terminated(t corev1.ContainerStateTerminated) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &t}
}

func TestWhatKeepsAPodFromRunning(t *testing.T) {
	pending := func(conditions ...corev1.PodCondition) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Conditions: conditions}}
	}
	for _, c := range []struct {
		name     string
		pod      *corev1.Pod
		words    string // "" where nothing does
		how      string
		patience time.Duration
	}{
		{"it runs", pod(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}), "", "", 0},
		{"it has run", pod(corev1.ContainerStatus{State: terminated(corev1.ContainerStateTerminated{ExitCode: 1})}), "", "", 0},
		{"it has run before", pod(corev1.ContainerStatus{State: waiting("CrashLoopBackOff", "").Status.ContainerStatuses[0].State,
			LastTerminationState: terminated(corev1.ContainerStateTerminated{ExitCode: 1})}), "", "", 0},
		{"not scheduled", pending(), "its pod waits for the scheduler", "", UnmadeFor},
		{"no room", pending(corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient cpu."}),
			"no node accepts its pod: 0/3 nodes are available: 3 Insufficient cpu.", "kubernetes.requests", unscheduledFor},
		{"not seen by the kubelet", &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1"}}, "its pod waits for the kubelet of node n1", "", UnmadeFor},
		{"being made", waiting("ContainerCreating", ""), "its container is being created on node n1, which may have to pull the image shop:1 first", "", pullingFor},
		{"no such image", waiting("ErrImagePull", "not found"), "the node n1 cannot pull the image shop:1: not found", "kubernetes.pull_secrets", unpulledFor},
		{"no such image, later", waiting("ImagePullBackOff", "Back-off"), "the node n1 cannot pull the image shop:1: Back-off", "kubernetes.pull_secrets", unpulledFor},
		{"a name that is none", waiting("InvalidImageName", "invalid reference format"), "the node n1 cannot use the image shop:1: invalid reference format", "", 0},
		{"root", waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"), "the node n1 cannot create its container: container has runAsNonRoot and image will run as root", "kubernetes.security: baseline", 0},
		{"no such user", waiting("CreateContainerConfigError", "secret not found"), "the node n1 cannot create its container: secret not found", "", 0},
		{"another way", waiting("RunContainerError", "no runtime"), "the node n1 cannot start its container: RunContainerError: no runtime", "", RefusedFor},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ObstacleOf(c.pod, objects.UnitContainer)
			if o == nil {
				o = &Obstacle{}
			}
			if o.What != c.words || !strings.Contains(o.How, c.how) || o.Patience != c.patience {
				t.Errorf("%+v, want %q for %v", o, c.words, c.patience)
			}
		})
	}
}

func TestWhyThereIsNoPod(t *testing.T) {
	for _, c := range []struct{ name, message, words, how string }{
		{"nobody says", "", "its pod does not exist yet", ""},
		{"a quota", `pods "x" is forbidden: exceeded quota: small`, `the cluster refuses its pod: pods "x" is forbidden: exceeded quota: small`, "ResourceQuota"},
		{"a policy", `pods "x" is forbidden: violates PodSecurity "restricted:latest"`, `the cluster refuses its pod: pods "x" is forbidden: violates PodSecurity "restricted:latest"`, "Pod Security"},
	} {
		d := &appsv1.Deployment{}
		if c.message != "" {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: c.message}}
		}
		if o := Refusal(d); o.What != c.words || !strings.Contains(o.How, c.how) {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

func TestHowAContainerEnded(t *testing.T) {
	for _, c := range []struct {
		end  *corev1.ContainerStateTerminated
		want string
	}{
		{nil, "it ended; Kubernetes does not report how"},
		{&corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}, "it ended with exit status 3"},
		{&corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"}, "it ended with exit status 137, as by signal 9 (killed)"},
		{&corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}, "it was killed: out of memory: it reached its limit of 100 bytes"},
		{&corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "no such file"}, "it could not be started: no such file"},
	} {
		if got := EndText(c.end, 100); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestWhyAPodIsNoMore(t *testing.T) {
	now := metav1.Now()
	evicted := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"there", &corev1.Pod{}, ""},
		{"deleted", nil, "it was deleted"},
		{"about to be", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, "it was deleted"},
		{"evicted", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{evicted}}}, "EvictionByEvictionAPI: Eviction API: evicting"},
		{"its node is out of memory", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}}, "Evicted: The node was low on resource: memory."},
		{"failed", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, "it failed"},
	} {
		if got := Gone(c.pod); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPatience(t *testing.T) {
	begin := time.Unix(0, 0)
	var notes []string
	h := NewObstacles(func(line string) { notes = append(notes, line) }, `start "go"`)
	full := func(n string) *Obstacle {
		return &Obstacle{What: "no node accepts its pod: " + n + " nodes", Patience: time.Minute, How: "lower its requests"}
	}
	for _, step := range []struct {
		at   time.Duration
		in   *Obstacle
		want string // the error
	}{
		{0, full("3"), ""},
		{9 * time.Second, full("3"), ""},
		{11 * time.Second, full("4"), ""}, // it is the same in other words
		{30 * time.Second, full("4"), ""},
		{50 * time.Second, &Obstacle{What: "another", Patience: time.Minute}, ""},
		{55 * time.Second, full("4"), ""}, // its time begins again
		{114 * time.Second, full("4"), ""},
		{115 * time.Second, full("5"), "no node accepts its pod: 5 nodes (for 1m); lower its requests"},
		{116 * time.Second, &Obstacle{What: "it never will"}, "it never will"},
	} {
		err := h.Meet(step.in, begin.Add(step.at))
		if step.want == "" && err != nil || step.want != "" && (err == nil || err.Error() != step.want) {
			t.Errorf("at %v: %v, want %q", step.at, err, step.want)
		}
	}
	want := `start "go": no node accepts its pod: 4 nodes; waiting for up to 1m`
	if len(notes) != 2 || notes[0] != want {
		t.Errorf("notes %q, want %q and its like", notes, want)
	}
}
