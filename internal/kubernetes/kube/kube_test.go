package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// served is a client of an API server that answers as a test says.
func served(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL + "/behind/"}, "here")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRequests(t *testing.T) {
	var asked []string
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("Content-Type"), " ", string(body))))
		io.WriteString(w, `{"metadata":{"name":"x"},"items":[]}`)
	})
	ctx := t.Context()
	grace := int64(0)
	for _, ask := range []func() error{
		func() error { _, err := Pods.Get(ctx, c, "x"); return err },
		func() error { _, err := Nodes.Get(ctx, c, "x"); return err },
		func() error { _, err := Deployments.List(ctx, c, "a=b,c"); return err },
		func() error {
			_, err := Deployments.Create(ctx, c, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
			return err
		},
		func() error {
			_, err := ConfigMaps.Try(ctx, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
			return err
		},
		func() error { _, err := Pods.Patch(ctx, c, "x", "resize", map[string]int{"a": 1}); return err },
		func() error { return Jobs.Delete(ctx, c, "x", Delete{Grace: &grace, Foreground: true}) },
	} {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"GET /behind/api/v1/namespaces/here/pods/x",
		"GET /behind/api/v1/nodes/x",
		"GET /behind/apis/apps/v1/namespaces/here/deployments?labelSelector=a%3Db%2Cc&limit=500",
		`POST /behind/apis/apps/v1/namespaces/here/deployments application/json {"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`,
		`POST /behind/api/v1/namespaces/here/configmaps?dryRun=All application/json {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`,
		`PATCH /behind/api/v1/namespaces/here/pods/x/resize application/strategic-merge-patch+json {"a":1}`,
		`DELETE /behind/apis/batch/v1/namespaces/here/jobs/x application/json {"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Foreground"}`,
	}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
}

func TestAllPagesOfAList(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			io.WriteString(w, `{"metadata":{"continue":"more"},"items":[{"metadata":{"name":"a"}}]}`)
			return
		}
		io.WriteString(w, `{"metadata":{},"items":[{"metadata":{"name":"b"}}]}`)
	})
	pods, err := Pods.List(t.Context(), c, "")
	if err != nil || len(pods) != 2 || pods[0].Name != "a" || pods[1].Name != "b" {
		t.Errorf("%v, %v, want the pods a and b", pods, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name, body string
		code       int
		is         func(error) bool
		words      string
	}{
		{"in the server's words", `{"kind":"Status","message":"pods \"x\" is forbidden: no","reason":"Forbidden","code":403}`, 403, apierrors.IsForbidden, `pods "x" is forbidden: no`},
		{"a proxy's page", "<html>\nno", 502, nil, "get /api/v1/namespaces/here/pods/x: the server answered 502 Bad Gateway: <html>"},
		{"nothing", "", 401, apierrors.IsUnauthorized, "get /api/v1/namespaces/here/pods/x: the server answered 401 Unauthorized"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := served(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(test.code)
				io.WriteString(w, test.body)
			})
			c.Patience = 0
			_, err := Pods.Get(t.Context(), c, "x")
			if err == nil || err.Error() != test.words || test.is != nil && !test.is(err) {
				t.Errorf("error %v, want %q", err, test.words)
			}
		})
	}
	gone := served(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404) })
	if err := Pods.Delete(t.Context(), gone, "x", Delete{}); err != nil {
		t.Errorf("delete what is not there: %v", err)
	}
}

// A server that is busy or away is asked again, but not for what it may have done.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name   string
		codes  []int // of the answers; 0: the connection is cut
		ask    func(ctx context.Context, c *Client) error
		asked  int
		failed bool
	}{
		{"busy", []int{429, 503, 200}, get, 3, false},
		{"broken behind a proxy", []int{502, 500, 504, 200}, get, 4, false},
		{"cut", []int{0, 200}, get, 2, false},
		{"forbidden", []int{403, 200}, get, 1, true},
		{"made while it is busy", []int{429, 503, 200}, create, 3, false},
		{"made, perhaps", []int{500, 200}, create, 1, true},
		{"made, perhaps, and cut", []int{0, 200}, create, 1, true},
		{"deleted while it is busy", []int{503, 404}, remove, 2, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			c := served(t, func(w http.ResponseWriter, r *http.Request) {
				code := test.codes[asked.Add(1)-1]
				if code == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(code)
				io.WriteString(w, "{}")
			})
			err := test.ask(t.Context(), c)
			if (err != nil) != test.failed || int(asked.Load()) != test.asked {
				t.Errorf("asked %d times: %v; want %d times, failed %v", asked.Load(), err, test.asked, test.failed)
			}
		})
	}
	for _, patience := range []time.Duration{0, 150 * time.Millisecond} {
		var asked atomic.Int64
		c := served(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); w.WriteHeader(503) })
		c.Patience = patience
		if err := get(t.Context(), c); !apierrors.IsServiceUnavailable(err) || asked.Load() < 1 || patience > 0 && asked.Load() < 2 {
			t.Errorf("patience %v: asked %d times: %v", patience, asked.Load(), err)
		}
	}
}

