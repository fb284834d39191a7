package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/load/session"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestTemplateOfARequestThatStaysTheSame(t *testing.T) {
	r := Request{Method: "POST", Path: "/a?b={c}", Host: "h:1", Headers: map[string]string{"B": "2", "a": "{1}"}, Body: `{"x":{"y":{}}}`}
	want, err := r.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	template, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if got := template.Fixed(); string(got) != string(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := template.Append([]byte("x"), nil); string(got) != "x"+string(want) {
		t.Errorf("appended: %q", got)
	}
}

func TestTemplate(t *testing.T) {
	const anyUUID = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	for _, c := range []struct {
		text string
		want string // a regular expression of all of it
	}{
		{"plain", "plain"},
		{"{{seq}}", "41"},
		{"{{ seq }}-{{seq}}", "41-41"},
		{"a{{uuid}}b", "a" + anyUUID + "b"},
		{"{{rand 5 5}}", "5"},
		{"{{rand -3 -3}}{{rand 7 9}}", "-3[789]"},
		{"{{rand -9223372036854775808 9223372036854775807}}", "-?[0-9]+"},
		{`{{"{{"}}seq}}`, `\{\{seq\}\}`},
		{`{{ "a}}b" }}c`, `a\}\}bc`},
		{"{{`raw`}}", "raw"},
		{`{"a":{"b":{{seq}}}}`, `\{"a":\{"b":41\}\}`},
	} {
		template, err := Request{Method: "POST", Path: "/", Host: "h", Body: c.text}.Compile()
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		request := template.Append(nil, &Values{Seq: 41, Random: seeded(1)})
		head, body, _ := bytes.Cut(request, []byte("\r\n\r\n"))
		if !regexp.MustCompile("^" + c.want + "$").Match(body) {
			t.Errorf("%s became %q, want %s", c.text, body, c.want)
		}
		if want := "Content-Length: " + strconv.Itoa(len(body)); !strings.HasSuffix(string(head), want) {
			t.Errorf("%s has the head %q, want at its end %s", c.text, head, want)
		}
	}
}

func TestTemplateInEveryPlace(t *testing.T) {
	template, err := Request{
		Method: "PUT", Path: "/item/{{seq}}?q={{rand 3 3}}", Host: "h",
		Headers: map[string]string{"X-Id": "n{{seq}}", "Authorization": `{{"Bearer x"}}`}, Body: "fixed",
	}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	want := "PUT /item/7?q=3 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nX-Id: n7\r\nContent-Length: 5\r\n\r\nfixed"
	if got := string(template.Append(nil, &Values{Seq: 7, Random: seeded(1)})); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A value stands as it was found, is escaped for a form on request, and ends no path. A path that
// begins with one may be the URL of a redirect.
func TestTemplateWithValuesOfASession(t *testing.T) {
	for _, c := range []struct{ path, value, body, want string }{
		{"/a/{{v}}", "b c/d?e=ü", "{{v}}", "/a/b%20c/d?e=%C3%BC b c/d?e=ü"},
		{"/a?v={{urlquery v}}", "a+b/c==&d", "v={{ urlquery v }}", "/a?v=a%2Bb%2Fc%3D%3D%26d v=a%2Bb%2Fc%3D%3D%26d"},
		{"{{v}}", "/next?a=b#top", "", "/next?a=b "},
		{"{{v}}&c=d", "https://example.com:8443/next?a=b", "", "/next?a=b&c=d "},
		{"{{v}}", "http://example.com", "", "/ "},
		{"{{v}}", "http://example.com?a=http://b/", "", "/?a=http://b/ "},
		{"{{v}}/x", "next", "", "/next/x "},
		{"/to/{{v}}", "http://b/", "", "/to/http://b/ "},
	} {
		template, err := Request{Method: "POST", Path: c.path, Host: "h", Body: c.body, Names: []string{"v"}}.Compile()
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		v := Values{Seq: 1, Random: seeded(1), Session: &session.Session{Values: []string{c.value}}}
		head, body, _ := strings.Cut(string(template.Append(nil, &v)), "\r\n\r\n")
		if got := strings.Fields(head)[1] + " " + body; got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.path, c.value, got, c.want)
		}
	}
	if _, err := (Request{Host: "h", Path: "/{{urlquery w}}", Names: []string{"v"}}).Compile(); err == nil || !strings.Contains(err.Error(), "{{urlquery w}} is not a placeholder") {
		t.Error(err)
	}
}

