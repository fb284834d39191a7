package engine

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/poll"
	"github.com/millicore/millicore/internal/load/port"
)

// securePoller is a poll.Poller whose connections speak TLS: write takes plaintext and
// read returns plaintext. The loop itself encrypts and decrypts, with crypto/tls over
// connections that never block. So a connection has no goroutine, the time stamps are
// the kernel's, and the CPU time of records delays the loop, where it is visible as send
// lag. Only handshakes, whose cryptography takes 100 to 1,000 times as long as a
// request's, run in goroutines of their own.
type securePoller struct {
	*poll.Poller
	transport Transport
	configs   []*tls.Config // by target
	lines     []*secureLine // by slot; nil: none
	leaving   time.Duration // when the first bytes of the last write left
	watches   bool          // the poller does not rest; see Wait
	shakes    sync.WaitGroup

	mu    sync.Mutex
	queue []event // of handshakes that ended, and of connections with an end to read
}

// secureLine is one TLS connection. It is the net.Conn below conn. During the handshake
// it belongs to the handshake's goroutine, and afterwards to the loop.
type secureLine struct {
	poller           *securePoller
	slot, generation int32
	shake            *handshake     // nil before and after
	shook            port.Handshake // once it has ended
	conn             *tls.Conn      // nil before the handshake has succeeded
	out              []byte         // records that the kernel did not accept yet
	came             time.Duration  // when the last bytes came
	dry              bool           // the kernel has no more bytes
	closing          bool           // the other side has ended, and no further event says so: read to the end
	answers          bool           // plaintext has come: what follows are no tickets of sessions
	end              outcome        // wouldBlock until the connection has ended
}

// mostPending is the maximum size of the records that wait for the kernel, in bytes. A
// connection has one record of a request, and the answers to key updates.
const mostPending = 64 << 10

// maxRecord is the maximum size of a record's plaintext in bytes (RFC 8446, 5.1). One
// write makes at most one record, so that what waits for the kernel is bounded.
const maxRecord = 16 << 10

func newSecurePoller(zero time.Time, targets []Target, t Transport, place poll.Place) (poller, error) {
	p, err := poll.New(zero, nil, place)
	if err != nil {
		return nil, err
	}
	s := &securePoller{Poller: p, transport: t}
	s.Move(targets)
	return s, nil
}

// Move keeps the configurations of known targets, for their sessions.
func (p *securePoller) Move(targets []Target) {
	p.Poller.Move(targets)
	for i := len(p.configs); i < len(targets); i++ {
		p.configs = append(p.configs, p.transport.Config(&targets[i]))
	}
}

// Wait does not rest any more once a record came in parts, or the kernel did not accept one
// whole: the other side waits for the loop then.
func (p *securePoller) Wait(events []event, until time.Duration, how port.Waiting) int {
	switch {
	case p.queued():
		until, how = 0, port.Roughly
	case how == port.Resting && p.watches:
		how = port.Exactly
	}
	n := p.Poller.Wait(events, until, how)
	for _, e := range events[:n] {
		l := p.lines[e.Slot]
		if l == nil || l.generation != e.Generation {
			continue
		}
		l.closing = l.closing || e.Ended
		if l.shake == nil && e.Writable {
			l.flush()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := copy(events[n:], p.queue)
	p.queue = append(p.queue[:0], p.queue[taken:]...)
	return n + taken
}

func (p *securePoller) queued() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) > 0
}

// later queues an event for the next wait.
func (p *securePoller) later(e event) {
	p.mu.Lock()
	p.queue = append(p.queue, e)
	p.mu.Unlock()
}

func (p *securePoller) Dial(slot, generation int32, target int) outcome {
	for int(slot) >= len(p.lines) {
		p.lines = append(p.lines, nil)
	}
	l := &secureLine{poller: p, slot: slot, generation: generation, end: wouldBlock}
	out := p.Poller.Dial(slot, generation, target)
	if out != succeeded && out != wouldBlock {
		return out
	}
	p.lines[slot] = l
	l.shake = newHandshake(p, p.configs[target])
	if out == succeeded {
		l.shake.start(l, p.File(slot))
	}
	return wouldBlock
}

func (p *securePoller) Dialed(slot int32) outcome {
	l := p.lines[slot]
	switch {
	case l == nil:
		return broken
	case l.shake == nil:
		return succeeded
	case !l.shake.started:
		if out := p.Poller.Dialed(slot); out != succeeded {
			return out
		}
		l.shake.start(l, p.File(slot))
		return wouldBlock
	}
	conn, err, done := l.shake.proceed()
	switch {
	case !done:
		return wouldBlock
	case err != nil:
		return p.refused(err)
	}
	l.shook, l.came, l.conn, l.shake = l.shake.times, p.Now(), conn, nil
	return succeeded
}

// refused is the outcome of a failed handshake. An Unfit service ends the trial.
func (p *securePoller) refused(err error) outcome {
	var unfit *Unfit
	if errors.As(err, &unfit) {
		p.Fail(unfit)
		return exhausted
	}
	return broken
}

func (p *securePoller) Shook(slot int32) port.Handshake { return p.lines[slot].shook }

func (p *securePoller) Left() time.Duration { return p.leaving }

