package signals

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// The HdrHistogram V2 encoding is a header and the counts up to the last one that is
// not zero, each as a zigzag LEB128 number of at most 9 bytes. Several zeros in a row
// are one negative number. The compressed form is a cookie, a length, and this encoding
// compressed by zlib. All numbers are big-endian (HdrHistogram,
// EncodableHistogram.java).
const (
	packedCookie = 0x1c849304 | 0x10
	cookie       = 0x1c849303 | 0x10
	headerSize   = 40
)

// encoder holds the buffers of one encoding.
type encoder struct {
	plain  []byte
	packed bytes.Buffer
	zlib   *zlib.Writer
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.zlib = zlib.NewWriter(&e.packed)
	return e
}}

// Encoded returns the base64 text of the HdrHistogram V2 compressed encoding. Callers
// must not modify it. It is cached until the histogram changes, because a record holds
// it in two files, and a conductor forwards thousands per second that it only reads.
func (h *Histogram) Encoded() ([]byte, error) {
	if h.text != nil {
		return h.text, nil
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.plain = h.plain(e.plain[:0])
	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	e.zlib.Reset(&e.packed)
	_, err := e.zlib.Write(e.plain)
	if err := errors.Join(err, e.zlib.Close()); err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	all := e.packed.Bytes()
	binary.BigEndian.PutUint32(all, packedCookie)
	binary.BigEndian.PutUint32(all[4:], uint32(len(all)-8))
	h.text = base64.StdEncoding.AppendEncode(nil, all)
	return h.text, nil
}

// plain appends the encoding without compression to b, which is empty.
func (h *Histogram) plain(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, cookie)
	b = binary.BigEndian.AppendUint32(b, 0) // the length of the counts, set below
	b = binary.BigEndian.AppendUint32(b, 0) // the index is not shifted
	b = binary.BigEndian.AppendUint32(b, Digits)
	b = binary.BigEndian.AppendUint64(b, LowestMicros)
	b = binary.BigEndian.AppendUint64(b, uint64(HighestMicros))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1)) // values are not scaled
	zeros := int64(0)
	for _, n := range h.counts[:h.used()] {
		if n == 0 {
			zeros++
			continue
		}
		switch zeros {
		case 0:
		case 1:
			b = appendZigzag(b, 0)
		default:
			b = appendZigzag(b, -zeros)
		}
		zeros = 0
		b = appendZigzag(b, n)
	}
	if len(b) == headerSize {
		b = appendZigzag(b, 0) // as other libraries write an empty one
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-headerSize))
	return b
}

// appendZigzag appends a number in the form of HdrHistogram's ZigZagEncoding: a varint
// whose ninth byte has eight bits.
func appendZigzag(b []byte, n int64) []byte {
	u := uint64(n<<1) ^ uint64(n>>63)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

// zigzag reads such a number and returns its length; 0 if it is cut off.
func zigzag(b []byte) (n int64, size int) {
	u := uint64(0)
	for i := 0; i < len(b) && i < 9; i++ {
		if i == 8 || b[i] < 0x80 {
			u |= uint64(b[i]) << (7 * i)
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
		u |= uint64(b[i]&0x7f) << (7 * i)
	}
	return 0, 0
}

// MarshalJSON returns the base64 text, also of an empty histogram: an empty histogram
// means that nothing happened, and null that nothing was measured.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	text, err := h.Encoded()
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(text)+2), '"')
	return append(append(b, text...), '"'), nil // base64 has nothing to escape
}

// UnmarshalJSON reads the output of MarshalJSON, or of another library with the same
// range and precision.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	own, err := decode(text)
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	*h = *own
	return nil
}

// decoder holds the buffers of one decoding.
type decoder struct {
	packed []byte
	source bytes.Reader
	zlib   io.ReadCloser // nil before the first use
	plain  bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return &decoder{} }}

