package session

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"
	"time"
)

func planned(t *testing.T, steps ...Step) *Plan {
	t.Helper()
	p, err := NewPlan(steps)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answer is an answer of HTTP/1.1 with these headers and a body with its length.
func answer(body string, headers ...string) []byte {
	return []byte("HTTP/1.1 200 OK\r\n" + strings.Join(append(headers, "Connection: close"), "\r\n") + "\r\n\r\n" + body)
}

func TestCaptures(t *testing.T) {
	chunked := []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n3\r\n 7}\r\n0\r\n\r\n")
	for _, c := range []struct {
		capture string
		answer  []byte
		want    string // "": it is missing
	}{
		{"json:$.token", answer(`{"token": "t-1"}`), "t-1"},
		{"json:$.a", chunked, "7"},
		{"json:$.items[1]['id']", answer(`{"items": [{"id": 1}, {"id": 9007199254740993}]}`), "9007199254740993"},
		{"json:$..id", answer(`{"x": {"id": true}}`), "true"},
		{"json:$.x", answer(`{"x": {"id": [1, "b"]}}`), `{"id":[1,"b"]}`},
		{"json:$.x", answer(`{"x": null}`), ""},
		{"json:$.y", answer(`{"x": 1}`), ""},
		{"json:$.x", answer(`no JSON`), ""},
		{"json:$.x", answer("{\"x\": \"a\\r\\nHost: b\"}"), ""}, // it would be another header
		{"json:$.x", answer(`{"x": "` + strings.Repeat("a", mostValue+1) + `"}`), ""},
		{"header:location", answer("", "Location: /orders/17"), "/orders/17"},
		{"header:Location", answer(""), ""},
		{`regex:name="csrf" value="([^"]*)"`, answer(`<input name="csrf" value="a=b">`), "a=b"},
		{`regex:[0-9]+`, answer(`id 42, 43`), "42"},
		{`regex:x(y)?z`, answer(`xz`), ""}, // an empty value is one, see below
		{`regex:nothing`, answer(`x`), ""},
		{"json:$.token", answer(zipped(`{"token": "t-2"}`), "Content-Encoding: gzip"), "t-2"},
		{"json:$.token", answer("f\r\n"+zipped(`{"token": "t-3"}`)[:15]+"\r\n1000\r\n"+zipped(`{"token": "t-3"}`)[15:], "Content-Encoding: GZIP", "transfer-encoding: chunked"), "t-3"},
		{"json:$.token", answer(zipped(`{"token": "t-4"}`)[:9], "Content-Encoding: gzip"), ""},
		{"json:$.token", answer(`{"token": "t-5"}`, "Content-Encoding: br"), ""}, // no decoder
		{"regex:b(.)", answer("ab", "X: b1"), ""}, // of the body only
		{"header:x-token", answer("", "X-Token:  a ", "Y: c", "x-token: b"), "a, b"},
		{"header:Status", answer("Status: 1", "Content-Type: text/plain"), ""},
	} {
		p := NewPool(planned(t, Step{Capture: map[string]string{"v": c.capture}}, Step{}), false, 1, 0, 1)
		s := p.Take(0)
		s.Keep(c.answer[:7])
		s.Keep(c.answer[7:])
		missing := p.Capture(s, 0)
		if s.Values[2] != c.want {
			t.Errorf("%s of %q is %q; want %q", c.capture, c.answer, s.Values[2], c.want)
		}
		if empty := strings.Contains(c.capture, "x(y)"); slices.Equal(missing, []string{"v"}) != (c.want == "" && !empty) {
			t.Errorf("%s of %q: missing %q", c.capture, c.answer, missing)
		}
	}
}

// zipped is a text in the form of gzip.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a Buffer takes all
	_ = w.Close()
	return b.String()
}

func TestBadCaptures(t *testing.T) {
	for _, c := range []struct{ capture, want string }{
		{"$.token", "capture: v: \"$.token\": want json:$.path, header:NAME or regex:TEXT"},
		{"json:", "want json:$.path"},
		{"json:token", "jsonpath"},
		{"regex:(", "missing closing )"},
		{"xpath://a", "want json:$.path"},
		{"", "want json:$.path"},
	} {
		if _, err := NewPlan([]Step{{Capture: map[string]string{"v": c.capture}}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.capture, err, c.want)
		}
	}
}

// Names of earlier steps keep their indices.
func TestNames(t *testing.T) {
	first := Names(nil, map[string]string{"b": "", "a": ""})
	all := Names(first, map[string]string{"c": "", "a": ""})
	if want := []string{"session", "session_id", "a", "b", "c"}; !slices.Equal(all, want) || !slices.Equal(first, want[:4]) {
		t.Errorf("%q, then %q; want %q", first, all, want)
	}
}

