package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// http2Dialer gives each slot a stream of a shared HTTP/2 connection. The loop
// speaks HTTP/1.1, as it does to all: a translator stands between.
type http2Dialer struct {
	pools     []*pool // by target
	transport Transport
}

// to keeps the pools of the targets that it knew, one that has gone among them:
// streams may still be open on it.
func (d *http2Dialer) to(targets []Target) dialer {
	next := newHTTP2Dialer(targets, d.transport)
	copy(next.pools, d.pools)
	return next
}

// pool holds the connections to one target. It is locked while one is made: the
// slots that wait for it are to share it.
type pool struct {
	scheme    string
	transport *http.Transport
	mu        sync.Mutex
	shared    []*sharedConn
	newest    *settingsConn
}

// sharedConn is a connection and how many slots have a stream on it.
type sharedConn struct {
	conn        *http.ClientConn
	used, holds int
	full        bool // it has refused a stream
}

// mostStreams is what a connection carries at most, whatever the server allows: a
// hundred is what most allow, and what RFC 9113, 6.5.2, recommends as the least.
const mostStreams = 100

func newHTTP2Dialer(targets []Target, t Transport) *http2Dialer {
	d := &http2Dialer{transport: t}
	for i := range targets {
		d.pools = append(d.pools, newPool(&targets[i], t))
	}
	return d
}

// newPool makes a pool whose connections net/http takes for unencrypted ones, as
// TLS is spoken below.
func newPool(target *Target, t Transport) *pool {
	p := &pool{scheme: "http", transport: &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}}
	p.transport.Protocols.SetUnencryptedHTTP2(true)
	dial := func(ctx context.Context) (net.Conn, error) { return dialTarget(ctx, target) }
	if t.TLS {
		p.scheme = "https"
		config := t.config(target)
		config.NextProtos = []string{"h2"}
		dial = func(ctx context.Context) (net.Conn, error) { return dialHTTP2(ctx, target, config) }
	}
	p.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		p.newest = newSettingsConn(conn)
		return p.newest, nil
	}
	return p
}

// dialHTTP2 makes a connection on which the service has agreed to speak HTTP/2.
func dialHTTP2(ctx context.Context, t *Target, config *tls.Config) (net.Conn, error) {
	conn, err := dialTLS(ctx, t, config)
	switch {
	case err != nil && strings.Contains(err.Error(), noProtocol):
		return nil, errNoHTTP2
	case err != nil:
		return nil, err // not the connection: it would be one that is nil
	case conn.ConnectionState().NegotiatedProtocol != "h2":
		conn.Close()
		return nil, errNoHTTP2
	}
	return conn, nil
}

// noProtocol is the alert of a service that speaks none of the protocols that it
// was offered (RFC 7301, 3.2); crypto/tls gives it no type.
const noProtocol = "tls: no application protocol"

var errNoHTTP2 = &Unfit{"the service does not speak HTTP/2: it did not agree to h2 (ALPN); ask for HTTP/1.1"}

var errNoH2C = &Unfit{"the service does not speak HTTP/2 without TLS (h2c): it answered in HTTP/1.1; ask for that"}

func (d *http2Dialer) dial(ctx context.Context, _, target int) (net.Conn, error) {
	p := d.pools[target]
	shared, err := p.join(ctx)
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	t := &translator{in: bufio.NewReader(theirs), out: bufio.NewWriterSize(theirs, 16<<10), pool: p, shared: shared}
	go func() {
		t.serve(ctx)
		theirs.Close()
		p.part(t.shared)
	}()
	return &streamConn{Conn: ours, cancel: cancel}, nil
}

// join takes a place on a connection, and makes one where all are full.
func (p *pool) join(ctx context.Context) (*sharedConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shared {
		if s.used < s.holds && !s.full && s.conn.Err() == nil {
			s.used++
			return s, nil
		}
	}
	conn, err := p.transport.NewClientConn(ctx, "http", "target:1") // which is dialed is known by now
	if err != nil {
		return nil, err
	}
	select {
	case <-p.newest.known:
	case <-ctx.Done():
		conn.Close()
		return nil, ctx.Err()
	}
	if p.newest.http1 {
		conn.Close()
		return nil, errNoH2C
	}
	s := &sharedConn{conn: conn, used: 1, holds: max(1, min(mostStreams, conn.Available()))}
	p.shared = append(p.shared, s)
	return s, nil
}

// move gives up a place on a connection that takes no more requests, and takes one
// on another.
func (p *pool) move(ctx context.Context, from *sharedConn) (*sharedConn, error) {
	p.mu.Lock()
	from.full = true
	p.mu.Unlock()
	to, err := p.join(ctx)
	if err == nil {
		p.part(from)
	}
	return to, err
}