func get(ctx context.Context, c *Client) error { _, err := Pods.Get(ctx, c, "x"); return err }

func create(ctx context.Context, c *Client) error {
	_, err := Pods.Create(ctx, c, &corev1.Pod{})
	return err
}

func remove(ctx context.Context, c *Client) error { return Pods.Delete(ctx, c, "x", Delete{}) }

// A watch lists, follows, and lists again where the server ended the stream or
// has forgotten the version.
func TestWatch(t *testing.T) {
	line := func(change, name string) string {
		return fmt.Sprintf(`{"type":%q,"object":{"metadata":{"name":%q}}}`+"\n", change, name)
	}
	streams := []string{
		line("MODIFIED", "a") + line("BOOKMARK", "-") + line("DELETED", "a"),
		`{"type":"ERROR","object":{"kind":"Status","code":410}}` + "\n",
		line("ADDED", "last"),
	}
	lists := 0
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			lists++
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d"},"items":[{"metadata":{"name":"list %d"}}]}`, lists, lists)
			return
		}
		if got := r.URL.Query().Get("resourceVersion"); got != fmt.Sprint(lists) {
			t.Errorf("watched from version %s, want %d", got, lists)
		}
		io.WriteString(w, streams[0])
		streams = streams[1:]
	})
	var seen []string
	enough := errors.New("enough")
	err := Pods.Watch(t.Context(), c, "", func(change watch.EventType, p *corev1.Pod) error {
		seen = append(seen, string(change)+" "+p.Name)
		if p.Name == "last" {
			return enough
		}
		return nil
	})
	if err != enough {
		t.Errorf("error %v, want the caller's own", err)
	}
	want := []string{"ADDED list 1", "MODIFIED a", "DELETED a", "ADDED list 2", "ADDED list 3", "ADDED last"}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

func TestAWatchEnds(t *testing.T) {
	refusals := 0
	forbidden := served(t, func(w http.ResponseWriter, r *http.Request) {
		if refusals--; refusals < 0 {
			io.WriteString(w, `{"items":[{"metadata":{"name":"p"}}]}`)
			return
		}
		w.WriteHeader(403)
	})
	refusals = 2 // by a server that knows nobody for a moment
	enough := errors.New("enough")
	if err := Pods.Watch(t.Context(), forbidden, "", func(watch.EventType, *corev1.Pod) error { return enough }); err != enough {
		t.Errorf("error %v, want none before the pod came", err)
	}
	unwatched := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			w.WriteHeader(403)
			return
		}
		io.WriteString(w, `{"items":[]}`)
	})
	unwatched.Patience = 0
	if err := Pods.Watch(t.Context(), unwatched, "", nil); !apierrors.IsForbidden(err) {
		t.Errorf("of a server that lets list, but not watch: %v", err)
	}
	refusals, forbidden.Patience = 1000, 0
	if err := Pods.Watch(t.Context(), forbidden, "", nil); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want that it is forbidden", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	silent := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			io.WriteString(w, `{"items":[]}`)
			return
		}
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	if err := Pods.Watch(ctx, silent, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestConnect(t *testing.T) {
	var shown string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		json.NewEncoder(w).Encode(corev1.Pod{})
	}))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "config")
	text := `{"current-context":"one","contexts":[
		{"name":"one","context":{"cluster":"c","user":"u","namespace":"theirs"}},{"name":"two","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":"` + server.URL + `",
			"certificate-authority-data":"` + base64.StdEncoding.EncodeToString(authority) + `"}}],"users":[{"name":"u","user":{"token":"secret"}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		options   Options
		namespace string
	}{
		{Options{Kubeconfig: file}, "theirs"},
		{Options{Kubeconfig: file, Context: "two"}, "default"},
		{Options{Kubeconfig: file, Namespace: "mine"}, "mine"},
	} {
		c, err := Connect(test.options)
		if err != nil {
			t.Fatal(err)
		}
		if c.Namespace != test.namespace || c.Token() != "secret" || !bytes.Equal(c.Authority(), authority) {
			t.Errorf("%+v: namespace %q and token %q, want %q and the kubeconfig's", test.options, c.Namespace, c.Token(), test.namespace)
		}
		if _, err := Pods.Get(t.Context(), c, "x"); err != nil || shown != "Bearer secret" {
			t.Errorf("asked with %q: %v", shown, err)
		}
	}
	if _, err := Connect(Options{Kubeconfig: file + ".none"}); err == nil || !strings.Contains(err.Error(), "config.none") {
		t.Errorf("error %v, want one that names the file", err)
	}
	if _, err := Connect(Options{Kubeconfig: file, Context: "three"}); err == nil || !strings.Contains(err.Error(), "three") {
		t.Errorf("error %v, want one that names the context", err)
	}
}
