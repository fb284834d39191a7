package conductor

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/millicore/millicore/internal/conductor/dial"
	"github.com/millicore/millicore/internal/platform"
)

// Bounds on what others may cost the conductor. A client is nobody until it has
// shown the token.
const (
	handshakeWithin = 10 * time.Second // TLS and the head of a request
	idleWithin      = 60 * time.Second // between two requests of a connection
	mostHeader      = 16 << 10
	mostConnections = 20_000
	mostSeats       = 20_000 // agents and node agents that were ever heard of
)

// HubOptions are what a Hub serves, and to whom.
type HubOptions struct {
	CertFile, KeyFile string // PEM
	TokenFile         string // what whoever dials has to show
	Record            string // folder that GET /record gives; it need not be there yet
	State             func() State
}

// Hub is where the agents of a run dial in, and where its command line asks for
// the state and the record. It serves from NewHub to Close.
type Hub struct {
	token    [sha256.Size]byte
	options  HubOptions
	listener net.Listener
	server   *http.Server
	served   chan struct{} // closed when the server has ended

	mu    sync.Mutex
	seats map[string]*seat // by path
	ended bool             // the run is over, or the hub closed
	left  chan struct{}    // closed with it

	hosted sync.WaitGroup // those who have brought a stream that nobody took
}

// seat is one agent's place: the stream that it has dialled and nobody has taken.
type seat struct {
	waiting *waiting
	came    chan struct{} // holds one where a stream came since the last look
}

// NewHub begins to serve at a listener, which it closes after an error too.
func NewHub(listener net.Listener, o HubOptions) (*Hub, error) {
	h, err := newHub(o)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the run's certificate: %w", err), listener.Close())
	}
	h.listener = tls.NewListener(netutil.LimitListener(listener, mostConnections), &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	h.server = &http.Server{Handler: h.handler(), ReadHeaderTimeout: handshakeWithin, ReadTimeout: idleWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(h.served)
		_ = h.server.Serve(h.listener) // until Close
	}()
	return h, nil
}

// newHub is a hub without a listener.
func newHub(o HubOptions) (*Hub, error) {
	token, err := readToken(o.TokenFile)
	if err != nil {
		return nil, err
	}
	if o.Record != "" {
		o.Record = filepath.Clean(o.Record)
	}
	return &Hub{token: sha256.Sum256([]byte(token)), options: o, seats: map[string]*seat{}, left: make(chan struct{}), served: make(chan struct{})}, nil
}

// Addr is where the hub listens.
func (h *Hub) Addr() net.Addr { return h.listener.Addr() }

// Agent waits for agent number index to dial in, and gives its stream for one
// trial. Its Offset is what its clock stands ahead of this one's.
func (h *Hub) Agent(ctx context.Context, index int) (platform.Agent, error) {
	s, err := h.take(ctx, fmt.Sprintf("/agent/%d", index))
	if err != nil {
		return nil, fmt.Errorf("wait for agent %d to dial in: %w", index, err)
	}
	return s, nil
}

// Node waits for the node agent of a name, and gives its stream and what its
// clock stands ahead of this one's.
func (h *Hub) Node(ctx context.Context, name string) (io.ReadWriteCloser, time.Duration, error) {
	s, err := h.take(ctx, "/node/"+name)
	if err != nil {
		return nil, 0, fmt.Errorf("wait for the node agent of %s to dial in: %w", name, err)
	}
	return s, s.Offset(), nil
}

var errOver = errors.New("the run is over")

// take waits for the stream of a seat. One that turns out to be dead is closed,
// and the next one awaited.
func (h *Hub) take(ctx context.Context, path string) (*stream, error) {
	for {
		h.mu.Lock()
		seat := h.seat(path)
		w := seat.waiting
		seat.waiting = nil
		ended := h.ended
		h.mu.Unlock()
		if ended {
			return nil, errOver // and nothing waits
		}
		if w != nil {
			if s := w.claim(); s != nil {
				return s, nil
			}
			continue
		}
		select {
		case <-seat.came:
		case <-h.left:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// seat is the seat of a path; h.mu is held.
func (h *Hub) seat(path string) *seat {
	s := h.seats[path]
	if s == nil {
		s = &seat{came: make(chan struct{}, 1)}
		h.seats[path] = s
	}
	return s
}

// sit puts a stream that was dialled on its seat, in the place of one that waits
// there already: that is of an agent that was started again. It is false where
// the hub has no room for it, or no use.
func (h *Hub) sit(path string, w *waiting) bool {
	h.mu.Lock()
	if h.ended || h.seats[path] == nil && len(h.seats) >= mostSeats {
		h.mu.Unlock()
		return false
	}
	seat := h.seat(path)
	before := seat.waiting
	seat.waiting = w
	h.mu.Unlock()
	select {
	case seat.came <- struct{}{}:
	default:
	}
	if before != nil {
		before.drop()
	}
	return true
}

// leave takes a stream from its seat, where it is still there: nobody may take it
// any more.
func (h *Hub) leave(path string, w *waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seat := h.seats[path]; seat != nil && seat.waiting == w {
		seat.waiting = nil
	}
}

// Over tells all agents that wait, and all that will still dial, that the run has
// ended. Streams that were taken go on.
func (h *Hub) Over() { h.empty((*waiting).dismiss) }

// Close stops listening, and closes the streams that nobody has taken without a
// word: their agents dial again. Those that were taken are their users' to close.
func (h *Hub) Close() error {
	h.empty((*waiting).drop)
	err := h.server.Close()
	<-h.served
	h.hosted.Wait()
	if err != nil {
		return fmt.Errorf("stop listening: %w", err)
	}
	return nil
}

// empty ends the hub's use of streams, and does so with each that waits.
func (h *Hub) empty(end func(*waiting)) {
	h.mu.Lock()
	var all []*waiting
	if !h.ended {
		h.ended = true
		close(h.left)
	}
	for _, s := range h.seats {
		if s.waiting != nil {
			all = append(all, s.waiting)
			s.waiting = nil
		}
	}
	h.mu.Unlock()
	var ending sync.WaitGroup
	for _, w := range all {
		ending.Go(func() { end(w) })
	}
	ending.Wait()
}

var _ interface{ Offset() time.Duration } = (*stream)(nil)

// upgrade is the protocol that a request for a stream asks for.
const upgrade = dial.Upgrade
