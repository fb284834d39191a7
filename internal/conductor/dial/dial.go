// Package dial is how agents and node agents reach the conductor of their run:
// over TLS with the run's one certificate, with the run's token, as a request
// that is upgraded to a stream of bytes. It is light: agents link it.
//
// What is said on a new stream, before it is its user's, is one byte at a time
// from the conductor:
//
//	p  tell the time: answered with the wall clock, 8 bytes, nanoseconds since
//	   1970, the highest byte first
//	g  go: from now on the stream is its user's, in both directions
//	o  over: the run has ended, and nobody is to dial any more
//
// The conductor asks for the time every few seconds while it has no use for the
// stream, so that each side learns of the other's end, and some times in a row
// before it says go.
package dial

import (
	"bufio"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// What a request for a stream has, beside its path.
const (
	Upgrade     = "millicore"       // the protocol in the headers Upgrade
	TokenHeader = "Millicore-Token" // the run's token
)

// Bounds on patience and on what is read before the conductor is known.
const (
	connectWithin = 10 * time.Second // a connection, its TLS, and the answer
	silence       = 60 * time.Second // the conductor speaks oftener than this
	mostHeader    = 16 << 10
	mostWords     = 1 << 10 // of a refusal
)

// alive finds out within half a minute that the other end's machine is gone.
var alive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}

// ErrOver says that the run has ended.
var ErrOver = errors.New("the run is over")

// RefusedError is a conductor that does not take who dials: dialling again does not help.
type RefusedError struct {
	Status string // as in "401 Unauthorized"
	Words  string // of the conductor
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the conductor refuses: %s: %s", e.Status, e.Words)
}

// Options say who is dialled, and as whom.
type Options struct {
	Conductor string // host:port
	Path      string // "/agent/3" or "/node/worker-1"
	CertFile  string // the conductor's certificate, PEM: exactly this one is taken, whatever names it has
	TokenFile string // the run's token
}

// Dial connects to the conductor and returns when that has a use for the stream,
// which may take as long as the run; meanwhile it tells the conductor the time.
// The error is ErrOver where the run has ended, and a *RefusedError where
// dialling again does not help. The context bounds the dialling, not the life of
// the stream.
func Dial(ctx context.Context, o Options) (net.Conn, error) {
	c, err := o.connect(ctx)
	if err == nil {
		err = o.wait(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// wait returns when the conductor has a use for a stream; after an error it is
// closed.
func (o Options) wait(ctx context.Context, c *conn) error {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	err := await(c, time.Now, func() error { return c.SetDeadline(time.Now().Add(silence)) })
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if !stop() { // closed, or about to be
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return o.about(err)
	}
	return nil
}

func (o Options) about(err error) error {
	if errors.Is(err, ErrOver) {
		return ErrOver
	}
	return fmt.Errorf("dial the conductor at %s%s: %w", o.Conductor, o.Path, err)
}

// connect makes the connection and sees the request for a stream granted.
func (o Options) connect(ctx context.Context) (*conn, error) {
	want, token, err := o.secrets()
	if err != nil {
		return nil, o.about(err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	dialer := tls.Dialer{Config: pinned(want), NetDialer: &net.Dialer{Control: control, KeepAliveConfig: alive}}
	raw, err := dialer.DialContext(ctx, "tcp", o.Conductor)
	if err != nil {
		return nil, o.about(err)
	}
	limit := &io.LimitedReader{R: raw, N: mostHeader}
	c := &conn{Conn: raw, in: bufio.NewReader(limit)}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	err = c.request(o, token)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, o.about(err)
	}
	limit.N = math.MaxInt64
	return c, nil
}

// secrets reads what the pod was given, anew for each dial.
func (o Options) secrets() (certificate []byte, token string, err error) {
	text, err := os.ReadFile(o.CertFile)
	if err != nil {
		return nil, "", err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, "", fmt.Errorf("%s holds no certificate in PEM", o.CertFile)
	}
	if text, err = os.ReadFile(o.TokenFile); err != nil {
		return nil, "", err
	}
	token = strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, "", fmt.Errorf("%s holds no token: want one line of letters", o.TokenFile)
	}
	return block.Bytes, token, nil
}

// pinned takes one certificate and no other. No authority has signed it, and a
// pod's address is no name that it could have.
func pinned(certificate []byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: true, // in its place:
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare(s.PeerCertificates[0].Raw, certificate) != 1 {
				return errors.New("its certificate is not this run's: another program listens there")
			}
			return nil
		},
	}
}

// conn is a stream. What was read ahead of the conductor's answer is its
// beginning.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func (c *conn) Read(b []byte) (int, error) { return c.in.Read(b) }

// request asks for the stream.
func (c *conn) request(o Options, token string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n\r\n",
		o.Path, o.Conductor, Upgrade, TokenHeader, token)
	if err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.in, &http.Request{Method: http.MethodGet})
	if err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	if answer.StatusCode == http.StatusSwitchingProtocols && strings.EqualFold(answer.Header.Get("Upgrade"), Upgrade) {
		return nil
	}
	words, _ := io.ReadAll(io.LimitReader(answer.Body, mostWords)) // the status says enough without them
	switch answer.StatusCode {
	case http.StatusGone:
		return ErrOver
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return &RefusedError{Status: answer.Status, Words: strings.TrimSpace(string(words))}
	}
	return fmt.Errorf("it answered %s: %s", answer.Status, strings.TrimSpace(string(words)))
}
