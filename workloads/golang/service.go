// Package golang is the sample service in Go: the one that millicore-go runs
// and that experiments load until it fails. Its routes, answers and limits are
// those of docs/workload-contract.md, which every sample service keeps, so that
// runtimes can be compared by the same requests.
//
// It is written as an ordinary service is: net/http, encoding/json and nothing
// else between the socket and the answer but one histogram observation. It is
// not tuned to win a benchmark: no answer is encoded ahead, no buffer is
// pooled, no request is refused for load. An overloaded one queues, grows and
// is killed, as the services that it stands for are.
package golang

import (
	"net/http"
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

// endpoint answers one method of one resource.
type endpoint struct {
	method string
	// status is that of the answer when serve returns nil. It is known
	// beforehand so that the request's histogram is too.
	status int
	// serve writes the answer, or returns a *refusal without having written.
	serve func(http.ResponseWriter, *http.Request) error
}

// New returns the service's handler. It is safe for concurrent use, and so must
// the store be.
func New(o Options) http.Handler {
	m := newMetrics()
	l := loops{o.Workers}
	c := newCounters(l)
	mux := http.NewServeMux()
	mount := func(path string, endpoints ...endpoint) {
		mux.Handle(path, resource(m, path, endpoints))
	}
	mount("/devices",
		endpoint{http.MethodGet, http.StatusOK, listDevices},
		endpoint{http.MethodPost, http.StatusCreated, addDevice(o.Store, m.inserts)})
	mount("/isPrime/{n}", endpoint{http.MethodGet, http.StatusOK, answerPrime})
	mount("/loop", endpoint{http.MethodGet, http.StatusOK, l.answer})
	mount("/counter/{key}",
		endpoint{http.MethodGet, http.StatusOK, c.show},
		endpoint{http.MethodPost, http.StatusOK, c.count})
	mount("/maxProcs", endpoint{http.MethodGet, http.StatusOK, getMaxProcs})
	mount("/maxProcs/{n}", endpoint{http.MethodPost, http.StatusOK, setMaxProcs})
	mount("/healthz", endpoint{http.MethodGet, http.StatusOK, answerHealth})
	mount("/metrics", endpoint{http.MethodGet, http.StatusOK, m.serve})
	mux.Handle("/", unknown(m))
	if o.Profile {
		mountProfiles(mux)
	}
	return mux
}

// resource answers the methods of one path, and times them. HEAD is answered
// and counted as GET; net/http leaves the body out.
func resource(m *metrics, path string, endpoints []endpoint) http.Handler {
	type observed struct {
		endpoint
		observe func(seconds float64)
	}
	methods := make(map[string]observed, len(endpoints)+1)
	allow := ""
	for _, e := range endpoints {
		o := observed{e, m.observer(e.method, path, e.status)}
		methods[e.method] = o
		if e.method == http.MethodGet {
			methods[http.MethodHead] = o
			allow += "GET, HEAD, "
		} else {
			allow += e.method + ", "
		}
	}
	allow = allow[:len(allow)-len(", ")]

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		e, ok := methods[r.Method]
		if !ok {
			w.Header().Set("Allow", allow)
			refuse(w, refusef(http.StatusMethodNotAllowed, "this route takes %s", allow))
			// The method is the client's word: as a label it would have no bound.
			m.observer(otherMethod, path, http.StatusMethodNotAllowed)(time.Since(begun).Seconds())
			return
		}
		if err := e.serve(w, r); err != nil {
			status := refuse(w, err)
			m.observer(e.method, path, status)(time.Since(begun).Seconds())
			return
		}
		e.observe(time.Since(begun).Seconds())
	})
}

// unknown answers every path that is no route.
func unknown(m *metrics) http.Handler {
	observe := m.observer(otherMethod, otherRoute, http.StatusNotFound)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begun := time.Now()
		refuse(w, refusef(http.StatusNotFound, "no such route"))
		observe(time.Since(begun).Seconds())
	})
}

func answerHealth(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}
