// Package kube is a small client of a Kubernetes API server: the kinds that
// Millicore makes and reads, by hand over HTTP and JSON. Who one is, and how the
// server is known, is client-go's work (kubeconfig files with all that is in
// them, or a pod's own service account). Its typed clients are left out: they
// bring every kind there is, and 40 MB of program, for the twenty used here.
package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Labels of all objects that a run makes.
const (
	LabelManager = "app.kubernetes.io/managed-by" // Manager
	LabelRun     = "millicore/run"
	LabelPart    = "millicore/part"  // one of the parts
	LabelUnit    = "millicore/unit"  // a service's or dependency's name
	LabelTrial   = "millicore/trial" // its number

	Manager = "millicore"
)

// Parts of a run.
const (
	PartConductor  = "conductor"
	PartAgent      = "agent"
	PartService    = "service"
	PartDependency = "dependency"
	PartNode       = "node"
)

// ConductorPort is where the conductor's pod listens.
const ConductorPort = 7443

// Client asks one API server, in one namespace.
type Client struct {
	Namespace string
	Server    string // its URL, for people
	// Patience is how long a request that is answered at once is asked again while
	// the server is busy or away; 10 s unless somebody sets it.
	Patience time.Duration

	base  *url.URL
	http  *http.Client
	token func() string // of the pod's own account, for those who ask others than the API server; nil: there is none
	ca    []byte        // the cluster's authority, PEM
}

// Options say which cluster is asked. What is empty is the kubeconfig's.
type Options struct {
	Kubeconfig string // a file; empty: KUBECONFIG, then ~/.kube/config, then the pod's own account
	Context    string
	Namespace  string
}

// Connect makes a client. It asks nothing yet: an error is one of the
// kubeconfig.
func Connect(o Options) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("find a Kubernetes cluster: there is no kubeconfig; set KUBECONFIG, or write ~/.kube/config (`kubectl config view` shows it)")
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	namespace := o.Namespace
	if namespace == "" {
		if namespace, _, err = loaded.Namespace(); err != nil {
			return nil, fmt.Errorf("read the kubeconfig: %w", err)
		}
	}
	return New(config, cmp.Or(namespace, metav1.NamespaceDefault))
}

// New makes a client of a configuration.
func New(config *rest.Config, namespace string) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the server's own fairness is enough for so few requests
	config.UserAgent = Manager
	made, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	c := &Client{Namespace: namespace, Server: config.Host, Patience: usualPatience, base: base, http: made, ca: config.CAData}
	if len(c.ca) == 0 && config.CAFile != "" {
		if c.ca, err = os.ReadFile(config.CAFile); err != nil {
			return nil, fmt.Errorf("read the cluster's authority: %w", err)
		}
	}
	switch {
	case config.BearerTokenFile != "":
		c.token = func() string { // a pod's token is renewed in its file
			text, _ := os.ReadFile(config.BearerTokenFile)
			return strings.TrimSpace(string(text))
		}
	case config.BearerToken != "":
		c.token = func() string { return config.BearerToken }
	}
	return c, nil
}

// Token is the one that this client shows, for asking a kubelet; "" where it has
// another proof.
func (c *Client) Token() string {
	if c.token == nil {
		return ""
	}
	return c.token()
}

// Authority is the cluster's own certificate authority in PEM; nil where the
// kubeconfig names none.
func (c *Client) Authority() []byte { return c.ca }

// brief bounds a request that is answered at once. Watches and logs have no bound
// but their context.
const brief = 30 * time.Second

// Raw asks for a path under the API server, as "/version". An answer that is not
// 200 is an error, an *apierrors.StatusError where the server said so; the caller
// closes the body of another.
func (c *Client) Raw(ctx context.Context, path string, header http.Header) (*http.Response, error) {
	return c.do(ctx, http.MethodGet, path, nil, header, nil)
}

// do asks. path is under the API server and not escaped but where it has a query.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, header http.Header, body any) (*http.Response, error) {
	to := *c.base
	to.Path += path
	to.RawQuery = query.Encode()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, to.String(), content)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if body != nil && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		var shown *url.Error
		if errors.As(err, &shown) {
			err = shown.Err // the words say what was asked
		}
		return nil, fmt.Errorf("ask the API server %s for %s %s: %w", c.Server, strings.ToLower(method), path, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		defer answer.Body.Close()
		return nil, refusal(answer, method, path)
	}
	return answer, nil
}

// mostAnswer is what one answer may have.
const mostAnswer = 64 << 20

// refusal is what a server's answer says that did not do what was asked.
func refusal(answer *http.Response, method, path string) error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	var said metav1.Status
	if json.Unmarshal(text, &said) == nil && said.Kind == "Status" && said.Message != "" {
		return &apierrors.StatusError{ErrStatus: said}
	}
	words, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if len(words) > 200 {
		words = words[:200] + "…"
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(answer.StatusCode), Reason: reasonOf(answer.StatusCode),
		Message: strings.TrimSuffix(fmt.Sprintf("%s %s: the server answered %s: %s", strings.ToLower(method), path, answer.Status, words), ": "),
	}}
}

// reasonOf is what a status of HTTP alone says.
func reasonOf(code int) metav1.StatusReason {
	switch code {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	}
	return metav1.StatusReasonUnknown
}

// take reads an answer.
func take[T any](answer *http.Response, into *T) error {
	defer answer.Body.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the API server's answer: %w", err)
	}
	return nil
}
