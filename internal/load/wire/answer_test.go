package wire

import (
	"errors"
	"strings"
	"testing"
)

// outcome is what reading an answer comes to.
type outcome struct {
	status   int
	whole    bool
	reusable bool
	left     int // bytes after the answer
	err      error
}

// readAll reads an answer in pieces of a size, and its end if it is not whole
// before.
func readAll(a *Answer, text string, head bool, size int) outcome {
	return readPieces(a, text, head, size, a.Read)
}

func readPieces(a *Answer, text string, head bool, size int, read func([]byte) (int, bool, error)) outcome {
	a.Begin(head, nil)
	for len(text) > 0 {
		piece := text[:min(size, len(text))]
		n, whole, err := read([]byte(piece))
		text = text[n:]
		if err != nil {
			return outcome{status: a.Status(), err: err}
		}
		if whole {
			return outcome{status: a.Status(), whole: true, reusable: a.Reusable(), left: len(text)}
		}
		if n < len(piece) {
			return outcome{err: errors.New("bytes were left and the answer is not whole")}
		}
	}
	err := a.End()
	return outcome{status: a.Status(), whole: err == nil, reusable: a.Reusable(), err: err}
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

var answers = map[string]struct {
	text string
	head bool
	want outcome
}{
	"with a length":                 {hello, false, outcome{200, true, true, 0, nil}},
	"of length zero":                {"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"with bytes after it":           {hello + "HTTP", false, outcome{200, true, true, 4, nil}},
	"with a length too great":       {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", false, outcome{200, false, false, 0, ErrCut}},
	"with one length twice":         {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", false, outcome{200, true, true, 0, nil}},
	"with two lengths":              {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", false, outcome{200, false, false, 0, errLength}},
	"with a negative length":        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false, outcome{200, false, false, 0, errLength}},
	"with a signed length":          {"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", false, outcome{200, false, false, 0, errLength}},
	"with an empty length":          {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", false, outcome{200, false, false, 0, errLength}},
	"with a length in words":        {"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", false, outcome{200, false, false, 0, errLength}},
	"with an absurd length":         {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", false, outcome{200, false, false, 0, errLength}},
	"chunked":                       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"chunked, with trailers":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"chunked, empty":                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n000\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"chunked, with a length too":    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"chunked, cut":                  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", false, outcome{200, false, false, 0, ErrCut}},
	"chunked, without the last":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", false, outcome{200, false, false, 0, ErrCut}},
	"chunked, bad size":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false, outcome{200, false, false, 0, errChunk}},
	"chunked, no size":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", false, outcome{200, false, false, 0, errChunk}},
	"chunked, absurd size":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", false, outcome{200, false, false, 0, errChunk}},
	"chunked, bare LF":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n", false, outcome{200, false, false, 0, errChunk}},
	"chunked, longer than said":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", false, outcome{200, false, false, 0, errChunk}},
	"in another coding":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", false, outcome{200, false, false, 0, errEncoding}},
	"in two codings":                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", false, outcome{200, false, false, 0, errEncoding}},
	"until the end":                 {"HTTP/1.1 200 OK\r\n\r\nhello", false, outcome{200, true, false, 0, nil}},
	"that closes":                   {"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", false, outcome{200, true, false, 0, nil}},
	"of HTTP/1.0":                   {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, outcome{200, true, false, 0, nil}},
	"of HTTP/1.0, kept alive":       {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", false, outcome{200, true, true, 0, nil}},
	"of HTTP/1.0, chunked by error": {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", false, outcome{200, true, false, 0, nil}},
	"to HEAD":                       {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", true, outcome{200, true, true, 0, nil}},
	"to HEAD, chunked":              {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, outcome{200, true, true, 0, nil}},
	"to HEAD, with a body":          {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", true, outcome{200, true, true, 1, nil}},
	"without content":               {"HTTP/1.1 204 No Content\r\n\r\n", false, outcome{204, true, true, 0, nil}},
	"not modified":                  {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, outcome{304, true, true, 0, nil}},
	"after interim ones":            {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nConnection: close\r\n\r\n" + hello, false, outcome{200, true, true, 0, nil}},
	"to an upgrade nobody asked":    {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", false, outcome{101, false, false, 0, errSwitch}},
	"of the server's own mind":      {"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", false, outcome{999, true, true, 0, nil}},
	"without a reason":              {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"with bare LFs":                 {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", false, outcome{200, true, true, 0, nil}},
	"with a folded header":          {"HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 0\r\n\r\n", false, outcome{200, true, true, 0, nil}},
	"with a folded length":          {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\n0123456789", false, outcome{200, false, false, 0, errField}},
	"with a fold after nothing":     {"HTTP/1.1 200 OK\r\n b\r\n\r\n", false, outcome{200, false, false, 0, errField}},
	"with a space in a name":        {"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", false, outcome{200, false, false, 0, errField}},
	"with a line without a colon":   {"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", false, outcome{200, false, false, 0, errField}},
	"with a NUL":                    {"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n", false, outcome{200, false, false, 0, errField}},
	"of HTTP/2":                     {"HTTP/2.0 200 OK\r\n\r\n", false, outcome{0, false, false, 0, errStatusLine}},
	"of another protocol":           {"SSH-2.0-OpenSSH\r\n", false, outcome{0, false, false, 0, errStatusLine}},
	"with a short status":           {"HTTP/1.1 20 OK\r\n\r\n", false, outcome{0, false, false, 0, errStatusLine}},
	"with a long status":            {"HTTP/1.1 2000 OK\r\n\r\n", false, outcome{0, false, false, 0, errStatusLine}},
	"with a status below 100":       {"HTTP/1.1 099 OK\r\n\r\n", false, outcome{0, false, false, 0, errStatusLine}},
	"cut in the status":             {"HTTP/1.1 2", false, outcome{0, false, false, 0, ErrCut}},
	"cut in the headers":            {"HTTP/1.1 200 OK\r\nContent-", false, outcome{200, false, false, 0, ErrCut}},
	"of nothing":                    {"", false, outcome{0, false, false, 0, ErrCut}},
	"with endless headers":          {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", MaxHead/6), false, outcome{200, false, false, 0, errHead}},
	"with an endless header":        {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", MaxHead), false, outcome{200, false, false, 0, errHead}},
	"with endless trailers":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", MaxHead/6+1), false, outcome{200, false, false, 0, errHead}},
	"with an endless extension":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", MaxHead), false, outcome{200, false, false, 0, errHead}},
}

func TestAnswers(t *testing.T) {
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			var a Answer
			for _, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
				if got := readAll(&a, c.text, c.head, size); got != c.want {
					t.Errorf("in pieces of %d: %+v; want %+v", size, got, c.want)
				}
			}
		})
	}
}

func TestBegun(t *testing.T) {
	var a Answer
	a.Begin(false, nil)
	if a.Begun() {
		t.Error("begun before the first byte")
	}
	a.Read([]byte("H"))
	if !a.Begun() {
		t.Error("not begun after the first byte")
	}
	a.Begin(false, nil)
	if a.Begun() {
		t.Error("the next answer has begun before its first byte")
	}
}

// One Answer reads several answers in sequence, regardless of its previous state.
func TestAnswersOneAfterAnother(t *testing.T) {
	var a Answer
	for name, c := range answers {
		if got := readAll(&a, c.text, c.head, 5); got != c.want {
			t.Fatalf("%s: %+v; want %+v", name, got, c.want)
		}
		if got := readAll(&a, hello, false, 5); got != answers["with a length"].want {
			t.Fatalf("after %s: %+v; want %+v", name, got, answers["with a length"].want)
		}
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	for name, text := range map[string]string{
		"with a length": hello,
		"chunked":       answers["chunked, with trailers"].text,
	} {
		var a Answer
		b := []byte(text)
		read := func() {
			a.Begin(false, nil)
			if _, whole, err := a.Read(b[:20]); whole || err != nil {
				t.Fatal("whole too early")
			}
			if _, whole, err := a.Read(b[20:]); !whole || err != nil {
				t.Fatal(whole, err)
			}
		}
		read() // the memory for a split line is kept from here on
		if n := testing.AllocsPerRun(1000, read); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// usual is an answer of nginx.
var usual = []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Tue, 15 Sep 2026 10:00:00 GMT\r\n" +
	"Content-Type: text/plain\r\nContent-Length: 200\r\nConnection: keep-alive\r\n\r\n" + strings.Repeat("x", 200))

func BenchmarkAnswer(b *testing.B) {
	var a Answer
	b.SetBytes(int64(len(usual)))
	for b.Loop() {
		a.Begin(false, nil)
		if _, whole, err := a.Read(usual); !whole || err != nil {
			b.Fatal(whole, err)
		}
	}
}
