package kubernetes

import (
	"context"
	_ "embed"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/kubernetes/cadvisor"
)

// metrics is what a kubelet answers.
//
//go:embed cadvisor/testdata/metrics.txt
var metrics string

// kubeletOf serves as a kubelet; known says whether the cluster's authority signed
// its certificate.
func kubeletOf(t *testing.T, known, verify bool, answer http.HandlerFunc) (of *kubelets, n *kubelet, notes func() []string) {
	t.Helper()
	h := httptest.NewUnstartedServer(answer)
	h.Config.ErrorLog = nil
	h.StartTLS()
	t.Cleanup(h.Close)
	config := &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "secret"}
	if known {
		config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	}
	c, err := kube.New(config, "mine")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []string
	of = newKubelets(t.Context(), c, verify, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, line)
	})
	t.Cleanup(of.close)
	return of, &kubelet{of: of, node: "n1", address: h.Listener.Addr().String()}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

func TestAKubeletIsKnownByItsCertificate(t *testing.T) {
	for _, c := range []struct {
		name          string
		known, verify bool
		want          string // the error
		notes         int
	}{
		{"signed by the cluster's authority", true, false, "", 0},
		{"and it must be", true, true, "", 0},
		{"signed by somebody else", false, false, "", 1},
		{"and it must not be", false, true, "did not sign its certificate", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, n, notes := kubeletOf(t, c.known, c.verify, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/metrics/cadvisor" || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("asked for %s as %s", r.URL, r.Header.Get("Authorization"))
				}
				io.WriteString(w, metrics)
			})
			for range 2 {
				stamps, err := n.stamps(t.Context())
				if c.want == "" && (err != nil || len(stamps) != 2) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, %v", stamps, err)
				}
			}
			if got := notes(); len(got) < c.notes || c.notes == 0 && len(got) > 0 {
				t.Errorf("notes %q", got)
			}
		})
	}
}

func TestAKubeletThatRefuses(t *testing.T) {
	for _, c := range []struct {
		status int
		want   []string
	}{
		{403, []string{"node n1", "403 Forbidden", "nodes/metrics", "millicore-metrics", "docs/kubernetes.md", "system:serviceaccounts:mine"}},
		{401, []string{"401 Unauthorized", "nodes/metrics"}},
		{500, []string{"ask the kubelet of node n1", "it answers 500 Internal Server Error"}},
	} {
		_, n, _ := kubeletOf(t, true, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
		_, err := n.stamps(t.Context())
		for _, words := range c.want {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%d: %v, without %q", c.status, err, words)
			}
		}
	}
}

// All pods of a node are read by one question, and nobody asks once nobody wants to
// know.
func TestOneQuestionForAllPods(t *testing.T) {
	var asked atomic.Int64
	of, n, notes := kubeletOf(t, true, false, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, metrics)
	})
	samples, failures := make(chan cadvisor.Sample, 10), make(chan error, 10)
	take := func(s cadvisor.Sample, err error) {
		if err != nil {
			failures <- err
			return
		}
		samples <- s
	}
	ctx, stop := context.WithCancel(t.Context())
	n.takers, n.stop = map[string]func(cadvisor.Sample, error){"go-1": take, "other": take}, stop
	of.nodes[n.address] = n
	all, err := n.samples(ctx)
	if err != nil || len(all) != 2 || asked.Load() != 1 {
		t.Fatalf("%v, %v after %d questions", all, err, asked.Load())
	}
	n.give(all, nil)
	if a, b := <-samples, <-samples; a.Pod == b.Pod {
		t.Errorf("%v and %v", a, b)
	}
	_, err = n.samples(ctx)
	for range 3 { // which is noted once
		n.give(nil, err)
		<-failures
		<-failures
	}
	if got := notes(); len(got) != 1 || !strings.Contains(got[0], "503") {
		t.Errorf("notes %q", got)
	}
}

func TestHowOftenAKubeletIsAsked(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration // between samples
		want  time.Duration
	}{
		{"each second", time.Second, time.Second},
		{"now and then", 10 * time.Second, 2 * time.Second},
		{"seldom", time.Minute, 3 * time.Second},
	} {
		var r rhythm
		if r.wait() != time.Second {
			t.Errorf("at first: %v", r.wait())
		}
		for i := range 3 {
			at := time.Unix(0, 0).Add(time.Duration(i) * c.every)
			r.add("p", at)
			r.add("p", at) // the same sample again
		}
		if got := r.wait(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
