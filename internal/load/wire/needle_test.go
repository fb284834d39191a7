package wire

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzNeedle splits a body anywhere, and compares with bytes.Contains.
func FuzzNeedle(f *testing.F) {
	f.Add("aab", "aaab", uint8(2))
	f.Add("abab", "ababab", uint8(1))
	f.Add("needle", "hay", uint8(3))
	f.Fuzz(func(t *testing.T, text, body string, size uint8) {
		n := NewNeedle(text)
		if n == nil {
			if text != "" {
				t.Fatalf("no needle of %q", text)
			}
			return
		}
		matched := 0
		for p := []byte(body); len(p) > 0; {
			step := min(len(p), int(size%7)+1)
			matched, p = n.Feed(matched, p[:step]), p[step:]
		}
		if want := strings.Contains(body, text); n.Found(matched) != want {
			t.Errorf("%q in %q: %v", text, body, !want)
		}
	})
}

// A text is found across pieces and across chunks, but not in heads or between chunks;
// the search restarts for the next answer.
func TestNeedleInAnAnswer(t *testing.T) {
	needle := NewNeedle("good day")
	for _, c := range []struct {
		name, answer string
		want         bool
	}{
		{"in a body", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\na good day!", true},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ngood \r\n3\r\nday\r\n0\r\n\r\n", true},
		{"after an interim answer", "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ngood day", true},
		{"to the end", "HTTP/1.0 200 OK\r\n\r\ngood good day", true},
		{"in a header", "HTTP/1.1 200 OK\r\nX: good day\r\nContent-Length: 2\r\n\r\nno", false},
		{"in a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: good day\r\n\r\n", false},
		{"no body", "HTTP/1.1 204 No\r\n\r\n", false},
	} {
		for size := 1; size < len(c.answer); size++ {
			var a Answer
			a.Begin(false, needle)
			for p := []byte(c.answer); len(p) > 0; p = p[min(size, len(p)):] {
				if _, _, err := a.Read(p[:min(size, len(p))]); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			if a.Found() != c.want {
				t.Errorf("%s in pieces of %d: found %v", c.name, size, a.Found())
			}
			if a.Begin(false, needle); a.Found() {
				t.Errorf("%s: found before the next answer", c.name)
			}
			if a.Begin(false, nil); !a.Found() {
				t.Errorf("%s: nothing is looked for, and was not found", c.name)
			}
		}
	}
}

func BenchmarkNeedle(b *testing.B) {
	body := bytes.Repeat([]byte("hello, world "), 5000)
	n := NewNeedle("what is not in it")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n.Feed(0, body)
	}
}