// A request that announces the end of its connection is known as one, however it
// is written.
func TestTemplateThatEndsItsConnection(t *testing.T) {
	for name, c := range map[string]struct {
		headers map[string]string
		want    bool
	}{
		"no header":             {nil, false},
		"kept alive":            {map[string]string{"Connection": "keep-alive"}, false},
		"close":                 {map[string]string{"Connection": "close"}, true},
		"in capitals":           {map[string]string{"CONNECTION": "CLOSE"}, true},
		"in a list":             {map[string]string{"Connection": "x-a ,\tClose , x-b"}, true},
		"in the second":         {map[string]string{"Connection": "x-a", "connection": "close"}, true},
		"part of another token": {map[string]string{"Connection": "x-close, closed"}, false},
		"another header":        {map[string]string{"X-Connection": "close"}, false},
		"as a placeholder":      {map[string]string{"Connection": `{{"close"}}`}, true},
		"beside a placeholder":  {map[string]string{"Connection": "close", "X-Id": "{{seq}}"}, true},
	} {
		template, err := Request{Host: "h", Headers: c.headers}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if got := template.Closes(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTemplateMistakes(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Path: "/{{sec}}"}, "request: path: {{sec}} is not a placeholder; want {{seq}}, {{uuid}}"},
		{Request{Path: "/{{seq"}, "request: path: {{seq has no }}"},
		{Request{Path: "/{{rand 2 1}}"}, "the lower one first"},
		{Request{Path: "/{{rand 1}}"}, "{{rand 1}} is not a placeholder"},
		{Request{Path: "/{{rand 1 x}}"}, "want two whole numbers"},
		{Request{Path: "/{{rand 1 99999999999999999999}}"}, "want two whole numbers"},
		{Request{Path: `/{{" "}}`}, "has a space"},
		{Request{Path: "/{{}}"}, "{{}} is not a placeholder"},
		{Request{Body: "{{'a'}}"}, "request: body: {{'a'}} is not a placeholder"},
		{Request{Headers: map[string]string{"X": `{{"\n"}}`}}, "control character"},
		{Request{Headers: map[string]string{"X": `{{no}}`}}, "request: header X: {{no}} is not a placeholder"},
	} {
		c.r.Host = "h"
		if _, err := c.r.Compile(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want in it: %s", c.r, err, c.want)
		}
	}
}

func TestTemplateValuesFillTheirRange(t *testing.T) {
	template, err := Request{Path: "/{{rand -2 2}}", Host: "h"}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	v := &Values{Random: seeded(3)}
	const n = 5000
	for range n {
		path, _, _ := strings.Cut(string(template.Append(nil, v)), " HTTP")
		seen[strings.TrimPrefix(path, "GET /")]++
	}
	for _, want := range []string{"-2", "-1", "0", "1", "2"} {
		if seen[want] < n/5*8/10 || seen[want] > n/5*12/10 {
			t.Errorf("%s came %d times of %d", want, seen[want], n)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d different ones: %v", len(seen), seen)
	}
}

// Once its memory has grown, a template is rendered without an allocation.
func TestTemplateAllocatesNothing(t *testing.T) {
	template, err := Request{Method: "POST", Path: "/{{uuid}}", Host: "h", Body: "{{seq}}{{rand 1 1000}}"}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	v, b := &Values{Random: seeded(1)}, []byte(nil)
	b = template.Append(b[:0], v)
	if n := testing.AllocsPerRun(100, func() { v.Seq++; b = template.Append(b[:0], v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What compiles is always one request that net/http reads as the one meant.
func FuzzTemplate(f *testing.F) {
	f.Add("/{{seq}}?{{rand 1 2}}", "{{uuid}}", `{"a":{{seq}}}`, uint64(1))
	f.Add("/", `{{"{{"}}`, "{{{seq}}}", uint64(2))
	f.Fuzz(func(t *testing.T, path, header, body string, seed uint64) {
		template, err := Request{Method: "POST", Path: path, Host: "h", Headers: map[string]string{"X-A": header}, Body: body}.Compile()
		if err != nil {
			return
		}
		v := &Values{Seq: seed, Random: seeded(seed)}
		b := template.Append(nil, v)
		in := bufio.NewReader(bytes.NewReader(b))
		r, err := http.ReadRequest(in)
		if err != nil {
			if strings.Contains(err.Error(), "parse") || strings.Contains(err.Error(), "invalid URI") {
				return // net/url is stricter with what a path may hold
			}
			t.Fatalf("%q: %v", b, err)
		}
		got, err := io.ReadAll(r.Body)
		if err != nil || fmt.Sprint(r.ContentLength) != r.Header.Get("Content-Length") || int64(len(got)) != r.ContentLength {
			t.Fatalf("%q: a body of %d bytes (%v), said to be %d", b, len(got), err, r.ContentLength)
		}
		if in.Buffered() != 0 {
			t.Fatalf("%q: %d bytes are left", b, in.Buffered())
		}
	})
}

func BenchmarkTemplate(b *testing.B) {
	template, err := Request{Method: "POST", Path: "/{{uuid}}", Host: "h", Body: `{"id":{{seq}},"n":{{rand 1 1000}}}`}.Compile()
	if err != nil {
		b.Fatal(err)
	}
	v, to := &Values{Random: seeded(1)}, []byte(nil)
	for b.Loop() {
		v.Seq++
		to = template.Append(to[:0], v)
	}
}

// A request that may be sent again is idempotent (RFC 9110, 9.2.2).
func TestIdempotentRequests(t *testing.T) {
	for method, want := range map[string]bool{"": true, "GET": true, "HEAD": true, "OPTIONS": true, "PUT": true, "DELETE": true,
		"POST": false, "PATCH": false, "LOCK": false, "PURGE": false} {
		template, err := Request{Host: "x", Method: method}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if template.Idempotent() != want {
			t.Errorf("%s: %v, want %v", method, !want, want)
		}
	}
}
