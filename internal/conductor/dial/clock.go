package dial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// The conductor's words on a new stream.
const (
	tell = 'p'
	goes = 'g'
	over = 'o'
)

// await answers the conductor's questions for the time until it says go. before
// is called before each word is read.
func await(rw io.ReadWriter, now func() time.Time, before func() error) error {
	var word [1]byte
	for {
		if err := before(); err != nil {
			return err
		}
		if _, err := io.ReadFull(rw, word[:]); err != nil {
			return fmt.Errorf("wait for the conductor: %w", err)
		}
		switch word[0] {
		case tell:
			if _, err := rw.Write(binary.BigEndian.AppendUint64(nil, uint64(now().UnixNano()))); err != nil {
				return fmt.Errorf("tell the conductor the time: %w", err)
			}
		case goes:
			return nil
		case over:
			return ErrOver
		default:
			return fmt.Errorf("wait for the conductor: it says %q, which is no word of this protocol; are both of one version?", word)
		}
	}
}

// Clock is how far the other side's wall clock stands ahead of this one's.
type Clock struct {
	Offset time.Duration // its clock minus this one's
	Within time.Duration // what Offset may be wrong by: half of the round trip
}

// Ask asks the other side for the time, the given number of times, and gives
// what the shortest round trip tells: the answer was stamped somewhere within it
// (Cristian, Probabilistic clock synchronization, 1989).
func Ask(rw io.ReadWriter, times int) (Clock, error) {
	var best Clock
	for i := range times {
		asked := time.Now()
		if _, err := rw.Write([]byte{tell}); err != nil {
			return Clock{}, fmt.Errorf("ask for the time: %w", err)
		}
		var answer [8]byte
		if _, err := io.ReadFull(rw, answer[:]); err != nil {
			return Clock{}, fmt.Errorf("ask for the time: %w", err)
		}
		trip := time.Since(asked)
		one, err := clock(asked.UnixNano(), trip, binary.BigEndian.Uint64(answer[:]))
		if err != nil {
			return Clock{}, err
		}
		if i == 0 || one.Within < best.Within {
			best = one
		}
	}
	return best, nil
}

// clock is what one round trip tells, which began at a moment and was answered
// with another clock's; both are in nanoseconds since 1970.
func clock(asked int64, trip time.Duration, answer uint64) (Clock, error) {
	theirs := int64(answer)
	if theirs < 0 || asked < 0 {
		return Clock{}, errors.New("ask for the time: the answer lies before 1970")
	}
	return Clock{Offset: time.Duration(theirs - asked - int64(trip/2)), Within: trip - trip/2}, nil
}

// Go gives a stream to its users on both sides.
func Go(w io.Writer) error {
	_, err := w.Write([]byte{goes})
	return err
}

// Over tells the other side that the run has ended.
func Over(w io.Writer) error {
	_, err := w.Write([]byte{over})
	return err
}
