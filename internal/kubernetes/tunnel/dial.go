// Package tunnel connects agents and node agents to the conductor of their run: a
// TLS connection, pinned to the run's certificate, with a request that carries the
// client's token and is upgraded to a byte stream. It has few dependencies, because
// agents link it.
//
// Before a stream is handed to its user, the conductor sends commands of one byte:
//
//	p  ping: the client answers with its wall clock, 8 bytes, nanoseconds since
//	   1970, the highest byte first
//	g  go: from now on the stream belongs to its user, in both directions
//	o  over: the run has ended; do not connect again
//
// The conductor pings every few seconds while the stream waits for its user, so that
// each side detects the loss of the other, and several times before go.
package tunnel

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

// Headers of a request for a stream.
const (
	Upgrade     = "millicore"       // the protocol in the headers Upgrade
	TokenHeader = "Millicore-Token" // the client's token
)

// Bounds of waits, and of what is read before the conductor is authenticated.
const (
	connectWithin = 10 * time.Second // a connection, its TLS, and the answer
	silence       = 60 * time.Second // the conductor sends more often than this
	mostHeader    = 16 << 10
	mostWords     = 1 << 10 // of a refusal
)

// alive detects within half a minute that the other end's machine is gone.
var alive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}

// ErrOver reports that the run has ended.
var ErrOver = errors.New("the run is over")

// RefusedError reports that the conductor refuses the client. A retry does not help.
type RefusedError struct {
	Status string // as in "401 Unauthorized"
	Words  string // of the conductor
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the conductor refuses: %s: %s", e.Status, e.Words)
}

// Options are the address and the credentials.
type Options struct {
	Conductor string // host:port
	Path      string // "/agent/3" or "/node/worker-1"
	CertFile  string // the conductor's certificate, PEM: exactly this one is accepted, regardless of its names
	TokenFile string // the token of this client, which opens Path and no other
}

// Dial connects to the conductor and returns when the conductor needs the stream,
// which may take as long as the run. Meanwhile it answers pings. The error is ErrOver
// if the run has ended, and a *RefusedError if a retry does not help. The context
// bounds Dial only, not the life of the stream.
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

// wait returns when the conductor needs the stream. After an error the stream is
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

// connect opens the connection and requests the stream.
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

// secrets reads the pod's certificate and token, again for each connection.
func (o Options) secrets() (certificate []byte, token string, err error) {
	text, err := os.ReadFile(o.CertFile)
	if err != nil {
		return nil, "", err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, "", fmt.Errorf("%s has no certificate in PEM", o.CertFile)
	}
	if text, err = os.ReadFile(o.TokenFile); err != nil {
		return nil, "", err
	}
	token = strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, "", fmt.Errorf("%s has no token: want one line of printable characters", o.TokenFile)
	}
	return block.Bytes, token, nil
}

// pinned accepts exactly one certificate. No authority has signed it, and it cannot
// name the pod's address.
func pinned(certificate []byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: true, // replaced by VerifyConnection
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || subtle.ConstantTimeCompare(s.PeerCertificates[0].Raw, certificate) != 1 {
				return errors.New("its certificate is not that of this run: another program listens there")
			}
			return nil
		},
	}
}

// conn is a stream. It begins with the bytes that were read after the conductor's
// answer.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func (c *conn) Read(b []byte) (int, error) { return c.in.Read(b) }

// request sends the request for the stream.
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
	words, _ := io.ReadAll(io.LimitReader(answer.Body, mostWords)) // the status is enough without them
	switch answer.StatusCode {
	case http.StatusGone:
		return ErrOver
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return &RefusedError{Status: answer.Status, Words: strings.TrimSpace(string(words))}
	}
	return fmt.Errorf("it answered %s: %s", answer.Status, strings.TrimSpace(string(words)))
}
