package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

func (s service) isHealthy(t *testing.T) {
	s.get(t, "/healthz").wantJSON(t, http.StatusOK, `{"status":"ok"}`)
}

func (s service) refusesRoute(t *testing.T) {
	for _, r := range []request{
		{method: "GET", path: "/"},
		{method: "GET", path: "/nowhere"},
		{method: "GET", path: "/devices/"},
		{method: "GET", path: "/devices/1"},
		{method: "GET", path: "/Devices"},
		{method: "GET", path: "/isPrime"},
		{method: "GET", path: "/isPrime/"},
		{method: "GET", path: "/isPrime/7/8"},
		{method: "GET", path: "/loop/"},
		{method: "GET", path: "/loop/7"},
		{method: "GET", path: "/counter"},
		{method: "GET", path: "/counter/"},
		{method: "POST", path: "/counter?n=1"},
		{method: "POST", path: "/counter/?n=1"},
		{method: "POST", path: "/counter/" + sharedKey + "/" + sharedKey + "?n=1"},
		{method: "POST", path: "/nowhere", contentType: jsonType, body: validDevice},
		{method: "DELETE", path: "/nowhere"},
		{method: "GET", path: "/debug/pprof/"},
		{method: "GET", path: "/debug/pprof/heap"},
	} {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			s.do(t, r).wantRefusal(t, http.StatusNotFound)
		})
	}
}

func (s service) refusesMethod(t *testing.T) {
	for _, c := range []struct {
		request
		allow string
	}{
		{request{method: "PUT", path: "/devices", contentType: jsonType, body: validDevice}, "GET, HEAD, POST"},
		{request{method: "DELETE", path: "/devices"}, "GET, HEAD, POST"},
		{request{method: "OPTIONS", path: "/devices"}, "GET, HEAD, POST"},
		{request{method: "POST", path: "/isPrime/7"}, "GET, HEAD"},
		{request{method: "POST", path: "/isPrime/seven"}, "GET, HEAD"},
		{request{method: "POST", path: "/loop?n=1"}, "GET, HEAD"},
		{request{method: "POST", path: "/loop"}, "GET, HEAD"},
		{request{method: "PUT", path: "/counter/" + sharedKey + "?n=1"}, "GET, HEAD, POST"},
		{request{method: "DELETE", path: "/counter/a.b"}, "GET, HEAD, POST"},
		{request{method: "POST", path: "/healthz"}, "GET, HEAD"},
		{request{method: "POST", path: "/metrics"}, "GET, HEAD"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			s.do(t, c.request).wantOtherMethod(t, c.allow)
		})
	}
}

// wantOtherMethod checks that the answer is a refusal of the request's method,
// and names those that the route takes.
func (r reply) wantOtherMethod(t *testing.T, allow string) {
	t.Helper()
	r.wantRefusal(t, http.StatusMethodNotAllowed)
	if got := r.header.Get("Allow"); got != allow {
		t.Errorf("Allow %q, want %q", got, allow)
	}
}

func (s service) answersHead(t *testing.T) {
	for _, path := range []string{
		"/devices", "/isPrime/7", "/isPrime/seven", "/loop?n=7", "/loop", "/counter/" + absentKey, "/healthz", "/nowhere",
	} {
		t.Run(path, func(t *testing.T) {
			get, head := s.get(t, path), s.do(t, request{method: http.MethodHead, path: path})
			if head.status != get.status || head.length != get.length || head.body != "" {
				t.Errorf("HEAD: status %d, Content-Length %d, body %q; GET: status %d, Content-Length %d",
					head.status, head.length, head.body, get.status, get.length)
			}
		})
	}
}

// keepsConnections checks that an answer of each kind leaves its connection
// open, as only then does load arrive at the service and not at the handshake.
func (s service) keepsConnections(t *testing.T) {
	for _, r := range []request{
		{method: "GET", path: "/devices"},
		{method: "POST", path: "/devices", contentType: jsonType, body: validDevice},
		{method: "POST", path: "/devices", contentType: jsonType, body: "{"},
		{method: "POST", path: "/devices", contentType: "text/plain", body: validDevice},
		{method: "GET", path: "/isPrime/7"},
		{method: "GET", path: "/loop?n=7"},
		{method: "POST", path: "/counter/" + sharedKey + "?n=7"},
		{method: "GET", path: "/nowhere"},
		{method: "PUT", path: "/healthz"},
	} {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			// A client of its own has exactly the connections of this check.
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			opened := 0
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GotConn: func(c httptrace.GotConnInfo) {
					if !c.Reused {
						opened++
					}
				},
			})
			one := s
			one.client = &http.Client{Transport: transport, Timeout: s.client.Timeout}
			for range 3 {
				req, err := one.build(ctx, r)
				if err != nil {
					t.Fatal(err)
				}
				one.send(t, req)
			}
			if opened != 1 {
				t.Errorf("3 requests one after the other took %d connections", opened)
			}
		})
	}
}

// sendsTheSameBytes checks that the head of an answer has the bytes of the contract's
// fields and no more, so that no service sends more than another for the same request.
func (s service) sendsTheSameBytes(t *testing.T) {
	for _, c := range []struct {
		name, request string
		status        int
		allow         string
	}{
		{"a list", "GET /devices HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK, ""},
		{"a number", "GET /isPrime/7 HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK, ""},
		{"a device", "POST /devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
			fmt.Sprint(len(validDevice)) + "\r\n\r\n" + validDevice, http.StatusCreated, ""},
		{"an unknown route", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusNotFound, ""},
		{"another method", "PUT /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", http.StatusMethodNotAllowed, "GET, HEAD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, body := s.exchange(t, c.request)
			want := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nDate: %s\r\n",
				c.status, http.StatusText(c.status), body, time.Time{}.Format(http.TimeFormat))
			if c.allow != "" {
				want += "Allow: " + c.allow + "\r\n"
			}
			if want += "\r\n"; len(head) != len(want) {
				t.Errorf("a head of %d bytes, want %d:\n%s", len(head), len(want), head)
			}
		})
	}
}

// exchange sends a request as it is written, and returns the head of the answer as it
// came, and the length of its body.
func (s service) exchange(t *testing.T, request string) (head string, body int64) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(s.client.Timeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	from := bufio.NewReader(io.TeeReader(conn, &raw))
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return raw.String()[:strings.Index(raw.String(), "\r\n\r\n")+4], body
}
