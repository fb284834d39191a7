package wire

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRequestBytes(t *testing.T) {
	for name, c := range map[string]struct {
		request Request
		want    string
	}{
		"least":  {Request{Host: "a:1"}, "GET / HTTP/1.1\r\nHost: a:1\r\n\r\n"},
		"query":  {Request{Method: "HEAD", Path: "/x?y=%20z", Host: "a"}, "HEAD /x?y=%20z HTTP/1.1\r\nHost: a\r\n\r\n"},
		"body":   {Request{Method: "POST", Path: "/", Host: "a", Body: "hi"}, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"},
		"empty":  {Request{Method: "PUT", Path: "/", Host: "a"}, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		"others": {Request{Method: "OPTIONS", Path: "*", Host: "a"}, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"},
		"headers": {Request{Host: "a", Headers: map[string]string{"X-B": "2", "Accept": "*/*", "host": "b"}},
			"GET / HTTP/1.1\r\nHost: b\r\nAccept: */*\r\nX-B: 2\r\n\r\n"},
		"a right length": {Request{Host: "a", Body: "hi", Headers: map[string]string{"content-length": "2"}},
			"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.request.Bytes()
			if err != nil || string(got) != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestInvalidRequests(t *testing.T) {
	for name, r := range map[string]Request{
		"no host":                {},
		"a host of two lines":    {Host: "a\r\nX: y"},
		"a host with a space":    {Host: "a b"},
		"no method":              {Host: "a", Method: "G T"},
		"a tunnel":               {Host: "a", Method: "CONNECT"},
		"a path without a slash": {Host: "a", Path: "x"},
		"a path with a space":    {Host: "a", Path: "/x y"},
		"a path of two lines":    {Host: "a", Path: "/\r\nX: y"},
		"no name":                {Host: "a", Headers: map[string]string{"": "x"}},
		"a name of two lines":    {Host: "a", Headers: map[string]string{"X\r\nY": "x"}},
		"a value of two lines":   {Host: "a", Headers: map[string]string{"X": "y\r\nZ: a"}},
		"a wrong length":         {Host: "a", Body: "hi", Headers: map[string]string{"Content-Length": "3"}},
		"chunked":                {Host: "a", Headers: map[string]string{"Transfer-Encoding": "chunked"}},
	} {
		if got, err := r.Bytes(); err == nil {
			t.Errorf("%s: %q; want an error", name, got)
		}
	}
}

// Every accepted input is exactly one request, with the intended content.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/x?y", "host:80", "X-Name", "value", "body")
	f.Add("GET", "/", "a", "Host", "b", "")
	f.Add("GET", "/\r\n", "a\n", "Content-Length", "1", "x")
	f.Fuzz(func(t *testing.T, method, path, host, name, value, body string) {
		b, err := Request{Method: method, Path: path, Host: host, Headers: map[string]string{name: value}, Body: body}.Bytes()
		if err != nil {
			return
		}
		r := bufio.NewReader(strings.NewReader(string(b)))
		got, err := http.ReadRequest(r)
		if err != nil {
			if strings.Contains(err.Error(), "invalid URI") || strings.Contains(err.Error(), "parse") {
				return // sent unchanged
			}
			t.Fatalf("%q is no request: %v", b, err)
		}
		read, err := io.ReadAll(got.Body)
		if err != nil || string(read) != body {
			t.Fatalf("%q has the body %q, %v; want %q", b, read, err, body)
		}
		if method != "" && got.Method != method || path != "" && got.RequestURI != path {
			t.Fatalf("%q is %s %s; want %s %s", b, got.Method, got.RequestURI, method, path)
		}
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Fatalf("%q is followed by %q", b, rest)
		}
	})
}
