package golang

import (
	"io"
	"net/http"
)

// New returns the service as a handler of net/http. It is safe for concurrent use, and
// so must the store be.
func New(o Options) http.Handler {
	m := newMetrics()
	mux := http.NewServeMux()
	for _, r := range resources(o, m) {
		mux.HandleFunc(r.path, func(w http.ResponseWriter, req *http.Request) {
			write(w, r.answer(req.Method, &request{w, req, r.parameter}))
		})
	}
	notFound := unknown(m)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { write(w, notFound()) })
	if o.Profile {
		mountProfiles(mux)
	}
	return mux
}

// request is a call by net/http.
type request struct {
	w    http.ResponseWriter
	r    *http.Request
	name string // of the path's parameter
}

func (c *request) parameter() string        { return c.r.PathValue(c.name) }
func (c *request) query(name string) string { return c.r.URL.Query().Get(name) }
func (c *request) contentType() string      { return c.r.Header.Get("Content-Type") }
func (c *request) body() io.Reader          { return http.MaxBytesReader(c.w, c.r.Body, maxBody) }

// write sends an answer. net/http adds the Content-Length, and leaves out the body of HEAD.
func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", a.kind)
	if a.allow != "" {
		w.Header().Set("Allow", a.allow)
	}
	w.WriteHeader(a.status)
	// A failed write means that the client is gone: nobody would see an error.
	_, _ = w.Write(a.body)
}
