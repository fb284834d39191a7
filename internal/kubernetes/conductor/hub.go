package conductor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/internal/platform"
)

// Bounds of what clients can cost the conductor before they have sent the token.
const (
	handshakeWithin = 10 * time.Second // TLS and the head of a request
	idleWithin      = 60 * time.Second // between two requests of a connection
	mostHeader      = 16 << 10
	mostConnections = 20_000
	mostSeats       = 20_000 // agents and node agents, including those that are gone
)

// HubOptions configure a Hub.
type HubOptions struct {
	CertFile, KeyFile string // PEM
	TokenKeyFile      string // has the key of the tokens that agents must send
	Record            string // folder that GET /record sends; it may not exist yet
	State             func() State
	// Readers are the hashes (HashToken) of the tokens of those who may read the state
	// and the record; nil: nobody may.
	Readers func(context.Context) ([]string, error)
}

// Hub is the server to which the agents of a run connect, and from which the command
// line reads the state and the record. It serves from NewHub to Close.
type Hub struct {
	key         []byte // of the agents' tokens
	certificate []byte // PEM
	readers     readers
	options     HubOptions
	listener    net.Listener
	server      *http.Server
	served      chan struct{} // closed when the server has ended

	mu    sync.Mutex
	seats map[string]*seat // by path
	ended bool             // the run is over, or the hub closed
	left  chan struct{}    // closed with it

	hosted sync.WaitGroup // requests whose stream was not taken yet
}

// seat holds the stream of one agent that is connected and was not taken yet.
type seat struct {
	waiting *waiting
	came    chan struct{} // holds one value if a stream came since the last take
}

// NewHub starts to serve on a listener. It closes the listener after an error.
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

// newHub returns a hub without a listener.
func newHub(o HubOptions) (*Hub, error) {
	key, err := readKey(o.TokenKeyFile)
	if err != nil {
		return nil, err
	}
	certificate, err := os.ReadFile(o.CertFile)
	if err != nil {
		return nil, fmt.Errorf("read the run's certificate: %w", err)
	}
	if o.Record != "" {
		o.Record = filepath.Clean(o.Record)
	}
	return &Hub{key: key, certificate: certificate, readers: readers{look: o.Readers}, options: o,
		seats: map[string]*seat{}, left: make(chan struct{}), served: make(chan struct{})}, nil
}

// Addr is the address of the hub.
func (h *Hub) Addr() net.Addr { return h.listener.Addr() }

// Agent waits until agent number index connects, and returns its stream for one
// trial. Its Offset is its clock minus this machine's.
func (h *Hub) Agent(ctx context.Context, index int) (platform.Agent, error) {
	s, err := h.take(ctx, agentPath(index))
	if err != nil {
		return nil, fmt.Errorf("wait for agent %d to dial in: %w", index, err)
	}
	return s, nil
}

// Node waits for the node agent of a name, and returns its stream and its clock
// minus this machine's.
func (h *Hub) Node(ctx context.Context, name string) (io.ReadWriteCloser, time.Duration, error) {
	s, err := h.take(ctx, nodePath(name))
	if err != nil {
		return nil, 0, fmt.Errorf("wait for the node agent of %s to dial in: %w", name, err)
	}
	return s, s.Offset(), nil
}

var errOver = errors.New("the run is over")

// take waits for the stream of a seat. It closes a dead stream and waits for the
// next one.
func (h *Hub) take(ctx context.Context, path string) (*stream, error) {
	for {
		h.mu.Lock()
		seat := h.seat(path)
		w := seat.waiting
		seat.waiting = nil
		ended := h.ended
		h.mu.Unlock()
		if ended {
			return nil, errOver
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

// seat returns the seat of a path. The caller holds h.mu.
func (h *Hub) seat(path string) *seat {
	s := h.seats[path]
	if s == nil {
		s = &seat{came: make(chan struct{}, 1)}
		h.seats[path] = s
	}
	return s
}

// sit puts a new stream on its seat. It replaces a waiting one, whose agent was
// restarted. It returns false if there are too many seats or the run is over.
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

// leave removes a stream from its seat if it is still there.
func (h *Hub) leave(path string, w *waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seat := h.seats[path]; seat != nil && seat.waiting == w {
		seat.waiting = nil
	}
}

// Over notifies all waiting agents, and all that connect later, that the run is
// over. Streams that were taken are not affected.
func (h *Hub) Over() { h.empty((*waiting).dismiss) }

// Close stops the server and closes the streams that were not taken, without a
// notification: their agents connect again. Users close the streams that they took.
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

// empty ends the acceptance of streams, and calls end for each waiting one.
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

var _ platform.RemoteClock = (*stream)(nil)

// upgrade is the protocol in a request for a stream.
const upgrade = tunnel.Upgrade