// Write encrypts a record, and sends it. All of its bytes count as written, even if the
// kernel did not accept the whole record yet: the rest is sent before anything else.
func (p *securePoller) Write(slot int32, b []byte) (int, outcome) {
	l := p.lines[slot]
	p.leaving = 0
	switch {
	case l.flush() != nil:
		return 0, broken
	case len(l.out) > 0:
		return 0, wouldBlock
	}
	n, err := l.conn.Write(b[:min(len(b), maxRecord)])
	if err != nil {
		return 0, broken
	}
	return n, succeeded
}

// Read decrypts the available records.
func (p *securePoller) Read(slot int32, b []byte) (int, time.Duration, outcome) {
	l := p.lines[slot]
	n, before := 0, l.came
	for l.dry = false; n < len(b) && l.end == wouldBlock; {
		more, err := l.conn.Read(b[n:])
		n += more
		switch {
		case err == nil:
		case errors.Is(err, errAgain):
			if n == 0 {
				p.watches = p.watches || l.answers && l.came != before
				return 0, 0, wouldBlock
			}
			l.answers = true
			return n, l.came, succeeded
		default:
			l.end = p.ending(err)
			if n > 0 { // the loop reads the end after what came before
				p.later(event{Slot: slot, Generation: l.generation, Ended: true})
			}
		}
	}
	if n > 0 {
		l.answers = true
		return n, l.came, succeeded
	}
	return 0, l.came, l.end
}

// ending is the outcome of a read that failed. A service that requires a client
// certificate rejects a connection of TLS 1.3 after the client's handshake.
func (p *securePoller) ending(err error) outcome {
	if errors.Is(err, io.EOF) {
		return ended
	}
	return p.refused(p.transport.OrUnfit(err))
}

// Close ends a connection, with TLS's close_notify if it is orderly and the kernel
// accepts it at once.
func (p *securePoller) Close(slot int32, abruptly bool) {
	l := p.take(slot)
	switch {
	case l == nil:
	case l.shake != nil && l.shake.started && !l.shake.abandon(abruptly):
		p.Forget(slot) // the goroutine closes it
		return
	case l.conn != nil && !abruptly && len(l.out) == 0:
		_ = l.conn.CloseWrite()
	}
	p.Poller.Close(slot, abruptly)
}

func (p *securePoller) Part(slot int32) {
	p.take(slot)
	p.Poller.Part(slot)
}

// take removes a slot's connection.
func (p *securePoller) take(slot int32) *secureLine {
	if int(slot) >= len(p.lines) {
		return nil
	}
	l := p.lines[slot]
	p.lines[slot] = nil
	return l
}

func (p *securePoller) Release() {
	for slot := range p.lines {
		p.Close(int32(slot), true)
	}
	p.shakes.Wait()
	p.Poller.Release()
}

// again is the error of a read for which the loop has no bytes. crypto/tls keeps a
// partial record after a temporary error, and continues at the next call
// (Conn.readRecordOrCCS).
type again struct{}

func (again) Error() string   { return "no bytes have come" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

var (
	errAgain  error = again{}
	errBroken       = errors.New("the connection broke")
)

// Read gives crypto/tls the bytes that have come.
func (l *secureLine) Read(b []byte) (int, error) {
	if l.shake != nil {
		return l.shake.read(b)
	}
	if l.dry {
		return 0, errAgain
	}
	n, came, out := l.poller.Poller.Read(l.slot, b)
	switch out {
	case succeeded:
		l.came, l.dry = came, n < len(b) && !l.closing
		return n, nil
	case wouldBlock:
		l.dry = true
		return 0, errAgain
	case ended:
		return 0, io.EOF
	}
	return 0, errBroken
}

// Write sends a record, or keeps what the kernel does not accept.
func (l *secureLine) Write(b []byte) (int, error) {
	if l.shake != nil {
		return l.shake.write(b)
	}
	p, n := l.poller, 0
	if len(l.out) == 0 {
		if p.leaving == 0 {
			p.leaving = p.Now()
		}
		var out outcome
		if n, out = p.Poller.Write(l.slot, b); out == broken {
			return 0, errBroken
		}
	}
	if n < len(b) {
		if len(l.out)+len(b)-n > mostPending {
			return 0, errBroken
		}
		l.out = append(l.out, b[n:]...)
		p.watches = true
	}
	return len(b), nil
}

// flush sends what the kernel did not accept before.
func (l *secureLine) flush() error {
	for len(l.out) > 0 {
		n, out := l.poller.Poller.Write(l.slot, l.out)
		switch out {
		case succeeded:
			l.out = l.out[n:]
		case wouldBlock:
			return nil
		default:
			l.out = nil
			return errBroken
		}
	}
	l.out = nil
	return nil
}

func (l *secureLine) Close() error                     { return nil } // the poller closes
func (l *secureLine) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (l *secureLine) RemoteAddr() net.Addr             { return &net.TCPAddr{} } // names a session without a host name
func (l *secureLine) SetDeadline(time.Time) error      { return nil }
func (l *secureLine) SetReadDeadline(time.Time) error  { return nil }
func (l *secureLine) SetWriteDeadline(time.Time) error { return nil }
