package signals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of every histogram in a record: 1 us to 60 s with
// three significant digits. One geometry everywhere makes merging exact.
const (
	LowestMicros  = 1
	HighestMicros = int64(60 * time.Second / time.Microsecond)
	Digits        = 3
)

// Histogram counts durations in microseconds. Its JSON form is the base64 text
// of the HdrHistogram V2 compressed encoding, which every HdrHistogram library
// reads. Histograms of several agents, intervals and trials are merged;
// percentiles are never averaged.
//
// A Histogram is not safe for use by several goroutines.
type Histogram struct {
	hdr     *hdrhistogram.Histogram
	clamped int64  // values above the range, counted as the highest
	text    []byte // its encoding; nil: not known since it changed
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(LowestMicros, HighestMicros, Digits)}
}

// Record counts one duration. Below a microsecond it counts as one microsecond,
// above the range as the highest value: nothing is dropped, since what is
// dropped is always the tail. It does not allocate.
func (h *Histogram) Record(d time.Duration) {
	h.text = nil
	us := int64(d / time.Microsecond)
	if us < LowestMicros {
		us = LowestMicros
	}
	if us > HighestMicros {
		us = HighestMicros
		h.clamped++
	}
	// The value lies within the range, so the only error that the library
	// knows cannot occur.
	_ = h.hdr.RecordValue(us)
}

// Merge adds all counts of other, which may be nil.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil {
		return
	}
	h.text = nil
	h.hdr.Merge(other.hdr)
	h.clamped += other.clamped
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	h.hdr.Reset()
	h.clamped, h.text = 0, nil
}

// Count returns how many durations were recorded; 0 for nil.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.hdr.TotalCount()
}

// Quantile returns the duration at quantile q in 0..1: the highest duration
// that the histogram cannot tell from the one at that rank, as HdrHistogram
// defines it. It returns 0 where nothing was recorded.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.ValueAtQuantile(q*100)) * time.Microsecond
}

// Above returns how many durations lie above d, to the histogram's precision;
// 0 for nil.
func (h *Histogram) Above(d time.Duration) int64 {
	if h.Count() == 0 {
		return 0
	}
	var n int64
	for _, bar := range h.hdr.Distribution() {
		if bar.From > int64(d/time.Microsecond) {
			n += bar.Count
		}
	}
	return n
}

// Max returns the highest duration recorded, to the histogram's precision.
func (h *Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Max()) * time.Microsecond
}

// Mean returns the mean duration, to the histogram's precision.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Mean() * float64(time.Microsecond))
}

// HDR returns the histogram below, in microseconds, for writers of the
// HdrHistogram formats. The caller must not change it.
func (h *Histogram) HDR() *hdrhistogram.Histogram { return h.hdr }

// Encoded is the base64 text of the HdrHistogram V2 compressed encoding. It is
// kept until the histogram changes: a record holds it in two files, and a
// conductor passes on thousands a second that it has only read.
func (h *Histogram) Encoded() ([]byte, error) {
	if h.text == nil {
		text, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, fmt.Errorf("encode histogram: %w", err)
		}
		h.text = text
	}
	return h.text, nil
}

// MarshalJSON gives the base64 text; an empty histogram is written too, so
// that "nothing was seen" and "nothing was measured" (null) stay apart.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	text, err := h.Encoded()
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte{'"'}, text, []byte{'"'}), nil // base64 has nothing to escape
}

// UnmarshalJSON reads what MarshalJSON wrote. A histogram of another range or
// precision is merged value by value into this one's geometry.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if decoded.LowestTrackableValue() == LowestMicros && decoded.HighestTrackableValue() == HighestMicros && decoded.SignificantFigures() == Digits {
		h.hdr, h.clamped, h.text = decoded, 0, nil
		if !strings.ContainsAny(text, "\r\n") { // which a decoder of base64 passes over
			h.text = []byte(text)
		}
		return nil
	}
	own := NewHistogram()
	own.clamped = own.hdr.Merge(decoded)
	h.hdr, h.clamped, h.text = own.hdr, own.clamped, nil
	return nil
}
