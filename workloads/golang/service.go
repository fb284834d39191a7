// Package golang is the sample service in Go: the one that millicore-go runs
// and that experiments load until it fails. Its routes, answers and limits are
// those of workloads/README.md, which every sample service keeps, so that
// runtimes can be compared by the same requests.
//
// It is written as an ordinary service is: a server, encoding/json and nothing
// else between the socket and the answer but one histogram observation. It is
// not tuned to win a benchmark: no answer is encoded ahead, no buffer is
// pooled, no request is refused for load. An overloaded one queues, grows and
// is killed, as the services that it stands for are.
//
// The server is net/http (New) or fasthttp (NewFast), with the same resources.
package golang

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Options are what a service is made of.
type Options struct {
	// Store keeps the devices that POST /devices takes.
	Store Store
	// Workers is how many goroutines share the loop of /loop and /counter; 0 is
	// GOMAXPROCS at the time of the request.
	Workers int
	// Profile serves net/http/pprof under /debug/pprof/.
	Profile bool
}

// call is a request as endpoints need it, from whichever server.
type call interface {
	// parameter is the {parameter} of the resource's path.
	parameter() string
	// query is the first value of a name in the query, "" without one.
	query(name string) string
	contentType() string
	// body reads the body. Over maxBody bytes it fails with an *http.MaxBytesError.
	body() io.Reader
}

// endpoint answers one method of one resource.
type endpoint struct {
	method string
	// status is that of the answer when serve returns nil. It is known
	// beforehand so that the request's histogram is too.
	status int
	serve  func(call) (content, error)
}

// resource is a path and its methods.
type resource struct {
	path      string // at its end at most one {parameter}
	prefix    string // the path without its parameter
	parameter string // its name; "" without one
	methods   map[string]observed
	allow     string
	metrics   *metrics
}

// observed is an endpoint with its histogram.
type observed struct {
	endpoint
	observe func(seconds float64)
}

// resources are those of the contract. They are safe for concurrent use, and so must
// the store be.
func resources(o Options, m *metrics) []*resource {
	l := loops{o.Workers}
	c := newCounters(l)
	return []*resource{
		newResource(m, "/devices",
			endpoint{http.MethodGet, http.StatusOK, listDevices},
			endpoint{http.MethodPost, http.StatusCreated, addDevice(o.Store, m.inserts)}),
		newResource(m, "/isPrime/{n}", endpoint{http.MethodGet, http.StatusOK, answerPrime}),
		newResource(m, "/loop", endpoint{http.MethodGet, http.StatusOK, l.answer}),
		newResource(m, "/counter/{key}",
			endpoint{http.MethodGet, http.StatusOK, c.show},
			endpoint{http.MethodPost, http.StatusOK, c.count}),
		newResource(m, "/maxProcs", endpoint{http.MethodGet, http.StatusOK, getMaxProcs}),
		newResource(m, "/maxProcs/{n}", endpoint{http.MethodPost, http.StatusOK, setMaxProcs}),
		newResource(m, "/healthz", endpoint{http.MethodGet, http.StatusOK, answerHealth}),
		newResource(m, "/metrics", endpoint{http.MethodGet, http.StatusOK, m.expose}),
	}
}

// newResource makes a resource. HEAD is answered and counted as GET; the server leaves
// the body out.
func newResource(m *metrics, path string, endpoints ...endpoint) *resource {
	prefix, parameter, _ := strings.Cut(strings.TrimSuffix(path, "}"), "{")
	r := &resource{path: path, prefix: prefix, parameter: parameter, methods: make(map[string]observed), metrics: m}
	var allow []string
	for _, e := range endpoints {
		o := observed{e, m.observer(e.method, path, e.status)}
		r.methods[e.method] = o
		allow = append(allow, e.method)
		if e.method == http.MethodGet {
			r.methods[http.MethodHead] = o
			allow = append(allow, http.MethodHead)
		}
	}
	r.allow = strings.Join(allow, ", ")
	return r
}

// answer answers a request for the resource, and times it.
func (r *resource) answer(method string, c call) answer {
	begun := time.Now()
	e, ok := r.methods[method]
	if !ok {
		a := refuse(refusef(http.StatusMethodNotAllowed, "this route takes %s", r.allow))
		a.allow = r.allow
		// The method is the client's word: as a label it would have no bound.
		r.metrics.observer(otherMethod, r.path, a.status)(time.Since(begun).Seconds())
		return a
	}
	content, err := e.serve(c)
	if err != nil {
		a := refuse(err)
		r.metrics.observer(e.method, r.path, a.status)(time.Since(begun).Seconds())
		return a
	}
	e.observe(time.Since(begun).Seconds())
	return answer{status: e.status, content: content}
}

// unknown returns what answers every path that is no route.
func unknown(m *metrics) func() answer {
	observe := m.observer(otherMethod, otherRoute, http.StatusNotFound)
	return func() answer {
		begun := time.Now()
		a := refuse(refusef(http.StatusNotFound, "no such route"))
		observe(time.Since(begun).Seconds())
		return a
	}
}

func answerHealth(call) (content, error) {
	return encode(struct {
		Status string `json:"status"`
	}{"ok"})
}
