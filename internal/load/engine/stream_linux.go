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

// streamPoller is the poller of connections of Go's libraries: TLS, and HTTP/2 behind a
// translator. Goroutines read and write; clock, wait and wake are those of an
// epollPoller. Each message passes a goroutine and a wake, so a request costs several
// times as much as with an epollPoller, and its sent time is 10 to 50 us before it
// leaves.
type streamPoller struct {
	*epollPoller
	dialer dialer
	all    sync.WaitGroup // of goroutines

	mu    sync.Mutex
	queue []event
	lines []*line // by slot; nil: none
}

// line is one connection of a streamPoller.
type line struct {
	poller           *streamPoller
	slot, generation int32
	cancel           context.CancelFunc
	mu               sync.Mutex
	moved            sync.Cond // signals that out has grown, in has shrunk, or the line is closed
	conn             net.Conn  // nil until it is made
	out, in          []byte
	came             time.Duration // when the last byte of in arrived
	dialed, end      outcome       // end: wouldBlock until the connection has ended
	blocked, closed  bool
}

// lineBuffer is the size of the buffer of each direction, in bytes.
const lineBuffer = 256 << 10

// newStreamPoller makes a poller whose connections a dialer makes.
func newStreamPoller(zero time.Time, d dialer) (poller, error) {
	p, err := newEpollPoller(zero, nil)
	if err != nil {
		return nil, err
	}
	return &streamPoller{epollPoller: p, dialer: d}, nil
}

func (p *streamPoller) wait(events []event, until time.Duration, exact bool) int {
	if n := p.take(events); n > 0 {
		p.epollPoller.wait(nil, 0, false) // to drain the bell
		return n
	}
	p.epollPoller.wait(nil, until, exact)
	return p.take(events)
}

// take moves events out of the queue.
func (p *streamPoller) take(events []event) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := copy(events, p.queue)
	p.queue = append(p.queue[:0], p.queue[n:]...)
	return n
}

// notify queues an event and ends the loop's wait.
func (p *streamPoller) notify(e event) {
	p.mu.Lock()
	p.queue = append(p.queue, e)
	p.mu.Unlock()
	p.wake()
}

func (p *streamPoller) move(targets []Target) { p.dialer = p.dialer.to(targets) }

func (p *streamPoller) dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(p.lines) {
		p.lines = append(p.lines, nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &line{poller: p, slot: slot, generation: generation, cancel: cancel, dialed: wouldBlock, end: wouldBlock}
	l.moved.L = &l.mu
	p.lines[slot] = l
	d := p.dialer
	p.all.Go(func() { l.connect(ctx, d, target) })
	return wouldBlock
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
		l.dialed = l.poller.refused(err)
	default:
		l.conn, l.dialed = conn, succeeded
		l.poller.all.Go(l.send)
		l.poller.all.Go(l.receive)
	}
	l.mu.Unlock()
	l.poller.notify(event{slot: l.slot, generation: l.generation, writable: true})
}

// refused distinguishes whether the service or this machine refused a connection. A
// lack of resources on this machine other than ports ends the trial, and so does an
// Unfit service.
func (p *streamPoller) refused(err error) outcome {
	if errors.Is(err, unix.EADDRNOTAVAIL) {
		return portless
	}
	for _, errno := range []unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM} {
		if errors.Is(err, errno) {
			return p.lack("connect", errno)
		}
	}
	var unfit *Unfit
	if errors.As(err, &unfit) {
		p.fail(unfit)
		return exhausted
	}
	return broken
}

func (p *streamPoller) dialed(slot int32) outcome {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialed
}

func (p *streamPoller) write(slot int32, b []byte) (int, outcome) {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != wouldBlock {
		return 0, broken
	}
	n := min(len(b), lineBuffer-len(l.out))
	if n == 0 {
		l.blocked = true
		return 0, wouldBlock
	}
	l.out = append(l.out, b[:n]...)
	l.moved.Broadcast()
	return n, succeeded
}

func (p *streamPoller) read(slot int32, b []byte) (int, time.Duration, outcome) {
	l := p.lines[slot]
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.in) == 0 {
		return 0, l.came, l.end
	}
	n := copy(b, l.in)
	l.in = append(l.in[:0], l.in[n:]...)
	l.moved.Broadcast()
	return n, l.came, succeeded
}

// send writes the loop's bytes to the connection.
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
			l.poller.notify(event{slot: l.slot, generation: l.generation, writable: true})
		}
		if _, err := l.conn.Write(b); err != nil {
			return // reading finds the reason, or an answer that came before
		}
	}
}

// receive reads from the connection, but not ahead of the loop by more than the buffer.
func (l *line) receive() {
	b := make([]byte, 16<<10)
	for {
		n, err := l.conn.Read(b)
		came := l.poller.now()
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
		l.poller.notify(event{slot: l.slot, generation: l.generation, readable: true, ended: err != nil})
		if err != nil {
			return
		}
	}
}

// close ends a connection in the background: a library's shutdown may take seconds if
// the other side does not read.
func (p *streamPoller) close(slot int32, abruptly bool) {
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

// part closes the connection; the library sends TLS's close_notify.
func (p *streamPoller) part(slot int32) { p.close(slot, false) }

// farewell is the timeout of an orderly shutdown.
const farewell = time.Second

// part ends a connection. The TLS library's timeout for close_notify is longer, so the
// connection below is closed after farewell.
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

func (p *streamPoller) release() {
	for slot := range p.lines {
		p.close(int32(slot), true)
	}
	p.all.Wait()
	p.epollPoller.release()
}
