package pods

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/test/testkit"
)

const own = "millicore/millicore:1"

// endedAt is the end of a container at so many seconds; nil for nil.
func endedAt(s *int64) *corev1.ContainerStateTerminated {
	if s == nil {
		return nil
	}
	return &corev1.ContainerStateTerminated{FinishedAt: metav1.Unix(*s, 0)}
}

// server is an API server of tests: it has pods, which change as the test says,
// and remembers what is made and deleted. Everything else it answers by hand.
type server struct {
	t    *testing.T
	hand map[string]http.HandlerFunc // by "GET /path"

	mu      sync.Mutex
	pods    map[string]corev1.Pod
	watches []chan string // lines for whoever watches pods
	asked   []string      // POST and DELETE, with what was posted
}

func serve(t *testing.T) (*server, *kube.Client) {
	t.Helper()
	s := &server{t: t, hand: map[string]http.HandlerFunc{}, pods: map[string]corev1.Pod{}}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	c, err := kube.New(&rest.Config{Host: h.URL, BearerToken: "secret"}, "here")
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

const podsPath = "/api/v1/namespaces/here/pods"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if by := s.hand[r.Method+" "+r.URL.Path]; by != nil {
		by(w, r)
		return
	}
	switch {
	case r.Method != http.MethodGet:
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if r.Method == http.MethodPost {
			_, _ = w.Write(body)
			return
		}
		io.WriteString(w, "{}")
	case r.URL.Path == podsPath && r.URL.Query().Get("watch") != "":
		lines := make(chan string, 100)
		s.mu.Lock()
		s.watches = append(s.watches, lines)
		s.mu.Unlock()
		w.(http.Flusher).Flush()
		for {
			select {
			case line := <-lines:
				io.WriteString(w, line)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case r.URL.Path == podsPath:
		s.mu.Lock()
		var list corev1.PodList
		for _, p := range s.pods {
			list.Items = append(list.Items, p)
		}
		s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(list)
	default:
		io.WriteString(w, `{"items":[]}`)
	}
}

// put changes a pod, or makes it.
func (s *server) put(p corev1.Pod) { s.change("MODIFIED", p) }

// drop deletes a pod.
func (s *server) drop(p corev1.Pod) { s.change("DELETED", p) }

func (s *server) change(what string, p corev1.Pod) {
	text, err := json.Marshal(p)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[p.Name] = p
	if what == "DELETED" {
		delete(s.pods, p.Name)
	}
	for _, lines := range s.watches {
		lines <- fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", what, text)
	}
}

// made reports whether an object was posted or deleted.
func (s *server) made(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.asked {
		if strings.HasPrefix(one, what) {
			return true
		}
	}
	return false
}

// watched waits until somebody watches pods.
func (s *server) watched() {
	s.t.Helper()
	testkit.Until(s.t, "somebody watches pods", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.watches) > 0
	})
}

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
