package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// judge lets net/http read the answer to a request, interim answers included.
func judge(text []byte, head bool) outcome {
	r := bufio.NewReaderSize(bytes.NewReader(text), 8192)
	request := &http.Request{Method: "GET"}
	if head {
		request.Method = "HEAD"
	}
	for {
		response, err := http.ReadResponse(r, request)
		if err != nil {
			return outcome{err: err}
		}
		if response.StatusCode < 200 {
			continue
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return outcome{status: response.StatusCode, err: err}
		}
		rest, _ := io.ReadAll(r)
		return outcome{status: response.StatusCode, whole: true, reusable: !response.Close, left: len(rest)}
	}
}

// anAnswer draws an answer, mostly a proper one.
func anAnswer(t *rapid.T) []byte {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	var b strings.Builder
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "interim") {
		b.WriteString("HTTP/1.1 " + pick("interim", "100 Continue", "103 Early Hints", "102 P") + "\r\n" + pick("field", "", "Link: x\r\n") + "\r\n")
	}
	b.WriteString(pick("version", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTX/1.1") + " ")
	b.WriteString(pick("status", "200", "200", "200", "204", "304", "404", "500", "20", "2000") + pick("reason", " OK", " OK", " ", "", " Not So Good"))
	end := pick("line end", "\r\n", "\r\n", "\r\n", "\n")
	b.WriteString(end)
	body := rapid.StringN(0, 40, 60).Draw(t, "body")
	fields := []string{
		"Server: x", "X-Empty:", "X-Tab:\ta\tb", "X-High: \xff\x80", "Connection: close", "Connection: keep-alive", "connection: Upgrade, close",
		fmt.Sprintf("Content-Length: %d", len(body)), fmt.Sprintf("content-length:  %d  ", len(body)), fmt.Sprintf("Content-Length: %d", len(body)+1),
		"Content-Length: 00", "Content-Length: x", "Transfer-Encoding: chunked", "Transfer-Encoding: CHUNKED", "Transfer-Encoding: gzip",
		"Bad Name: x", "nocolon", ": x", "X: a" + end + " folded", "X-Control: \x01",
	}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		b.WriteString(pick("field", fields...) + end)
	}
	b.WriteString(end)
	if rapid.Bool().Draw(t, "in chunks") {
		for len(body) > 0 {
			n := rapid.IntRange(1, len(body)).Draw(t, "chunk")
			fmt.Fprintf(&b, "%x%s\r\n%s%s", n, pick("extension", "", "", ";a", ";a=\"b\"", " "), body[:n], pick("chunk end", "\r\n", "\r\n", "\r\n", "\n", "x"))
			body = body[n:]
		}
		b.WriteString(pick("last", "0\r\n\r\n", "0\r\n\r\n", "0\r\nX-Sum: 1\r\n\r\n", "0;x\r\n\r\n", "0\r\n", "g\r\n"))
	} else {
		b.WriteString(body)
	}
	text := []byte(b.String())
	if rapid.Bool().Draw(t, "cut") {
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "length")]
	}
	return text
}

// Whatever comes, in pieces of whatever size, the reader says what net/http
// says: whole or not, with which status, how many bytes belong to it, and
// whether the connection may be used again.
func TestAnswersAreReadAsInNetHTTP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compare(t, anAnswer(t), rapid.Bool().Draw(t, "head"), rapid.IntRange(1, 50).Draw(t, "pieces"))
	})
}

func FuzzAnswer(f *testing.F) {
	for _, c := range answers {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text), c.head, byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool, size byte) {
		if len(text) < 4096 { // the longest chunk line of net/http
			compare(t, text, head, int(size)+1)
		}
	})
}

type failer interface {
	Fatalf(string, ...any)
	Helper()
}

func compare(t failer, text []byte, head bool, size int) {
	t.Helper()
	var a Answer
	got := readAll(&a, string(text), head, size)
	if again := readAll(&a, string(text), head, len(text)+1); again != got {
		t.Fatalf("%q: %+v in pieces of %d, %+v in whole", text, got, size, again)
	}
	var h LastHead
	for range 2 {
		if again := readRemembering(&h, &a, string(text), head, size+20); again != got {
			t.Fatalf("%q: %+v in pieces of %d, %+v by one who remembers heads", text, got, size, again)
		}
	}
	want := judge(text, head)
	switch {
	case got.whole && want.whole:
		got.err, want.err = nil, nil
		if got != want {
			t.Fatalf("%q: %+v; net/http says %+v", text, got, want)
		}
	case got.whole != want.whole && !excused(text):
		t.Fatalf("%q: %+v; net/http says %+v", text, got, want)
	}
}

// differences are where this reader means to be stricter or laxer than net/http.
// A text that one of them matches may be read differently.
var differences = map[string]*regexp.Regexp{
	"another protocol's version is not HTTP/1":     regexp.MustCompile(`(?m)^HTTP/[^1]`),
	"a switch of protocols was not asked for":      regexp.MustCompile(`(?m)^HTTP/1\.. 101`),
	"a status has three digits and is 100 or more": regexp.MustCompile(`(?m)^HTTP/1\.. ([^1-9]|.[^0-9]|..[^0-9])`),
	"lengths are compared as numbers":              regexp.MustCompile(`(?im)^content-length:[ \t]*0[0-9]`),
	"lengths have 18 digits":                       regexp.MustCompile(`(?im)^content-length:[ \t]*[0-9]{18}`),
	"a space in a name is refused (RFC 9112, 5.1)": regexp.MustCompile(`(?m)^[^:\r\n]*[ \t][^:\r\n]*:`),
	"what says how to read on is not folded":       regexp.MustCompile(`(?im)^(connection|content-length|transfer-encoding):[^\n]*\n[ \t]`),
	"a line of trailers ends with CRLF":            regexp.MustCompile(`(?s)\n0[^\n]*\r\n(.*[^\r])?\n`),
	"a Trailer header says nothing":                regexp.MustCompile(`(?im)^trailer:`),
}

func excused(text []byte) bool {
	for _, is := range differences {
		if is.Match(text) {
			return true
		}
	}
	return false
}