// decode reads a histogram.
func decode(text string) (*Histogram, error) {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	var err error
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], []byte(text)); err != nil {
		return nil, err
	}
	most, err := d.inflate()
	if err != nil {
		return nil, err
	}
	h, err := counted(d.plain.Bytes()[headerSize:], most)
	if err != nil {
		return nil, err
	}
	if len(text) == base64.StdEncoding.EncodedLen(len(d.packed)) { // without line breaks, which a decoder ignores
		h.text = []byte(text)
	}
	return h, nil
}

// mostPlain is the largest size after decompression.
const mostPlain = headerSize + 9*mostCounts

// In older records the range ends at a minute. They have the same buckets, but fewer.
const (
	minuteMicros = uint64(time.Minute / time.Microsecond)
	minuteCounts = 17 * half
)

// inflate fills plain with a header, which it validates, and the counts. It returns how
// many buckets the header allows.
func (d *decoder) inflate() (most int, err error) {
	if len(d.packed) < 8 {
		return 0, fmt.Errorf("it ends after %d bytes", len(d.packed))
	}
	length := binary.BigEndian.Uint32(d.packed[4:])
	switch packed := d.packed[8:]; {
	case binary.BigEndian.Uint32(d.packed)&^0xf0 != packedCookie&^0xf0:
		return 0, errors.New("it is not in HdrHistogram's compressed V2 encoding")
	case uint64(length) > uint64(len(packed)):
		return 0, fmt.Errorf("it has %d bytes of %d", len(packed), length)
	default:
		d.source.Reset(packed[:length])
	}
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(&d.source)
	} else {
		err = d.zlib.(zlib.Resetter).Reset(&d.source, nil)
	}
	if err != nil {
		return 0, err
	}
	d.plain.Reset()
	if _, err := d.plain.ReadFrom(io.LimitReader(d.zlib, mostPlain+1)); err != nil {
		return 0, err
	}
	b := d.plain.Bytes()
	if len(b) < headerSize {
		return 0, fmt.Errorf("its header ends after %d bytes", len(b))
	}
	length = binary.BigEndian.Uint32(b[4:])
	digits, lowest, highest := binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:])
	switch {
	case binary.BigEndian.Uint32(b)&^0xf0 != cookie&^0xf0:
		return 0, errors.New("its uncompressed form is not in HdrHistogram's V2 encoding")
	case digits != Digits, lowest != LowestMicros, highest != uint64(HighestMicros) && highest != minuteMicros:
		return 0, fmt.Errorf("its range is %d to %d µs with %d digits, want %d to %d µs with %d digits", lowest, highest, digits, LowestMicros, HighestMicros, Digits)
	case uint64(length) != uint64(len(b)-headerSize):
		return 0, fmt.Errorf("its counts have %d bytes, but its header says %d", len(b)-headerSize, length)
	case highest == minuteMicros:
		return minuteCounts, nil
	}
	return mostCounts, nil
}

// mostCounted is more than any run counts: a million per second for nine years. Sums of
// such histograms stay far below 63 bits.
const mostCounted = 1 << 48

// counted reads the counts of at most most buckets.
func counted(b []byte, most int) (*Histogram, error) {
	h := &Histogram{counts: make([]int64, bucketsIn(b, most))}
	for at := 0; len(b) > 0; {
		n, size := zigzag(b)
		if size == 0 {
			return nil, errors.New("its last count is cut off")
		}
		b = b[size:]
		switch {
		case n < 0 && n >= int64(at-most):
			at -= int(n)
		case n < 0 || at >= most:
			return nil, fmt.Errorf("it has more than the %d buckets of its range", most)
		case n > mostCounted-h.total:
			return nil, fmt.Errorf("its total is above %d", int64(mostCounted))
		default:
			h.counts[at] = n
			h.total += n
			at++
		}
	}
	return h, nil
}

// bucketsIn returns how many buckets the encoded counts need: at most most, even if they
// are invalid.
func bucketsIn(b []byte, most int) (buckets int) {
	for len(b) > 0 {
		n, size := zigzag(b)
		if size == 0 {
			break
		}
		b = b[size:]
		switch {
		case n < int64(buckets-most):
			return most
		case n < 0:
			buckets -= int(n)
		default:
			buckets++
		}
	}
	return min(buckets, most)
}
