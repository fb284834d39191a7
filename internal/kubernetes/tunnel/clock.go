package tunnel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// The conductor's commands on a new stream.
const (
	ping = 'p'
	goes = 'g'
	over = 'o'
)

// await answers the conductor's requests for the time until it sends go. It calls
// before before it reads each command.
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
		case ping:
			if _, err := rw.Write(binary.BigEndian.AppendUint64(nil, uint64(now().UnixNano()))); err != nil {
				return fmt.Errorf("send the time to the conductor: %w", err)
			}
		case goes:
			return nil
		case over:
			return ErrOver
		default:
			return fmt.Errorf("wait for the conductor: it sent %q, which is not in this protocol; use the same version of Millicore on both sides", word)
		}
	}
}

// Clock is the difference of the other side's wall clock.
type Clock struct {
	Offset time.Duration // its clock minus this one's
	Within time.Duration // bound of the error of Offset: half of the round trip
}

// Ask requests the time from the other side, the given number of times, and returns
// the result of the shortest round trip: the answer was stamped within it
// (Cristian, Probabilistic clock synchronization, 1989).
func Ask(rw io.ReadWriter, times int) (Clock, error) {
	var best Clock
	for i := range times {
		asked := time.Now()
		if _, err := rw.Write([]byte{ping}); err != nil {
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

// clock computes the result of one round trip from its begin, its length and the
// other clock's answer. Times are in nanoseconds since 1970.
func clock(asked int64, trip time.Duration, answer uint64) (Clock, error) {
	theirs := int64(answer)
	if theirs < 0 || asked < 0 {
		return Clock{}, errors.New("ask for the time: the answer is before 1970")
	}
	return Clock{Offset: time.Duration(theirs - asked - int64(trip/2)), Within: trip - trip/2}, nil
}

// Go hands a stream over to its users on both sides.
func Go(w io.Writer) error {
	_, err := w.Write([]byte{goes})
	return err
}

// Over notifies the other side that the run has ended.
func Over(w io.Writer) error {
	_, err := w.Write([]byte{over})
	return err
}