func TestCookies(t *testing.T) {
	p := NewPool(planned(t, make([]Step, 9)...), true, 1, 0, 1)
	s := p.Take(0)
	if got := string(s.AppendCookies(nil)); got != "" {
		t.Errorf("a new session sends %q", got)
	}
	for i, c := range []struct {
		headers []string
		want    string
	}{
		{[]string{"Set-Cookie: sid=1; Path=/; HttpOnly", "Set-Cookie: b=2"}, "sid=1; b=2"},
		{[]string{"Set-Cookie: sid=3", "Set-Cookie: b=; Max-Age=0"}, "sid=3"},
		{[]string{"Set-Cookie: sid=gone; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, ""},
		{[]string{`set-cookie: a={"x":"y,z"}; Secure; Domain=example.com`, `Set-Cookie: q="1 2"`, "Set-Cookie: none", "Set-Cookie: =x"}, `a={"x":"y,z"}; q="1 2"`},
		{[]string{"Set-Cookie: a=; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "Set-Cookie: q=3; Expires=Fri, 31 Dec 9999 23:59:59 GMT"}, "q=3"},
		{[]string{"Set-Cookie: a=4; Max-Age=3; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Set-Cookie: c=5; Max-Age=99999999999"}, "q=3; a=4; c=5"},
		{nil, "q=3; a=4; c=5"}, // two seconds later
		{nil, "q=3; c=5"},      // the three seconds are over
	} {
		now := time.Duration(i) * time.Second
		s.Keep(answer("", c.headers...))
		p.Capture(s, now)
		p.End(s, true, now)
		s = p.Take(now + time.Second)
		want := ""
		if c.want != "" {
			want = "Cookie: " + c.want + "\r\n"
		}
		if got := string(s.AppendCookies(nil)); got != want {
			t.Errorf("after %q: %q; want %q", c.headers, got, want)
		}
	}
	p.End(s, true, 0)
	if again := p.Take(0); len(again.AppendCookies(nil)) > 0 {
		t.Error("a new session has the cookies of an earlier one")
	}
}

// A session waits for its think time. A new one begins if none is ready. One without a good
// answer is over.
func TestPool(t *testing.T) {
	p := NewPool(planned(t, Step{Think: time.Second, Capture: map[string]string{"v": "header:V"}}, Step{}), true, 1, 1, 4)
	a := p.Take(0)
	if a.Values[0] != "2" || a.Step() != 0 {
		t.Errorf("the first session of the second of four loops is number %s, at step %d", a.Values[0], a.Step())
	}
	a.Values[2] = "v"
	if how, pause := p.End(a, true, time.Second); how != GoesOn || pause != time.Second {
		t.Errorf("after the first step: %v, a pause of %v", how, pause)
	}
	b := p.Take(1999 * time.Millisecond)
	if b == a || b.Values[0] != "6" {
		t.Errorf("a session was taken before its pause ended; or the next is %s, not 6", b.Values[0])
	}
	if how, _ := p.End(b, false, 0); how != Broken {
		t.Errorf("a bad answer: %v", how)
	}
	if c := p.Take(2 * time.Second); c != a || c.Step() != 1 || c.Values[2] != "v" {
		t.Errorf("after its pause session %s is at step %d with %q", c.Values[0], c.Step(), c.Values[2])
	}
	p.Return(a, 3*time.Second)
	if c := p.Take(3 * time.Second); c != a || c.Step() != 1 {
		t.Error("a session whose request was not sent does not go on")
	}
	if how, _ := p.End(a, true, 4*time.Second); how != Whole {
		t.Errorf("after the last step: %v", how)
	}
	for range 2 {
		if c := p.Take(5 * time.Second); c.Step() != 0 || c.Values[2] != "" {
			t.Errorf("a new session is at step %d with %q", c.Step(), c.Values[2])
		}
	}
}

// A cookie with a control character is not sent: it could end the line of its header.
func TestCookiesWithControlCharacters(t *testing.T) {
	s := &Session{}
	for _, text := range []string{"a=b\rc", "a=b\x00c", "a=b\nX: y", "a\x7f=b", "a=b; Path=/\r", "tab=c\td", "good=1"} {
		s.set([]byte(text), 0)
	}
	if got := string(s.AppendCookies(nil)); got != "Cookie: tab=c\td; good=1\r\n" {
		t.Errorf("%q", got)
	}
}

// What a service sends breaks nothing.
func FuzzCapture(f *testing.F) {
	f.Add(answer(`{"token": "t-1"}`, "Set-Cookie: a=b"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"))
	f.Add([]byte("Set-Cookie:0=0\r0"))
	p, err := NewPlan([]Step{{Capture: map[string]string{"a": "json:$..a", "b": "header:A", "c": "regex:a(.*)"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		pool := NewPool(p, false, 1, 0, 1)
		s := pool.Take(0)
		s.Keep(answer)
		pool.Capture(s, 0)
		for _, v := range append(s.Values, string(s.AppendCookies(nil))) {
			if strings.ContainsAny(strings.TrimSuffix(v, "\r\n"), "\r\n\x00") {
				t.Errorf("%q ends a line of a header", v)
			}
		}
	})
}
