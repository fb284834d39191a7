package conductor

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/conductor/dial"
	"github.com/millicore/millicore/internal/signals"
)

// stream is one that an agent has dialled.
type stream struct {
	net.Conn
	in    *bufio.Reader
	clock dial.Clock // known once it was claimed
	once  sync.Once
}

// Close closes the stream. It may be called again, and gives no error: that the
// other end could not be told any more is its matter.
func (s *stream) Close() error {
	s.once.Do(func() { s.Conn.Close() })
	return nil
}

func (s *stream) Read(b []byte) (int, error) { return s.in.Read(b) }

// Offset is what the clock at the other end stands ahead of this one's.
func (s *stream) Offset() time.Duration { return s.clock.Offset }

// Within is what Offset may be wrong by.
func (s *stream) Within() time.Duration { return s.clock.Within }

// Counters tells nothing: an agent's own frames hold what it used.
func (s *stream) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.New("an agent in a cluster counts for itself")
}

// Times of a stream that nobody has taken.
const (
	askEvery     = 10 * time.Second // much less than the silence that the other end bears
	answerWithin = 5 * time.Second
	asks         = 8 // of which the shortest round trip counts
)

// waiting is a stream that waits for its user. Its keeper asks for the time now
// and then, so that either end learns when the other is gone; whoever wants the
// stream stops the keeper first.
type waiting struct {
	stream *stream
	stop   chan struct{} // closed by whoever took it from its seat
	kept   chan struct{} // closed when the keeper has ended
	dead   bool          // the keeper found it dead; known when kept is closed
}

func newWaiting(s *stream) *waiting {
	return &waiting{stream: s, stop: make(chan struct{}), kept: make(chan struct{})}
}

// keep is the keeper. It returns false where the other end is gone.
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

// ask asks the other end for the time.
func (w *waiting) ask(times int) (dial.Clock, error) {
	if err := w.stream.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return dial.Clock{}, err
	}
	return dial.Ask(w.stream, times)
}

// claim makes the stream its user's; nil: it is dead, and closed.
func (w *waiting) claim() *stream {
	close(w.stop)
	<-w.kept
	s := w.stream
	ok := !w.dead
	if ok {
		var err error
		if s.clock, err = w.ask(asks); err == nil {
			err = dial.Go(s)
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

// dismiss tells the other end that the run is over, and closes the stream.
func (w *waiting) dismiss() {
	close(w.stop)
	<-w.kept
	if !w.dead && w.stream.SetDeadline(time.Now().Add(time.Second)) == nil {
		_ = dial.Over(w.stream) // one that cannot be told finds it out when it dials again
	}
	w.stream.Close()
}

// drop closes the stream without a word.
func (w *waiting) drop() {
	close(w.stop)
	w.stream.Close()
}
