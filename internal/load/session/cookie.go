package session

import (
	"bytes"
	"net/http"
	"time"
)

// cookie is what a service has set. Its path, its domain and Secure are not obeyed: a session
// talks to one service.
type cookie struct {
	name, value string
	until       time.Duration
}

// forever is the end of a cookie that has none.
const forever = time.Duration(1<<63 - 1)

// AppendCookies appends the header with the session's cookies, if it has any.
func (s *Session) AppendCookies(b []byte) []byte {
	for i, c := range s.cookies {
		if i == 0 {
			b = append(b, "Cookie: "...)
		} else {
			b = append(b, "; "...)
		}
		b = append(append(append(b, c.name...), '='), c.value...)
	}
	if len(s.cookies) > 0 {
		b = append(b, "\r\n"...)
	}
	return b
}

// set takes a cookie from a header at the time now, or removes one that has expired. As in
// browsers, its value is what stands before the first semicolon, and a header with a control
// character sets none: a carriage return could end the line of the header that is sent.
func (s *Session) set(text []byte, now time.Duration) {
	if bytes.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return
	}
	pair, attributes, _ := bytes.Cut(text, []byte(";"))
	name, value, ok := bytes.Cut(pair, []byte("="))
	if name, value = bytes.TrimSpace(name), bytes.TrimSpace(value); !ok || len(name) == 0 {
		return
	}
	until := ends(attributes, now)
	for i := range s.cookies {
		c := &s.cookies[i]
		if c.name != string(name) {
			continue
		}
		if c.until = until; until <= now {
			s.expire(now)
		} else if c.value != string(value) {
			c.value = string(value)
		}
		return
	}
	if until > now {
		s.cookies = append(s.cookies, cookie{string(name), string(value), until})
	}
}

// ends is when a cookie with these attributes ends that was set at the time now.
func ends(attributes []byte, now time.Duration) time.Duration {
	lower := bytes.ToLower(attributes)
	if !bytes.Contains(lower, []byte("max-age")) && !bytes.Contains(lower, []byte("expires")) {
		return forever
	}
	c, err := http.ParseSetCookie("a=b;" + string(attributes))
	left := forever
	switch {
	case err != nil:
	case c.MaxAge < 0:
		left = 0
	case c.MaxAge > 0 && c.MaxAge < int(forever/time.Second):
		left = time.Duration(c.MaxAge) * time.Second
	case c.MaxAge == 0 && !c.Expires.IsZero():
		left = time.Until(c.Expires)
	}
	if left > forever-now {
		return forever
	}
	return now + left
}

// expire removes the cookies that have expired by now.
func (s *Session) expire(now time.Duration) {
	kept := s.cookies[:0]
	for _, c := range s.cookies {
		if c.until > now {
			kept = append(kept, c)
		}
	}
	s.cookies = kept
}
