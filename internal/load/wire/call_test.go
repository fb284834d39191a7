package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/signals"
)

// The status of a call replaces that of HTTP, except where a proxy answered.
func TestStatusOfACall(t *testing.T) {
	for _, c := range []struct {
		status string
		code   int
		text   string
		name   string
		says   string
	}{
		{"200", 0, "", "200", ""},
		{"200", 14, "no healthy%20upstream", "UNAVAILABLE", "no healthy upstream"},
		{"200", 16, "%C3%A4%FF\x00!", "UNAUTHENTICATED", "ä!"},
		{"200", 5, "100% wrong", "NOT_FOUND", "100% wrong"},
		{"200", -1, "", "no grpc-status", ""},
		{"503", -1, "", "503", ""},
		{"503", 14, "", "UNAVAILABLE", ""},
	} {
		text := "HTTP/1.1 " + c.status + " \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + string(AppendCall(nil, c.code, c.text, c.code == 14)) + "\r\n"
		for size := range len(text) {
			var a Answer
			if got := readAll(&a, text, false, size+1); got.err != nil || !got.whole || got.left != 0 {
				t.Fatalf("%v in pieces of %d: %+v", c, size+1, got)
			}
			if got := signals.StatusName(a.Status()); got != c.name || a.Text() != c.says {
				t.Errorf("%v in pieces of %d: %s, %q", c, size+1, got, a.Text())
			}
			if a.Pushback() != (c.code == 14) {
				t.Errorf("%v in pieces of %d: pushback %t", c, size+1, a.Pushback())
			}
			if a.Begin(false, nil); a.Text() != "" {
				t.Error("the next answer has the text of the one before")
			}
		}
	}
}

// Each value that a random number can have is tried before the load; of many, some of each size.
func TestNumbersThatMakeNoMessage(t *testing.T) {
	for _, c := range []struct {
		body, not string // what makes no message
	}{
		{"C{{rand 1 3}}", "C2"},
		{"C{{rand 1 1000}}", "C37"},
		{"{{rand 1 2}} {{rand 5 9}}", "1 8"},
		{"{{rand -9223372036854775808 9223372036854775807}}", ""},
		{"C{{seq}}", "C1"},
	} {
		var tried []string
		r := Request{Method: "POST", Host: "h", Body: c.body, Encode: func(b, body []byte) ([]byte, error) {
			tried = append(tried, string(body))
			if string(body) == c.not {
				return nil, fmt.Errorf("%s is none", body)
			}
			return b, nil
		}}
		if _, err := r.Compile(); (err == nil) != (c.not == "") || err != nil && !strings.HasSuffix(err.Error(), c.not+" is none") {
			t.Errorf("%s: %v after %d", c.body, err, len(tried))
		}
	}
}
