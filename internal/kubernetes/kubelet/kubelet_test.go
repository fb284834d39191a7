package kubelet

import (
	"context"
	_ "embed"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
)

// metrics is what a kubelet answers.
//
//go:embed cadvisor/testdata/metrics.txt
var metrics string

// kubeletOf serves as a kubelet; known says whether the cluster's authority signed
// its certificate, and anyone whether that may be somebody else.
func kubeletOf(t *testing.T, known, anyone bool, answer http.HandlerFunc) (of *Reader, n *node, notes func() []string) {
	t.Helper()
	h := httptest.NewUnstartedServer(answer)
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that are refused
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
	of = New(t.Context(), c, anyone, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, line)
	})
	t.Cleanup(of.Close)
	return of, &node{of: of, node: "n1", address: h.Listener.Addr().String()}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

func TestATokenIsSentToAKubeletWithAVerifiedCertificate(t *testing.T) {
	const insecure = "kubernetes.kubelet_certificate: any"
	for _, c := range []struct {
		name          string
		known, anyone bool
		host          string   // its address, as another than its certificate names; "": that
		want          []string // of the error
		notes         int
	}{
		{"signed by the cluster's authority", true, false, "", nil, 0},
		{"where that need not be", true, true, "", nil, 0},
		{"signed by somebody else", false, false, "", []string{"node n1", "unknown authority", "the token was not sent", "serverTLSBootstrap", "--node-agent", insecure}, 0},
		{"signed for another address", true, false, "127.0.0.2", []string{"node n1", "127.0.0.2", "the token was not sent", insecure}, 0},
		{"signed by somebody else, which will do", false, true, "", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tokens atomic.Int64
			_, n, notes := kubeletOf(t, c.known, c.anyone, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/metrics/cadvisor" || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("asked for %s as %q", r.URL, r.Header.Get("Authorization"))
				}
				tokens.Add(1)
				io.WriteString(w, metrics)
			})
			if c.host != "" {
				_, port, _ := net.SplitHostPort(n.address)
				forward(t, net.JoinHostPort(c.host, port), n.address)
				n.address = net.JoinHostPort(c.host, port)
			}
			for range 2 {
				stamps, err := n.stamps(t.Context())
				if c.want == nil && (err != nil || len(stamps) != 2) || c.want != nil && err == nil {
					t.Errorf("%v, %v", stamps, err)
				}
				for _, words := range c.want {
					if err != nil && !strings.Contains(err.Error(), words) {
						t.Errorf("%v, without %q", err, words)
					}
				}
			}
			if want := int64(2); c.want == nil && tokens.Load() != want || c.want != nil && tokens.Load() != 0 {
				t.Errorf("the token was sent %d times", tokens.Load())
			}
			got := notes()
			if len(got) != c.notes && c.notes == 0 || c.notes > 0 && (len(got) == 0 || !strings.Contains(got[0], insecure)) {
				t.Errorf("notes %q", got)
			}
		})
	}
}

// forward listens at an address of loopback and passes on what comes.
func forward(t *testing.T, at, to string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Skipf("no second address of loopback: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() { defer out.Close(); io.Copy(out, in) }()
			go func() { defer in.Close(); io.Copy(in, out) }()
		}
	}()
}

// A kubelet has no reason to redirect its caller. The client must not send the token to
// another address or port, or without TLS.
func TestATokenDoesNotFollowARedirect(t *testing.T) {
	var led atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led.Add(1) }))
	defer other.Close()
	for _, anyone := range []bool{false, true} {
		_, n, _ := kubeletOf(t, true, anyone, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+metricsPath, http.StatusFound)
		})
		if _, err := n.stamps(t.Context()); err == nil || !strings.Contains(err.Error(), "it answers 302 Found") {
			t.Errorf("%v, want its status", err)
		}
	}
	if led.Load() != 0 {
		t.Errorf("followed %d times", led.Load())
	}
}

func TestAKubeletThatRefuses(t *testing.T) {
	for _, c := range []struct {
		status int
		want   []string
	}{
		{403, []string{"node n1", "403 Forbidden", "nodes/metrics", "millicore-metrics", "docs/kubernetes.md", "account millicore-conductor of namespace mine"}},
		{401, []string{"401 Unauthorized", "nodes/metrics"}},
		{500, []string{"kubelet of node n1", "it answers 500 Internal Server Error"}},
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

// One request reads all pods of a node, and there are no requests without a taker.
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

func TestTheWaitBetweenReadsOfAKubelet(t *testing.T) {
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
