package wire

import "testing"

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
		{"200", -1, "", NoCode, ""},
		{"503", -1, "", "503", ""},
		{"503", 14, "", "UNAVAILABLE", ""},
	} {
		text := "HTTP/1.1 " + c.status + " \r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + string(AppendCall(nil, c.code, c.text)) + "\r\n"
		for size := range len(text) {
			var a Answer
			if got := readAll(&a, text, false, size+1); got.err != nil || !got.whole || got.left != 0 {
				t.Fatalf("%v in pieces of %d: %+v", c, size+1, got)
			}
			if got := StatusName(a.Status()); got != c.name || a.Text() != c.says {
				t.Errorf("%v in pieces of %d: %s, %q", c, size+1, got, a.Text())
			}
			if a.Begin(false, nil); a.Text() != "" {
				t.Error("the next answer has the text of the one before")
			}
		}
	}
}
