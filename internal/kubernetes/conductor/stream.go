package conductor

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// stream is the connection of an agent.
type stream struct {
	net.Conn
	in    *bufio.Reader
	clock tunnel.Clock // known once it was claimed
	once  sync.Once
}

// Close closes the stream. It may be called again. It never returns an error: the
// other end detects that the stream has ended.
func (s *stream) Close() error {
	s.once.Do(func() { s.Conn.Close() })
	return nil
}

func (s *stream) Read(b []byte) (int, error) { return s.in.Read(b) }

// Offset is the clock at the other end minus this machine's.
func (s *stream) Offset() time.Duration { return s.clock.Offset }

// Within bounds the error of Offset.
func (s *stream) Within() time.Duration { return s.clock.Within }

// Counters always fails: an agent's own frames have its CPU use.
func (s *stream) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.New("agents in a cluster report their own counters")
}

// Times of a stream that was not taken yet.
const (
	askEvery     = 10 * time.Second // much less than the other end's limit of silence
	answerWithin = 5 * time.Second
	asks         = 8 // the shortest round trip counts
)

// waiting is a stream that waits for its user. Its keeper requests the time
// regularly, so that each end detects the loss of the other. A user stops the
// keeper first.
type waiting struct {
	stream *stream
	stop   chan struct{} // closed when the stream was taken from its seat
	kept   chan struct{} // closed when the keeper has ended
	dead   bool          // the keeper found it dead; known when kept is closed
}

func newWaiting(s *stream) *waiting {
	return &waiting{stream: s, stop: make(chan struct{}), kept: make(chan struct{})}
}

// keep is the keeper. It returns false if the other end is gone.
func (w *waiting) keep(every time.Duration) bool {
	defer close(w.kept)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return true
		case <-tick.C:
			if _, err := w.ask(1); err != nil {
				w.dead = true
				return false
			}
		}
	}
}

// ask requests the time from the other end.
func (w *waiting) ask(times int) (tunnel.Clock, error) {
	if err := w.stream.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return tunnel.Clock{}, err
	}
	return tunnel.Ask(w.stream, times)
}

// claim returns the stream for its user, or nil if it was dead; then it is closed.
func (w *waiting) claim() *stream {
	close(w.stop)
	<-w.kept
	s := w.stream
	ok := !w.dead
	if ok {
		var err error
		if s.clock, err = w.ask(asks); err == nil {
			err = tunnel.Go(s)
		}
		if err == nil {
			err = s.SetDeadline(time.Time{})
		}
		ok = err == nil
	}
	if !ok {
		s.Close()
		return nil
	}
	return s
}

// dismiss notifies the other end that the run is over, and closes the stream.
func (w *waiting) dismiss() {
	close(w.stop)
	<-w.kept
	if !w.dead && w.stream.SetDeadline(time.Now().Add(time.Second)) == nil {
		_ = tunnel.Over(w.stream) // otherwise the other end learns it when it connects again
	}
	w.stream.Close()
}

// drop closes the stream without a notification.
func (w *waiting) drop() {
	close(w.stop)
	w.stream.Close()
}
