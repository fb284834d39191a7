// Package kubelet reads the counters of containers from the kubelets of nodes, with the
// kubelets' own time stamps.
package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// Reader reads container metrics from the kubelets of nodes. It has one request
// per node at a time, regardless of the number of replicas there, and none while a
// node has no replica.
type Reader struct {
	api    *kube.Client
	anyone bool // accept any server at a node's address as its kubelet
	warn   func(string)
	ctx    context.Context

	strict, lax *http.Client

	mu    sync.Mutex
	nodes map[string]*node // by address
}

// node is the kubelet of one node.
type node struct {
	of      *Reader
	address string // host:port
	node    string // its name, for people
	lax     bool   // its certificate cannot be verified, which is allowed; only its goroutine uses this and failing
	failing bool   // it did not answer the last time

	// Guarded by the mutex of the Reader.
	takers map[string]func(cadvisor.Sample, error) // by pod
	stop   context.CancelFunc
}

const (
	kubeletPort = 10250
	metricsPath = "/metrics/cadvisor"
	// askEvery and askSeldom bound the time between two requests: a kubelet that
	// samples every 10 s is not asked every second.
	askEvery  = time.Second
	askSeldom = 3 * time.Second
	askWithin = 10 * time.Second
	// mostMetrics bounds an answer: a node with 250 pods sends about 20 MB.
	mostMetrics = 256 << 20
)

// New returns a Reader. It sends a token to servers whose certificates cannot be verified
// if anyone is true, and reports that to warn. ctx ends its requests.
func New(ctx context.Context, api *kube.Client, anyone bool, warn func(string)) *Reader {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // the image has none
	}
	roots.AppendCertsFromPEM(api.Authority())
	client := func(c *tls.Config) *http.Client {
		return &http.Client{
			// A kubelet never redirects. net/http would send the token to another port too,
			// even without TLS.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				TLSClientConfig: c, DisableCompression: true, // it would cost the node more than it saves
				MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: askWithin, Proxy: nil}}
	}
	return &Reader{api: api, anyone: anyone, warn: warn, ctx: ctx, nodes: map[string]*node{},
		strict: client(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}),
		lax:    client(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})}
}

// Close closes what is still connected.
func (r *Reader) Close() {
	r.strict.CloseIdleConnections()
	r.lax.CloseIdleConnections()
}

// Watch calls take with each new sample of a pod's container, or with the error,
// until stop is called.
func (r *Reader) Watch(pod, name, host string, take func(cadvisor.Sample, error)) (stop func()) {
	address := net.JoinHostPort(host, strconv.Itoa(r.port(name)))
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.nodes[address]
	if n == nil {
		ctx, cancel := context.WithCancel(r.ctx)
		n = &node{of: r, address: address, node: name, takers: map[string]func(cadvisor.Sample, error){}, stop: cancel}
		r.nodes[address] = n
		go n.run(ctx)
	}
	n.takers[pod] = take
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(n.takers, pod)
		if len(n.takers) == 0 && r.nodes[address] == n {
			delete(r.nodes, address)
			n.stop()
		}
	}
}

// port is the port of a node's kubelet, or the default if the node may not be read.
func (r *Reader) port(node string) int {
	ctx, cancel := context.WithTimeout(r.ctx, askWithin)
	defer cancel()
	if n, err := kube.Nodes.Get(ctx, r.api, node); err == nil && n.Status.DaemonEndpoints.KubeletEndpoint.Port != 0 {
		return int(n.Status.DaemonEndpoints.KubeletEndpoint.Port)
	}
	return kubeletPort
}

