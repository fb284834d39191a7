package engine

import (
	"bufio"
	"bytes"
	"context"
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

// http2Dialer gives each slot a stream of a shared HTTP/2 connection. The loop speaks
// HTTP/1.1 only; a translator converts.
type http2Dialer struct {
	pools     []*pool // by target
	transport Transport
}

// to keeps the pools of known targets, even of those that have gone, because they may
// still have open streams.
func (d *http2Dialer) to(targets []Target) dialer {
	next := newHTTP2Dialer(targets, d.transport)
	copy(next.pools, d.pools)
	return next
}

// pool holds the connections to one target. It is locked while a connection is made,
// so that all slots that wait share the new connection.
type pool struct {
	scheme    string
	transport *http.Transport
	mu        sync.Mutex
	shared    []*sharedConn
	newest    *settingsConn
}

// sharedConn is a connection with its number of streams and their maximum.
type sharedConn struct {
	conn        *http.ClientConn
	used, holds int
	full        bool // it has refused a stream
}

// mostStreams is the maximum number of streams per connection, even if the server
// allows more. Most servers allow a hundred, the minimum that RFC 9113, 6.5.2,
// recommends.
const mostStreams = 100

func newHTTP2Dialer(targets []Target, t Transport) *http2Dialer {
	d := &http2Dialer{transport: t}
	for i := range targets {
		d.pools = append(d.pools, newPool(&targets[i], t))
	}
	return d
}

// newPool makes a pool. net/http treats its connections as unencrypted, because TLS is
// handled below it.
func newPool(target *Target, t Transport) *pool {
	p := &pool{scheme: "http", transport: &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}}
	p.transport.Protocols.SetUnencryptedHTTP2(true)
	dial := func(ctx context.Context) (net.Conn, error) { return dialTarget(ctx, target) }
	if t.TLS {
		p.scheme = "https"
		dial = func(ctx context.Context) (net.Conn, error) { return dialTLS(ctx, target, t) }
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

// join reserves a stream on a connection, and makes a connection if all are full.
func (p *pool) join(ctx context.Context) (*sharedConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shared {
		if s.used < s.holds && !s.full && s.conn.Err() == nil {
			s.used++
			return s, nil
		}
	}
	conn, err := p.transport.NewClientConn(ctx, "http", "target:1") // the name is unused: DialContext knows the target
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

// move releases a stream on a connection that accepts no more requests, and reserves
// one on another.
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

// part releases a stream; the last one closes the connection.
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

// translator reads HTTP/1.1 requests, sends each on an HTTP/2 stream, and writes the
// answers as HTTP/1.1.
type translator struct {
	in     *bufio.Reader
	out    *bufio.Writer
	pool   *pool
	shared *sharedConn
}

// serve runs until either side ends. It cuts an answer that it cannot transfer whole.
func (t *translator) serve(ctx context.Context) {
	for {
		r, err := http.ReadRequest(t.in)
		if err != nil {
			return
		}
		if t.exchange(r.WithContext(ctx)) != nil || r.Body.Close() != nil { // Close reads the rest of the body after an early answer
			return
		}
	}
}

// exchange sends a request and writes its answer. A request that the service rejected
// unprocessed is sent again on another connection: then the connection is ending or
// full, and the service has not failed (RFC 9113, 6.8 and 8.7).
func (t *translator) exchange(r *http.Request) error {
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", t.pool.scheme, r.Host
	withoutConnection(r)
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

// withoutConnection removes connection-specific headers, which HTTP/2 does not allow
// (RFC 9113, 8.2.2).
func withoutConnection(r *http.Request) {
	for _, list := range r.Header["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			r.Header.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Upgrade"} {
		r.Header.Del(name)
	}
	r.Close = false
}

// mostAttempts is how often a request is sent to a service that rejects it
// unprocessed.
const mostAttempts = 4

// mostKept is the maximum size of a body that is kept for further attempts, in bytes.
const mostKept = 1 << 20

// body returns a function that gives a request's body for each attempt, and the number
// of attempts. The memory is not reused, because after an early answer the body may
// still be in transfer.
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

// unread reports whether the service rejected a request unprocessed. net/http does not
// export these errors.
func unread(err error) bool {
	for _, text := range []string{"REFUSED_STREAM", "graceful shutdown GOAWAY", "client conn not usable"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// move continues on another connection.
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

// answer writes an answer as HTTP/1.1, without headers other than those for framing,
// because the loop uses no others.
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
