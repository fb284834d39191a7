package golang

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// NewFast returns the service as a server of fasthttp, with the settings that the
// contract needs: no timeouts, and headers of up to 16 KiB.
func NewFast(o Options) *fasthttp.Server {
	m := newMetrics()
	find := finder(resources(o, m))
	notFound := unknown(m)
	mux := http.NewServeMux()
	mountProfiles(mux)
	profiles := fasthttpadaptor.NewFastHTTPHandler(mux)
	return &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) {
			path := string(ctx.URI().PathOriginal()) // an encoded slash does not separate segments
			if r, parameter := find(path); r != nil {
				send(ctx, r.answer(string(ctx.Method()), &fastRequest{ctx, parameter}))
			} else if o.Profile && strings.HasPrefix(path, "/debug/pprof/") {
				profiles(ctx)
			} else {
				send(ctx, notFound())
			}
		},
		// A body over fasthttp's own limit of 4 MiB, or a request that is none.
		ErrorHandler: func(ctx *fasthttp.RequestCtx, err error) {
			status := http.StatusBadRequest
			if errors.Is(err, fasthttp.ErrBodyTooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			send(ctx, refuse(refusef(status, "the request cannot be read: %v", err)))
		},
		ReadBufferSize:               16 << 10,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true, // no other service names its server
	}
}

// finder returns what finds the resource of a path, nil for an unknown one, and the
// parameter in the path. Only the last segment can be a parameter, and none is empty.
func finder(resources []*resource) func(path string) (*resource, string) {
	byPrefix := make(map[string]*resource)
	for _, r := range resources {
		byPrefix[r.prefix] = r
	}
	return func(path string) (*resource, string) {
		if r := byPrefix[path]; r != nil && r.parameter == "" {
			return r, ""
		}
		at := strings.LastIndexByte(path, '/') + 1
		if r := byPrefix[path[:at]]; r != nil && at < len(path) {
			return r, path[at:]
		}
		return nil, ""
	}
}

// fastRequest is a call by fasthttp.
type fastRequest struct {
	ctx   *fasthttp.RequestCtx
	value string // of the path's parameter
}

func (c *fastRequest) parameter() string { return c.value }

func (c *fastRequest) query(name string) string { return string(c.ctx.QueryArgs().Peek(name)) }

func (c *fastRequest) contentType() string { return string(c.ctx.Request.Header.ContentType()) }

// body is read already.
func (c *fastRequest) body() io.Reader {
	body := c.ctx.Request.Body()
	if len(body) > maxBody {
		return tooLong{}
	}
	return bytes.NewReader(body)
}

// tooLong is a body over its limit.
type tooLong struct{}

func (tooLong) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: maxBody} }

// send sends an answer. fasthttp adds the Content-Length, and leaves out the body of HEAD.
func send(ctx *fasthttp.RequestCtx, a answer) {
	ctx.SetContentType(a.kind)
	if a.allow != "" {
		ctx.Response.Header.Set("Allow", a.allow)
	}
	ctx.SetStatusCode(a.status)
	ctx.SetBody(a.body)
}
