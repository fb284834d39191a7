package captured

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shown is a request in one line: METHOD host path [Name: value; …] body ×entries.
func shown(r *Request) string {
	parts := []string{r.Method, r.Host, r.Path}
	if r.TLS {
		parts[1] = "https:" + r.Host
	}
	if r.Host == "" {
		parts = slices.Delete(parts, 1, 2)
	}
	if len(r.Headers) > 0 {
		var all []string
		for _, name := range sortedKeys(r.Headers) {
			all = append(all, name+": "+r.Headers[name])
		}
		parts = append(parts, "["+strings.Join(all, "; ")+"]")
	}
	if r.Body != "" {
		parts = append(parts, r.Body)
	}
	if r.File != "" {
		parts = append(parts, "@"+r.File)
	}
	if r.Entries > 1 || r.Weight != r.Entries {
		parts = append(parts, fmt.Sprintf("×%d", r.Weight))
	}
	return strings.Join(parts, " ")
}

// testFiles are the files that commands of the tests name.
func testFiles(name string) ([]byte, error) {
	if text, ok := map[string]string{"body.json": "{\"a\":\r\n 1}\n", "a.png": "PNG\n", "dir/a.txt": "one\ntwo\n"}[name]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("%s does not exist", name)
}

// wantRequests compares what an input has with lines.
func wantRequests(t *testing.T, f Format, text string, want ...string) *Input {
	t.Helper()
	in, err := Read(f, []byte(text), testFiles)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got []string
	for i := range in.Requests {
		got = append(got, shown(&in.Requests[i]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %s\nwant %s", text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return in
}

func TestEqualRequestsAreOne(t *testing.T) {
	in := wantRequests(t, Lines, `{"path": "/a", "headers": {"A": "1", "B": "2"}}
{"path": "/b", "weight": 3}
{"path": "/a", "headers": {"B": "2", "A": "1"}, "weight": 4}
{"path": "/a", "headers": {"A": "1"}}
{"path": "/b", "method": "get"}
`, "GET /a [A: 1; B: 2] ×5", "GET /b ×4", "GET /a [A: 1]")
	if in.Entries != 5 || in.Requests[0].Entries != 2 || in.Requests[1].Entries != 2 {
		t.Errorf("%+v", in)
	}
}

func TestTheHostThatIsSent(t *testing.T) {
	in := wantRequests(t, Targets, `GET http://a.example/1
GET https://B.example:443/2
GET http://b.example:80/3
GET /4
GET http://c.example:8080/5
GET http://a.example/1
GET http://a.example/1
`, "GET a.example /1 ×3", "GET https:b.example /2", "GET b.example /3", "GET /4", "GET c.example:8080 /5")
	for _, c := range []struct {
		target, host, dropped string
		entries, requests     int
	}{
		{"", "a.example", "[{b.example 2} {c.example:8080 1}]", 4, 2},
		{"127.0.0.1:9", "a.example", "[{b.example 2} {c.example:8080 1}]", 4, 2},
		{"B.example", "b.example", "[{a.example 3} {c.example:8080 1}]", 3, 3},
		{"b.example:80", "b.example", "[{a.example 3} {c.example:8080 1}]", 3, 3},
		{"c.example:8080", "c.example:8080", "[{a.example 3} {b.example 2}]", 2, 2},
	} {
		s := in.For(c.target)
		if s.Host != c.host || fmt.Sprint(s.Dropped) != c.dropped || s.Entries != c.entries || len(s.Requests) != c.requests {
			t.Errorf("%s: %+v", c.target, s)
		}
	}
	alone, err := Read(Lines, []byte(`{"path": "/"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := alone.For("x"); s.Host != "" || s.Entries != 1 || s.Dropped != nil {
		t.Errorf("%+v", s)
	}
}

func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"Shop.Example": "shop.example", "a:80": "a", "a:443": "a:443", "a:8080": "a:8080", "[::1]:80": "[::1]", "[::1]:81": "[::1]:81", "[::1]": "[::1]", "a:": "a",
	} {
		if got := Host(text, false); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := Host("a:443", true); got != "a" {
		t.Error(got)
	}
}

// Braces of a recording are no placeholders, and those of a file for Millicore are.
func TestBraces(t *testing.T) {
	in := wantRequests(t, Curl, `curl -g 'http://h/{{x}}?q={{{y' -H 'A: {{seq}}' -d '{{{{'`,
		`POST h /{{"{{"}}x}}?q={{"{{"}}{y [A: {{"{{"}}seq}}; Content-Type: application/x-www-form-urlencoded] {{"{{"}}{{"{{"}}`)
	if got := Plain(in.Requests[0].Path); got != "/{{x}}?q={{{y" {
		t.Error(got)
	}
	wantRequests(t, Lines, `{"path": "/{{rand 1 9}}", "body": "{{seq}}"}`, "GET /{{rand 1 9}} {{seq}}")
}

func TestHeadersThatAreLeftOut(t *testing.T) {
	wantRequests(t, Lines,
		`{"path": "/", "headers": {":authority": "x", "HOST": "x", "content-length": 5, "Connection": "close", "accept-encoding": "br", "Transfer-Encoding": "chunked", "TE": "trailers", "Upgrade": "h2c", "Expect": "100-continue", "Keep-Alive": "5", "Upgrade-Insecure-Requests": 1, "Cookie": "a=b", "Authorization": "Bearer x", "Range": "bytes=0-1"}}`,
		"GET / [Authorization: Bearer x; Cookie: a=b; Range: bytes=0-1; Upgrade-Insecure-Requests: 1]")
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]Format{
		"\xef\xbb\xbf" + `{"log": {"version": "1.2"}}`:        HAR,
		"{\n  \"log\": {}}":                                   HAR,
		`{"method": "GET", "url": "http://h/", "header": {}}`: Targets,
		`{"method": "GET", "url": "http://h/"}`:               Lines,
		`{"path": "/"}`:                                       Lines,
		"# targets\n\nGET http://h/\nA: b\n":                  Targets,
		"POST /x":                                             Targets,
		"curl http://h/":                                      Curl,
		"#!/bin/sh\n# a\ncurl http://h/":                      Curl,
		"# ours\nopenapi: 3.0.0":                              OpenAPI,
		`{"info":{},"swagger":"2.0"}`:                         OpenAPI,
		"\n$ curl http://h/":                                  Curl,
	} {
		if got, err := Detect([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                            "it is empty",
		"import http from 'k6/http';": "it is a script, and scripts are not run; docs/coming-from-k6.md has what a k6 script is here",
		`{"a": 1}`:                    `it is neither curl, HAR, vegeta targets, JSON lines nor OpenAPI: it begins with "{\"a\": 1}"`,
		"<html>":                      `it is neither curl, HAR, vegeta targets, JSON lines nor OpenAPI: it begins with "<html>"`,
	} {
		if _, err := Detect([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFormatsHaveNames(t *testing.T) {
	for f, want := range map[Format]string{Curl: "curl", HAR: "HAR", Targets: "vegeta targets", Lines: "JSON lines", Session: "a session", OpenAPI: "OpenAPI", AllOpenAPI: "OpenAPI"} {
		if f.String() != want {
			t.Error(f)
		}
	}
}

func TestTooMuch(t *testing.T) {
	var b strings.Builder
	for i := range MostRequests + 1 {
		fmt.Fprintf(&b, "{\"path\": \"/%d\"}\n", i)
	}
	if _, err := Read(Lines, []byte(b.String()), nil); err == nil || !strings.Contains(err.Error(), "10001 different requests, and the maximum is 10000") {
		t.Error(err)
	}
	body := `{"path": "/", "body": "` + strings.Repeat("a", MostBodies) + `"}` + "\n" + `{"path": "/", "body": "b"}`
	if _, err := Read(Lines, []byte(body), nil); err == nil || !strings.Contains(err.Error(), "32 MiB together, and the maximum is 32 MiB") {
		t.Error(err)
	}
}

// The steps of a session keep their order, and equal ones are two.
func TestSession(t *testing.T) {
	text := `{"method": "POST", "path": "/login", "body": "{{session}}", "capture": {"next": "header:Location"}, "think": "2s"}
{"path": "{{next}}"}
{"path": "{{next}}", "name": "again"}`
	if f, err := Detect([]byte(text)); err != nil || f != Session {
		t.Errorf("detected %v, %v", f, err)
	}
	in, err := Read(Session, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range in.Requests {
		got = append(got, fmt.Sprint(r.Method, r.Path, r.Body, r.Name, r.Think, r.Capture))
	}
	want := []string{"POST/login{{session}}2smap[next:header:Location]", "GET{{next}}map[]", "GET{{next}}againmap[]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