// run sends one request after another until ctx ends.
func (n *node) run(ctx context.Context) {
	var rhythm rhythm
	for {
		began := time.Now()
		samples, err := n.samples(ctx)
		if ctx.Err() != nil {
			return
		}
		n.give(samples, err)
		for _, s := range samples {
			rhythm.add(s.Pod, s.At)
		}
		timer := time.NewTimer(time.Until(began.Add(rhythm.wait())))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// give passes each sample to its taker, and an error to all takers.
func (n *node) give(samples []cadvisor.Sample, err error) {
	n.of.mu.Lock()
	takers := make(map[string]func(cadvisor.Sample, error), len(n.takers))
	for pod, take := range n.takers {
		takers[pod] = take
	}
	n.of.mu.Unlock()
	before := n.failing
	n.failing = err != nil
	if err != nil {
		if !before {
			n.of.warn(err.Error())
		}
		for _, take := range takers {
			take(cadvisor.Sample{}, err)
		}
		return
	}
	for _, s := range samples {
		if take := takers[s.Pod]; take != nil {
			take(s, nil)
		}
	}
}

// samples sends one request.
func (n *node) samples(ctx context.Context) ([]cadvisor.Sample, error) {
	n.of.mu.Lock()
	wanted := make(map[string]bool, len(n.takers))
	for pod := range n.takers {
		wanted[pod] = true
	}
	n.of.mu.Unlock()
	body, err := n.ask(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	samples, err := cadvisor.Read(body, n.of.api.Namespace, objects.UnitContainer, func(pod string) bool { return wanted[pod] })
	if err != nil {
		return nil, fmt.Errorf("read the metrics of the kubelet of node %s: %w", n.node, err)
	}
	return samples, nil
}

// limited is an answer of bounded length and duration.
type limited struct {
	io.Reader
	io.Closer
	cancel context.CancelFunc
}

func (l limited) Close() error {
	defer l.cancel()
	return l.Closer.Close()
}

// ask requests the kubelet's container metrics. The error names what is missing,
// and what to do.
func (n *node) ask(ctx context.Context) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	answer, err := n.get(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("read the container metrics of the kubelet of node %s at %s: %w", n.node, n.address, err)
	}
	return limited{io.LimitReader(answer.Body, mostMetrics), answer.Body, cancel}, nil
}

func (n *node) get(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+n.address+metricsPath, nil)
	if err != nil {
		return nil, err
	}
	token := n.of.api.Token()
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := n.of.strict
	if n.lax {
		client = n.of.lax
	}
	answer, err := client.Do(request)
	var unknown *tls.CertificateVerificationError
	if errors.As(err, &unknown) {
		if !n.of.anyone { // the handshake failed, and a request is sent after it only
			return nil, fmt.Errorf("its certificate cannot be verified (%w), so the token was not sent; let the cluster's authority sign the kubelets' serving certificates (serverTLSBootstrap: true), or measure with node agents (--node-agent), or allow the token to be sent to any server at a node's address (kubernetes.kubelet_certificate: any)", unknown.Err)
		}
		n.lax = true
		n.of.warn("kubelet certificates cannot be verified: the token is sent to any server at a node's address, as kubernetes.kubelet_certificate: any allows")
		return n.get(ctx)
	}
	if err != nil {
		var shown *url.Error
		if errors.As(err, &shown) {
			err = shown.Err // the message already has the URL
		}
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("it answers %s: %w", answer.Status, n.of.noRight(token))
	}
	return nil, fmt.Errorf("it answers %s", answer.Status)
}

// noRight is the error for a missing permission.
func (r *Reader) noRight(token string) error {
	if token == "" {
		return errors.New("kubelets need a token, and this kubeconfig has none; a conductor in the cluster has that of its service account")
	}
	return ErrNoRight(r.api.Namespace)
}

// ErrNoRight names the permission that an administrator grants once.
func ErrNoRight(namespace string) error {
	return fmt.Errorf("the conductor has no permission to read container metrics from kubelets (get nodes/metrics; get, list nodes); an administrator grants it once with the ClusterRole millicore-metrics of docs/kubernetes.yaml, bound to the account %s of namespace %s (docs/kubernetes.md)", kube.ConductorAccount, namespace)
}

// rhythm estimates how often a kubelet has new samples.
type rhythm struct {
	last    map[string]time.Time // by pod
	spacing time.Duration        // between the last two of a container; 0: not known yet
}

func (r *rhythm) add(pod string, at time.Time) {
	if r.last == nil {
		r.last = map[string]time.Time{}
	}
	if before, known := r.last[pod]; known && at.After(before) {
		r.spacing = at.Sub(before)
	}
	r.last[pod] = at
}

// wait is the time between two requests: a fifth of the time between two samples.
func (r *rhythm) wait() time.Duration { return min(max(r.spacing/5, askEvery), askSeldom) }