// part gives the place back; the last one ends the connection.
func (p *pool) part(s *sharedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.used--; s.used > 0 {
		return
	}
	p.shared = slices.DeleteFunc(p.shared, func(one *sharedConn) bool { return one == s })
	s.conn.Close()
}

// streamConn is the loop's end of a translated stream; closing it resets the
// stream.
type streamConn struct {
	net.Conn
	cancel context.CancelFunc
}

func (c *streamConn) Close() error {
	c.cancel()
	return c.Conn.Close()
}

// translator takes HTTP/1.1 requests, one after another, and gives the answers of
// an HTTP/2 stream each.
type translator struct {
	in     *bufio.Reader
	out    *bufio.Writer
	pool   *pool
	shared *sharedConn
}

// serve ends where either side does. What it cannot hand over whole, it cuts.
func (t *translator) serve(ctx context.Context) {
	for {
		r, err := http.ReadRequest(t.in)
		if err != nil {
			return
		}
		if t.exchange(r.WithContext(ctx)) != nil || r.Body.Close() != nil { // which reads what an early answer has left
			return
		}
	}
}

// exchange sends a request and hands its answer over. One that the service has
// turned away unread is sent again on another connection: it is the connection
// that ends or is full, and not the service that fails (RFC 9113, 6.8 and 8.7).
func (t *translator) exchange(r *http.Request) error {
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", t.pool.scheme, r.Host
	if _, named := r.Header["User-Agent"]; !named {
		r.Header["User-Agent"] = nil // none, as over HTTP/1.1
	}
	body, attempts, err := t.body(r)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		for t.shared.conn.Reserve() != nil {
			if err := t.move(r.Context()); err != nil {
				return err
			}
		}
		one := *r
		one.Body = body()
		answer, err := t.shared.conn.RoundTrip(&one)
		if err == nil {
			defer answer.Body.Close()
			return t.answer(r.Method, answer)
		}
		if !unread(err) || attempt == attempts {
			return err
		}
		if err := t.move(r.Context()); err != nil {
			return err
		}
	}
}

// mostAttempts is how often a request is sent to a service that turns it away
// unread.
const mostAttempts = 4

// mostKept is how large a body may be to be kept, in case it has to be sent again.
const mostKept = 1 << 20

// body gives a request's body anew for each attempt, and how often it can. It is
// not read into memory that is used again: behind an early answer it may still be
// on its way.
func (t *translator) body(r *http.Request) (next func() io.ReadCloser, attempts int, err error) {
	switch {
	case r.ContentLength == 0:
		return func() io.ReadCloser { return http.NoBody }, mostAttempts, nil
	case r.ContentLength > mostKept:
		return func() io.ReadCloser { return r.Body }, 1, nil
	}
	kept, err := io.ReadAll(r.Body)
	return func() io.ReadCloser { return io.NopCloser(bytes.NewReader(kept)) }, mostAttempts, err
}

// unread tells whether the service has said that it did not look at a request.
// net/http tells these apart by errors that it does not export.
func unread(err error) bool {
	for _, text := range []string{"REFUSED_STREAM", "graceful shutdown GOAWAY", "client conn not usable"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// move goes on to another connection.
func (t *translator) move(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	shared, err := t.pool.move(ctx, t.shared)
	if err == nil {
		t.shared = shared
	}
	return err
}

// answer writes an answer as HTTP/1.1 has it. Headers are not passed on: the loop
// looks at none but those that frame.
func (t *translator) answer(method string, a *http.Response) error {
	bodiless := method == "HEAD" || a.StatusCode == 204 || a.StatusCode == 304
	fmt.Fprintf(t.out, "HTTP/1.1 %03d \r\n", a.StatusCode)
	switch {
	case bodiless:
		t.out.WriteString("\r\n")
	case a.ContentLength >= 0:
		t.out.WriteString("Content-Length: " + strconv.FormatInt(a.ContentLength, 10) + "\r\n\r\n")
	default:
		t.out.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	}
	if bodiless {
		return t.out.Flush()
	}
	if a.ContentLength >= 0 {
		if _, err := io.Copy(t.out, a.Body); err != nil {
			return err
		}
		return t.out.Flush()
	}
	b := make([]byte, 16<<10)
	for {
		n, err := a.Body.Read(b)
		if n > 0 {
			fmt.Fprintf(t.out, "%x\r\n", n)
			t.out.Write(b[:n])
			t.out.WriteString("\r\n")
			if err := t.out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			t.out.WriteString("0\r\n\r\n")
			return t.out.Flush()
		}
		if err != nil {
			return err
		}
	}
}
