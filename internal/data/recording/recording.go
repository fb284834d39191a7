// Package recording has requests with the times at which they are due: what a replay sends, in
// memory and as the bytes that an agent receives. It is pure. Package accesslog makes one of a
// log.
package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Bounds of a recording, which is held in memory: by whoever reads it, and by each agent.
const (
	MostEntries  = 10_000_000
	MostRequests = 2_000_000 // different ones
	MostBytes    = 128 << 20 // of their paths together
)

// Recording is requests with their times. It is not changed once it is sent, so loops share it.
type Recording struct {
	Requests []Request       // different ones
	At       []time.Duration // from the begin of the load, each after the one before
	Of       []uint32        // the index of the request that is due then
}

// Request is a request of a recording.
type Request struct {
	Kind int    // index of the kind of request that has its method and headers
	Path string // with its query
}

// Add adds an entry. Of two at the same time the second one is due a nanosecond later, so that a
// time identifies its entry.
func (r *Recording) Add(at time.Duration, request uint32) {
	if n := len(r.At); n > 0 {
		at = max(at, r.At[n-1]+1)
	}
	r.At, r.Of = append(r.At, at), append(r.Of, request)
}

// Peak is the highest number of entries in one of the seconds after the first.
func (r *Recording) Peak() float64 {
	most, from := 0, 0
	for i, at := range r.At {
		if at/time.Second != r.At[from]/time.Second {
			from = i
		}
		most = max(most, i-from+1)
	}
	return float64(most)
}

// Encode writes a recording for Decode: counts, requests, and entries as the time since the one
// before in nanoseconds with the index of the request, all as unsigned varints, compressed.
func (r *Recording) Encode() []byte {
	var out bytes.Buffer
	packed, _ := flate.NewWriter(&out, flate.BestSpeed) // the level is valid
	w := bufio.NewWriter(packed)
	var b []byte
	put := func(all ...uint64) {
		b = b[:0]
		for _, v := range all {
			b = binary.AppendUvarint(b, v)
		}
		w.Write(b) // to a buffer
	}
	put(uint64(len(r.Requests)), uint64(len(r.At)))
	for _, q := range r.Requests {
		put(uint64(q.Kind), uint64(len(q.Path)))
		w.WriteString(q.Path)
	}
	last := time.Duration(0)
	for i, at := range r.At {
		put(uint64(at-last), uint64(r.Of[i]))
		last = at
	}
	w.Flush()
	packed.Close()
	return out.Bytes()
}

// Decode reads what Encode wrote, of so many kinds of requests.
func Decode(data []byte, kinds int) (*Recording, error) {
	in := bufio.NewReader(flate.NewReader(bytes.NewReader(data)))
	var failed error
	next := func(most uint64) uint64 {
		v, err := binary.ReadUvarint(in)
		if err == nil && v > most {
			err = fmt.Errorf("%d is above %d", v, most)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			return 0
		}
		return v
	}
	r := &Recording{}
	requests, entries := next(MostRequests), next(MostEntries)
	left := uint64(MostBytes)
	for range requests {
		kind, length := next(uint64(kinds-1)), next(left)
		left -= length
		path := make([]byte, length)
		if _, err := io.ReadFull(in, path); err != nil {
			failed = cmp.Or(failed, err)
		}
		if failed != nil {
			break
		}
		r.Requests = append(r.Requests, Request{Kind: int(kind), Path: string(path)})
	}
	last := time.Duration(0)
	for i := uint64(0); i < entries && failed == nil; i++ {
		last += time.Duration(next(1 << 62))
		if last < 0 || requests == 0 {
			failed = cmp.Or(failed, errors.New("no such time or request"))
			break
		}
		r.Add(last, uint32(next(requests-1)))
	}
	if failed != nil {
		return nil, fmt.Errorf("recording: %w", failed)
	}
	return r, nil
}

// Share is a share of the entries of a recording: i, i+n, i+2n, … of share i of n.
type Share struct {
	r          *Recording
	next, step int // entries
	found      int // the entry that Find expects
	began      time.Duration
}

// ShareOf returns share i of n, of a replay that begins at a time of the caller's clock.
func (r *Recording) ShareOf(i, n int, began time.Duration) *Share {
	return &Share{r: r, next: i, step: n, found: i, began: began}
}

// Next is when the next entry is due, from the begin; false: there is none.
func (s *Share) Next() (time.Duration, bool) {
	if s.next >= len(s.r.At) {
		return 0, false
	}
	at := s.r.At[s.next]
	s.next += s.step
	return at, true
}

// Find is the request that is due at a time of the caller's clock. Calls in the order of Next
// are the fastest.
func (s *Share) Find(due time.Duration) Request {
	at := due - s.began
	i := s.found
	if i >= len(s.r.At) || s.r.At[i] != at {
		i, _ = slices.BinarySearch(s.r.At, at)
	}
	s.found = i + s.step
	return s.r.Requests[s.r.Of[i]]
}
