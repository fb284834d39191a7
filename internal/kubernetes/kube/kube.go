// Package kube is a small client of a Kubernetes API server: HTTP and JSON for the
// kinds of objects that Millicore makes and reads. client-go does the
// authentication (kubeconfig files or a pod's service account). Its typed clients
// are not used: they add all kinds and 40 MB to the program, for the twenty kinds
// that are needed here.
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
	LabelNode    = "millicore/node"  // of a node agent's pod: stands for the name of its node

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

// ConductorAccount is the account of a conductor that reads kubelets. An administrator
// makes it once in a namespace and binds nodes/metrics to it (docs/kubernetes.yaml), so
// that no other pod of the namespace has that right.
const ConductorAccount = "millicore-conductor"

// ConductorPort is where the conductor's pod listens.
const ConductorPort = 7443

// Client sends requests to one API server, in one namespace.
type Client struct {
	Namespace string
	Server    string // its URL, for people
	// Patience is how long a short request is repeated while the server is busy or
	// unavailable. The default is 10 s.
	Patience time.Duration

	config *rest.Config
	base   *url.URL
	http   *http.Client
	token  func() string // of the pod's service account, for requests to kubelets; nil: there is none
	ca     []byte        // the cluster's authority, PEM
}

// Options choose the cluster. Empty fields are taken from the kubeconfig.
type Options struct {
	Kubeconfig string // a file; empty: KUBECONFIG, then ~/.kube/config, then the pod's own account
	Context    string
	Namespace  string
}

// Connect makes a client. It sends no request: an error is about the kubeconfig.
func Connect(o Options) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("find a Kubernetes cluster: there is no kubeconfig; set KUBECONFIG, or create ~/.kube/config (`kubectl config view` shows it)")
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

// New makes a client from a configuration.
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
	c := &Client{Namespace: namespace, Server: config.Host, Patience: usualPatience, config: config, base: base, http: made, ca: config.CAData}
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

// Token is the client's token, for requests to a kubelet; "" if it authenticates in
// another way.
func (c *Client) Token() string {
	if c.token == nil {
		return ""
	}
	return c.token()
}

// Authority is the cluster's certificate authority in PEM; nil if the kubeconfig has
// none.
func (c *Client) Authority() []byte { return c.ca }

// brief bounds a short request. Only the context bounds watches and logs.
const brief = 30 * time.Second

// Raw gets a path under the API server, such as "/version". Another status than 200
// to 299 is an *apierrors.StatusError. Otherwise the caller closes the body.
func (c *Client) Raw(ctx context.Context, path string, header http.Header) (*http.Response, error) {
	return c.do(ctx, http.MethodGet, path, nil, header, nil)
}

// do sends a request. path is below the API server's URL and not escaped.
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
			err = shown.Err // the message already has the URL
		}
		return nil, fmt.Errorf("ask the API server %s for %s %s: %w", c.Server, strings.ToLower(method), path, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		defer answer.Body.Close()
		return nil, refusal(answer, method, path)
	}
	return answer, nil
}

// mostAnswer bounds one answer, in bytes.
const mostAnswer = 64 << 20

// refusal is the error for an answer with another status than 200 to 299.
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

// reasonOf is the reason for an HTTP status code.
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

// take decodes an answer.
func take[T any](answer *http.Response, into *T) error {
	defer answer.Body.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the API server's answer: %w", err)
	}
	return nil
}
