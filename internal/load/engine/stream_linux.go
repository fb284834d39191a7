package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streamPort is the port of connections that Go's libraries keep: TLS, and HTTP/2
// behind a translator. Goroutines read and write; the loop's clock, its wait and
// the bell that ends it are an epoll's. Each message passes a goroutine and the
// bell, so that a request costs several times what it does on an epollPort, and is
// stamped as sent some 10 to 50 us before it leaves.
type streamPort struct {
	*epollPort
	dialer dialer
	all    sync.WaitGroup // of goroutines

	mu    sync.Mutex
	queue []event
	lines []*line // by slot; nil: none
}

// line is one connection of a streamPort.
type line struct {
	port             *streamPort
	slot, generation int32
	cancel           context.CancelFunc
	mu               sync.Mutex
	moved            sync.Cond // out has grown, in has shrunk, or the line is closed
	conn             net.Conn  // nil until it is made
	out, in          []byte
	came             time.Duration // when the last of in did
	dialed, end      outcome       // end: later until the connection has ended
	blocked, closed  bool
}

// lineBuffer is what may wait in each direction.
const lineBuffer = 256 << 10

// newStreamPort makes a port whose connections a dialer makes.
func newStreamPort(zero time.Time, d dialer) (port, error) {
	p, err := newEpollPort(zero, nil)
	if err != nil {
		return nil, err
	}
	return &streamPort{epollPort: p, dialer: d}, nil
}

func (p *streamPort) wait(events []event, until time.Duration, exact bool) int {
	if n := p.take(events); n > 0 {
		p.epollPort.wait(nil, 0, false) // for the bell
		return n
	}
	p.epollPort.wait(nil, until, exact)
	return p.take(events)
}

// take moves events out of the queue.
func (p *streamPort) take(events []event) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := copy(events, p.queue)
	p.queue = append(p.queue[:0], p.queue[n:]...)
	return n
}

// tell queues an event and ends the loop's wait.
func (p *streamPort) tell(e event) {
	p.mu.Lock()
	p.queue = append(p.queue, e)
	p.mu.Unlock()
	p.wake()
}

func (p *streamPort) move(targets []Target) { p.dialer = p.dialer.to(targets) }

func (p *streamPort) dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(p.lines) {
		p.lines = append(p.lines, nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &line{port: p, slot: slot, generation: generation, cancel: cancel, dialed: later, end: later}
	l.moved.L = &l.mu
	p.lines[slot] = l
	d := p.dialer
	p.all.Go(func() { l.connect(ctx, d, target) })
	return later
}

// connect makes the connection and serves it.
func (l *line) connect(ctx context.Context, d dialer, target int) {
	conn, err := d.dial(ctx, int(l.slot), target)
	l.mu.Lock()
	switch {
	case err == nil && l.closed:
		l.mu.Unlock()
		part(conn, true)
		return
	case err != nil:
		l.dialed = l.port.refused(err)
	default:
		l.conn, l.dialed = conn, okay
		l.port.all.Go(l.send)
		l.port.all.Go(l.receive)
	}
	l.mu.Unlock()
	l.port.tell(event{slot: l.slot, generation: l.generation, writable: true})
}

// refused tells whether the service or this machine refused a connection, which
// is what ends a trial, as what is unfit does.
func (p *streamPort) refused(err error) outcome {
	for _, errno := range []unix.Errno{unix.EADDRNOTAVAIL, unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM} {
		if errors.Is(err, errno) {
			return p.lack("connect", errno)
		}
	}
	var unfit *Unfit
	if errors.As(err, &unfit) {
		p.fail(unfit)
		return lacking
	}
	return broken
}

func (p *streamPort) dialed(slot int32) outcome {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialed
}

func (p *streamPort) write(slot int32, b []byte) (int, outcome) {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != later {
		return 0, broken
	}
	n := min(len(b), lineBuffer-len(l.out))
	if n == 0 {
		l.blocked = true
		return 0, later
	}
	l.out = append(l.out, b[:n]...)
	l.moved.Broadcast()
	return n, okay
}

func (p *streamPort) read(slot int32, b []byte) (int, time.Duration, outcome) {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.in) == 0 {
		return 0, l.came, l.end
	}
	n := copy(b, l.in)
	l.in = append(l.in[:0], l.in[n:]...)
	l.moved.Broadcast()
	return n, l.came, okay
}

// send writes what the loop has given.
func (l *line) send() {
	var b []byte
	for {
		l.mu.Lock()
		for len(l.out) == 0 && !l.closed {
			l.moved.Wait()
		}
		if l.closed {
			l.mu.Unlock()
			return
		}
		b = append(b[:0], l.out...)
		l.out = l.out[:0]
		blocked := l.blocked
		l.blocked = false
		l.mu.Unlock()
		if blocked {
			l.port.tell(event{slot: l.slot, generation: l.generation, writable: true})
		}
		if _, err := l.conn.Write(b); err != nil {
			return // reading finds why, or an answer that came before
		}
	}
}

// receive reads what comes, and no more of it than the loop takes.
func (l *line) receive() {
	b := make([]byte, 16<<10)
	for {
		n, err := l.conn.Read(b)
		came := l.port.now()
		l.mu.Lock()
		for len(l.in) > lineBuffer && !l.closed {
			l.moved.Wait()
		}
		if l.closed {
			l.mu.Unlock()
			return
		}
		l.in, l.came = append(l.in, b[:n]...), came
		if err != nil {
			if l.end = broken; errors.Is(err, io.EOF) {
				l.end = ended
			}
		}
		l.mu.Unlock()
		l.port.tell(event{slot: l.slot, generation: l.generation, readable: true, ended: err != nil})
		if err != nil {
			return
		}
	}
}

// close ends a connection without waiting for it: a library's farewell may take
// seconds where the other side does not read.
func (p *streamPort) close(slot int32, abruptly bool) {
	l := p.lines[slot]
	if l == nil {
		return
	}
	p.lines[slot] = nil
	l.mu.Lock()
	l.closed = true
	conn := l.conn
	l.moved.Broadcast()
	l.mu.Unlock()
	l.cancel()
	if conn != nil {
		p.all.Go(func() { part(conn, abruptly) })
	}
}

// farewell is how long a connection may take to end.
const farewell = time.Second

// part ends a connection. TLS gives its last words a deadline of its own: what is
// below it is closed under it.
func part(conn net.Conn, abruptly bool) {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok {
		below := over.NetConn()
		if abruptly {
			if tcp, ok := below.(*net.TCPConn); ok {
				tcp.SetLinger(0)
			}
			below.Close()
		} else {
			defer time.AfterFunc(farewell, func() { below.Close() }).Stop()
		}
	}
	conn.Close()
}

func (p *streamPort) release() {
	for slot := range p.lines {
		p.close(int32(slot), true)
	}
	p.all.Wait()
	p.epollPort.release()
}
