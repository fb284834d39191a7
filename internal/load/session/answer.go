package session

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httputil"
	"time"
)

// take takes the cookies and the values from the answer that was kept, which ended at the time
// now. It returns the names of the values that the answer does not have.
func (s *Session) take(step *Step, names []string, now time.Duration) (missing []string) {
	head, body := split(s.answer)
	var coding, transfer []byte
	for line := range bytes.SplitSeq(head, newline) {
		name, value, _ := bytes.Cut(line, colon)
		switch value = bytes.TrimSpace(value); len(name) {
		case len(setCookie):
			if bytes.EqualFold(name, setCookie) {
				s.set(value, now)
			}
		case len(contentEncoding):
			if bytes.EqualFold(name, contentEncoding) {
				coding = value
			}
		case len(transferEncoding):
			if bytes.EqualFold(name, transferEncoding) {
				transfer = value
			}
		}
	}
	decoded := false
	for i := range step.captures {
		c := &step.captures[i]
		if c.header == nil && !decoded {
			body, decoded = decode(body, transfer, coding), true
		}
		value, ok := c.from(head, body)
		if !ok || len(value) > mostValue || !sendable(value) {
			missing = append(missing, names[c.index])
			continue
		}
		s.Values[c.index] = value
	}
	return missing
}

var (
	newline, colon   = []byte("\n"), []byte(":")
	setCookie        = []byte("Set-Cookie")
	contentEncoding  = []byte("Content-Encoding")
	transferEncoding = []byte("Transfer-Encoding")
)

// split splits an answer of HTTP/1.1, whose syntax was checked when it came, into the lines of
// its head and its body. Interim answers before it are left out.
func split(answer []byte) (head, body []byte) {
	for {
		head, body = answer, nil
		for at := 0; at < len(answer); {
			end := bytes.IndexByte(answer[at:], '\n')
			if end < 0 {
				break
			}
			if end == 0 || end == 1 && answer[at] == '\r' {
				head, body = answer[:at], answer[at+end+1:]
				break
			}
			at += end + 1
		}
		const interim = "HTTP/1.1 1"
		if len(head) < len(interim) || head[len(interim)-1] != '1' || len(body) == 0 {
			return head, body
		}
		answer = body
	}
}

// decode is a body without its codings, of which the end may be missing; nil if it cannot be
// decoded. It has at most mostKept bytes.
func decode(body, transfer, coding []byte) []byte {
	var from io.Reader = bytes.NewReader(body)
	if len(transfer) > 0 { // the only one is chunked
		from = httputil.NewChunkedReader(from)
	}
	switch {
	case len(coding) == 0 || bytes.EqualFold(coding, []byte("identity")):
		if len(transfer) == 0 {
			return body
		}
	case bytes.EqualFold(coding, []byte("gzip")) || bytes.EqualFold(coding, []byte("x-gzip")):
		unzipped, err := gzip.NewReader(from)
		if err != nil {
			return nil
		}
		from = unzipped
	default:
		return nil
	}
	decoded, _ := io.ReadAll(io.LimitReader(from, mostKept)) // up to where it was cut off
	return decoded
}

// sendable reports whether a value can stand in a header: a service must not be able to end it
// and add another request.
func sendable(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
