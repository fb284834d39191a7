package serviceclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// NotHTTP is the error of a service that accepts connections and does not speak HTTP.
type NotHTTP struct {
	TLS bool // it speaks TLS
	Why string
	err error
}

func (n *NotHTTP) Error() string { return n.Why }
func (n *NotHTTP) Unwrap() error { return n.err }

// malformed finds what a service sent instead of an answer, in the errors of net/http, which
// have no types.
var malformed = regexp.MustCompile(`malformed (?:HTTP|MIME header)[\w :]* ("(?:[^"\\]|\\.)*")$`)

// shownBytes is how much of what a service sent is shown.
const shownBytes = 40

// Explain is an error of a request without TLS, as a NotHTTP if the service does not speak
// HTTP. An alert of TLS (RFC 8446, 5.1) begins with 0x15.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if m := malformed.FindStringSubmatch(err.Error()); m != nil {
		begin, unquoteErr := strconv.Unquote(m[1])
		switch {
		case unquoteErr == nil && strings.HasPrefix(begin, "\x15\x03"):
			return &NotHTTP{TLS: true, Why: "it speaks TLS (HTTPS), not HTTP", err: err}
		case unquoteErr == nil:
			return &NotHTTP{Why: fmt.Sprintf("it does not speak HTTP: its answer has %.*q", shownBytes, begin), err: err}
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return &NotHTTP{Why: "it closed the connection without an answer", err: err}
	}
	return err
}

// SpeaksTLS reports whether a service at host:port makes a TLS handshake.
func SpeaksTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	d := tls.Dialer{NetDialer: new(net.Dialer), Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
