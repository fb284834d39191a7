// Package fleettest has an API server with the pods of fleet's DaemonSet, for tests of its
// callers.
package fleettest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// Node is a node of the cluster, whose pod is doctor-NAME.
type Node struct {
	Name    string
	NoPod   bool   // the DaemonSet has none there
	Waiting string // why its container does not run; "": it runs
	Output  string // of the command in the pod
	Said    string // by it on standard error
	Code    int    // its exit code
	Silent  bool   // it never answers
}

// Cluster is an API server. It refuses what changes objects.
type Cluster struct {
	URL string

	mu       sync.Mutex
	commands []string
}

// Commands are those that ran in pods, as NAMESPACE/POD: COMMAND, in the order of their begin.
func (c *Cluster) Commands() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commands
}

// Serve serves until the test ends. Nodes cannot be listed if hidden.
func Serve(t testing.TB, hidden bool, nodes ...Node) *Cluster {
	c := &Cluster{}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			t.Error(err)
		}
		var list corev1.PodList
		for i := range nodes {
			if p := podOf(&nodes[i], r.PathValue("namespace")); !nodes[i].NoPod && selector.Matches(labels.Set(p.Labels)) {
				list.Items = append(list.Items, p)
			}
		}
		answer(w, list)
	})
	mux.HandleFunc("GET /api/v1/nodes", func(w http.ResponseWriter, _ *http.Request) {
		if hidden {
			w.WriteHeader(http.StatusForbidden)
			answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "nodes is forbidden"})
			return
		}
		var list corev1.NodeList
		for i := range nodes {
			list.Items = append(list.Items, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodes[i].Name}})
		}
		answer(w, list)
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods/{pod}/exec", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		c.mu.Lock()
		c.commands = append(c.commands, fmt.Sprintf("%s/%s: %s", r.PathValue("namespace"), r.PathValue("pod"), strings.Join(query["command"], " ")))
		c.mu.Unlock()
		for i := range nodes {
			if podName(&nodes[i]) == r.PathValue("pod") {
				nodes[i].run(t, w, r)
			}
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("unexpected request: %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func podName(n *Node) string { return "doctor-" + n.Name }

// podOf is a node's pod. One that waits is not scheduled yet: its affinity has the node.
func podOf(n *Node, namespace string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: podName(n), Namespace: namespace, Labels: map[string]string{"app.kubernetes.io/name": "millicore-doctor"}}}
	if n.Waiting == "" {
		p.Spec.NodeName = n.Name
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "doctor", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		return p
	}
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name}}}}}}}}
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: n.Waiting}}
	return p
}

// run answers an exec by the protocol v5.channel.k8s.io: each message begins with the number of
// its stream.
func (n *Node) run(t testing.TB, w http.ResponseWriter, r *http.Request) {
	upgrade := websocket.Upgrader{Subprotocols: []string{remotecommand.StreamProtocolV5Name}}
	conn, err := upgrade.Upgrade(w, r, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	if n.Silent {
		_, _, _ = conn.ReadMessage() // until the client leaves
		return
	}
	send := func(stream byte, text string) {
		for len(text) > 0 && err == nil {
			part := text[:min(len(text), 8<<10)]
			err = conn.WriteMessage(websocket.BinaryMessage, append([]byte{stream}, part...))
			text = text[len(part):]
		}
	}
	send(remotecommand.StreamStdOut, n.Output)
	send(remotecommand.StreamStdErr, n.Said)
	status := metav1.Status{Status: metav1.StatusSuccess}
	if n.Code != 0 {
		status = metav1.Status{Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason, Message: "it ended",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(n.Code)}}}}
	}
	text, err2 := json.Marshal(status)
	send(remotecommand.StreamErr, string(text))
	closing := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if err == nil {
		err = conn.WriteMessage(websocket.CloseMessage, closing)
	}
	if err != nil || err2 != nil {
		t.Log(err, err2) // the client may have left
	}
}
