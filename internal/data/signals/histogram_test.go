package signals

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// drawn returns a histogram of random durations, and the library's of the same.
func drawn(random *rand.Rand, n int) (*Histogram, *hdrhistogram.Histogram) {
	own, library := NewHistogram(), hdrhistogram.New(LowestMicros, HighestMicros, Digits)
	scale := float64(time.Microsecond << random.IntN(27))
	for range n {
		d := time.Duration(random.ExpFloat64() * scale)
		own.Record(d)
		if err := library.RecordValue(min(max(d.Microseconds(), LowestMicros), HighestMicros)); err != nil {
			panic(err)
		}
	}
	return own, library
}

// A histogram has the same figures as HdrHistogram's library for the same durations.
func TestAHistogramMatchesTheLibrary(t *testing.T) {
	micros := func(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
	random := rand.New(rand.NewPCG(7, 7))
	for round := range 200 {
		own, library := drawn(random, random.IntN(3000))
		merged := NewHistogram()
		for range random.IntN(3) {
			another, beside := drawn(random, random.IntN(300))
			merged.Merge(another)
			library.Merge(beside)
		}
		merged.Merge(own)
		if merged.Count() != library.TotalCount() {
			t.Fatalf("round %d: %d durations, the library has %d", round, merged.Count(), library.TotalCount())
		}
		if merged.Count() == 0 {
			continue
		}
		for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1} {
			want := library.ValueAtQuantile(q * 100)
			if got := merged.Quantile(q); got != micros(want) {
				t.Errorf("round %d: quantile %v is %v, by the library %v", round, q, got, micros(want))
			}
		}
		if got, want := merged.Min(), micros(library.Min()); got != want {
			t.Errorf("round %d: lowest %v, by the library %v", round, got, want)
		}
		if got, want := merged.Max(), micros(library.Max()); got != want {
			t.Errorf("round %d: highest %v, by the library %v", round, got, want)
		}
		if got, want := merged.Mean(), time.Duration(library.Mean()*1e3); got != want {
			t.Errorf("round %d: mean %v, by the library %v", round, got, want)
		}
		if !merged.HDR().Equals(library) {
			t.Errorf("round %d: its copy in the library's form is not the library's histogram", round)
		}
		var bars []Bar
		for _, b := range library.Distribution() {
			if b.Count > 0 {
				bars = append(bars, Bar{b.From, b.To, b.Count})
			}
		}
		i := 0
		for b := range merged.Bars() {
			if i >= len(bars) || b != bars[i] {
				t.Fatalf("round %d: bar %d is %+v", round, i, b)
			}
			i++
		}
		if i != len(bars) {
			t.Errorf("round %d: %d bars, by the library %d", round, i, len(bars))
		}
	}
}

// The library reads what a histogram writes, and vice versa.
func TestHistogramsAndTheLibraryReadEachOther(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for round := range 100 {
		own, library := drawn(random, round*round/3)
		text, err := own.Encoded()
		if err != nil {
			t.Fatal(err)
		}
		read, err := hdrhistogram.Decode(text)
		if err != nil {
			t.Fatalf("round %d: the library reads: %v", round, err)
		}
		if !read.Equals(library) {
			t.Errorf("round %d: the library reads another histogram", round)
		}
		theirs, err := library.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal([]byte(`"`+string(theirs)+`"`), &back); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if !back.HDR().Equals(library) {
			t.Errorf("round %d: another histogram was read", round)
		}
	}
}

// A histogram of another range or precision is rejected, without allocation: with five
// digits over all of 63 bits a text of 64 letters would be 50 MB.
func TestAHistogramWithAnotherGeometryIsRefused(t *testing.T) {
	for _, foreign := range []*hdrhistogram.Histogram{
		hdrhistogram.New(1, int64(2*time.Hour/time.Microsecond), 3),
		hdrhistogram.New(LowestMicros, HighestMicros, 2),
		hdrhistogram.New(1, math.MaxInt64, 5),
	} {
		text, err := foreign.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Histogram).UnmarshalJSON([]byte(`"` + string(text) + `"`)); err == nil || !strings.Contains(err.Error(), "want 1 to 3600000000 µs with 3 digits") {
			t.Errorf("%v; want an error about the range", err)
		}
	}
}

// The encoding matches the histogram, also after an earlier encoding.
func TestTheEncodingFollowsTheHistogram(t *testing.T) {
	h, other := NewHistogram(), NewHistogram()
	other.Record(time.Second)
	for _, change := range []func(){
		func() {},
		func() { h.Record(time.Millisecond) },
		func() { h.Merge(other) },
		func() { h.Reset() },
		func() { h.Record(time.Hour) },
		func() { h.Record(2 * time.Hour) },
	} {
		change()
		text, err := h.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := back.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		if back.Count() != h.Count() || back.Max() != h.Max() || back.Min() != h.Min() {
			t.Errorf("%d of %v to %v are encoded as %d of %v to %v", h.Count(), h.Min(), h.Max(), back.Count(), back.Min(), back.Max())
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is encoded again as %s: %v", text, again, err)
		}
	}
}

// Line breaks in a text, which decoders ignore, do not end up in a frame.
func TestATextWithLineEnds(t *testing.T) {
	own, _ := drawn(rand.New(rand.NewPCG(3, 3)), 500)
	text, err := own.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	var back Histogram
	if err := back.UnmarshalJSON([]byte(`"` + string(text[:40]) + `\n` + string(text[40:]) + `"`)); err != nil {
		t.Fatal(err)
	}
	if again, err := back.Encoded(); err != nil || !bytes.Equal(again, text) {
		t.Errorf("%s is encoded again as %s: %v", text, again, err)
	}
}

// endsAtAMinute is from a record made when histograms ended at a minute: 100
// durations of 0 to 99 ms, 5 s, 59 s, and two beyond its range.
const endsAtAMinute = "HISTFAAAAGR4nJJpmSzMwMDwkAECmKE0I5gzuZ3B/gNUhOk0P9NZfqapHExP2ZkWsjB9ZIai5UxM3xmxoJWMTNVMlXhwNpM1kzWTLZgkj9ZlkmaSZZJFIknnf4xiarVksmYBBAAA//+uayk5"

// Its figures are the same as then.
func TestAHistogramUpToAMinuteIsReadAsBefore(t *testing.T) {
	const text = endsAtAMinute
	var h Histogram
	if err := h.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		t.Fatal(err)
	}
	if h.Count() != 104 || h.Beyond() != 0 || h.Quantile(0.5) != 51007*time.Microsecond || h.Quantile(0.99) != 60030975*time.Microsecond ||
		h.Max() != 60030975*time.Microsecond || h.Mean() != 1817091336*time.Nanosecond {
		t.Errorf("%d durations, %d beyond the range, p50 %v, p99 %v, highest %v, mean %v", h.Count(), h.Beyond(), h.Quantile(0.5), h.Quantile(0.99), h.Max(), h.Mean())
	}
	if again, err := h.Encoded(); err != nil || string(again) != text {
		t.Errorf("it is written as %s: %v", again, err)
	}
	whole := NewHistogram()
	whole.Record(75 * time.Second)
	whole.Merge(&h)
	encoded, err := whole.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	read, err := hdrhistogram.Decode(encoded)
	if err != nil || read.TotalCount() != 105 || read.Max() != int64(whole.Max()/time.Microsecond) || whole.Max() < 75*time.Second {
		t.Errorf("merged with one of 75s the library reads %v: %v", read, err)
	}
}

// Durations beyond the range are counted, also through the encoding and by the
// library, and their figures lie above the range.
func TestValuesBeyondTheRangeAreCounted(t *testing.T) {
	h := NewHistogram()
	for _, d := range []time.Duration{time.Second, time.Hour, 61 * time.Minute, 100 * time.Hour, 1<<63 - 1} {
		h.Record(d)
	}
	text, err := h.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back Histogram
	if err := back.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	back.Merge(h)
	library, err := hdrhistogram.Decode(text[1 : len(text)-1])
	if err != nil {
		t.Fatal(err)
	}
	if h.Beyond() != 3 || back.Beyond() != 6 || library.TotalCount() != 5 || library.Max() != int64(h.Max()/time.Microsecond) {
		t.Errorf("%d, then %d beyond the range; the library reads %d up to %d; want 3, 6, 5 up to %v", h.Beyond(), back.Beyond(), library.TotalCount(), library.Max(), h.Max())
	}
	for q, want := range map[float64]bool{0.2: false, 0.4: false, 0.6: true, 1: true} {
		if got := h.Quantile(q); IsBeyond(got) != want || got > 61*time.Minute {
			t.Errorf("quantile %v is %v; beyond the range: want %v", q, got, want)
		}
	}
	if h.Reset(); h.Beyond() != 0 || (*Histogram)(nil).Beyond() != 0 {
		t.Error("an empty histogram has durations beyond the range")
	}
}

// Decoding stops early if a text inflates to much more than a histogram.
func TestACompressionBombIsRefused(t *testing.T) {
	plain := NewHistogram().plain(nil)[:headerSize]
	long := 1 << 26
	binary.BigEndian.PutUint32(plain[4:], uint32(long))
	text := packedText(t, append(plain, make([]byte, long)...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := decode(text)
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("it was read")
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(long/2) {
		t.Errorf("%d bytes were taken for it", took)
	}
}

// Two durations are alike if the library has one bucket for them.
func TestAlike(t *testing.T) {
	library := hdrhistogram.New(LowestMicros, HighestMicros, Digits)
	random := rand.New(rand.NewPCG(4, 4))
	for range 10_000 {
		one := 1 + random.Int64N(1<<(1+random.IntN(25)))
		other := one + random.Int64N(20)
		if got, want := Alike(one, other), library.ValuesAreEquivalent(one, other); got != want {
			t.Errorf("%d and %d: %v, by the library %v", one, other, got, want)
		}
	}
}

// packedText is the text of an encoding with this content.
func packedText(tb testing.TB, plain []byte) string {
	tb.Helper()
	packed := bytes.NewBuffer(make([]byte, 8))
	z := zlib.NewWriter(packed)
	_, err := z.Write(plain)
	if err := errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	all := packed.Bytes()
	binary.BigEndian.PutUint32(all, packedCookie)
	binary.BigEndian.PutUint32(all[4:], uint32(len(all)-8))
	return base64.StdEncoding.EncodeToString(all)
}

// Counting after a reset allocates nothing.
func TestHistogramsAreReused(t *testing.T) {
	h := NewHistogram()
	h.Record(time.Second)
	if n := testing.AllocsPerRun(100, func() {
		h.Reset()
		h.Record(time.Millisecond)
		h.Record(time.Second)
	}); n != 0 {
		t.Errorf("%v allocations to count after a reset", n)
	}
}

func BenchmarkHistogram(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	own, library := NewHistogram(), hdrhistogram.New(LowestMicros, HighestMicros, Digits)
	for range 8000 {
		d := time.Duration(random.ExpFloat64() * float64(700*time.Microsecond))
		own.Record(d)
		_ = library.RecordValue(max(d.Microseconds(), LowestMicros)) // in its range
	}
	text, err := own.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			own.text = nil
			if _, err := own.Encoded(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode by the library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := library.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var h Histogram
			if err := h.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode by the library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hdrhistogram.Decode(text[1 : len(text)-1]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// For any text, reading fails or returns a histogram that the library reads equally.
func FuzzUnmarshal(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 9))
	for n := range 4 {
		own, _ := drawn(random, n*n*10)
		text, err := own.Encoded()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("")
	f.Add(endsAtAMinute)
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		var h Histogram
		ours := h.UnmarshalJSON(quoted)
		library, theirs := hdrhistogram.Decode([]byte(text))
		if theirs == nil && !readable(library) {
			library, theirs = nil, errors.New("not of a record")
		}
		if (ours == nil) != (theirs == nil) {
			t.Fatalf("here: %v; in the library: %v", ours, theirs)
		}
		if ours == nil && !alike(&h, library) {
			t.Errorf("%q is read otherwise than by the library", text)
		}
	})
}

// readable reports whether a histogram may be one of a record.
func readable(h *hdrhistogram.Histogram) bool {
	return h.SignificantFigures() == Digits && h.LowestTrackableValue() == LowestMicros &&
		(h.HighestTrackableValue() == HighestMicros || h.HighestTrackableValue() == int64(minuteMicros)) && h.TotalCount() <= mostCounted
}

// alike reports whether a histogram has the library's counts, in either range.
func alike(h *Histogram, library *hdrhistogram.Histogram) bool {
	theirs := library.Export().Counts
	for i := range max(len(theirs), len(h.counts)) {
		if i < len(theirs) && theirs[i] != 0 && (i >= len(h.counts) || h.counts[i] != theirs[i]) ||
			i < len(h.counts) && h.counts[i] != 0 && (i >= len(theirs) || h.counts[i] != theirs[i]) {
			return false
		}
	}
	return h.Count() == library.TotalCount()
}

// The same for counts with a valid length and checksum, whatever they are.
func FuzzCounts(f *testing.F) {
	f.Add([]byte{0})
	f.Add(appendZigzag(appendZigzag(nil, -(mostCounts-1)), 1<<62))
	f.Add(appendZigzag(appendZigzag(nil, -mostCounts), 1))
	f.Add(appendZigzag(nil, -1<<63))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	f.Add(appendZigzag(appendZigzag(nil, -(minuteCounts-1)), 1))
	f.Add(appendZigzag(appendZigzag(nil, -minuteCounts), 1))
	f.Fuzz(func(t *testing.T, counts []byte) {
		for _, highest := range []uint64{uint64(HighestMicros), minuteMicros} {
			plain := NewHistogram().plain(nil)[:headerSize]
			binary.BigEndian.PutUint32(plain[4:], uint32(len(counts)))
			binary.BigEndian.PutUint64(plain[24:], highest)
			text := packedText(t, append(plain, counts...))
			ours, err := decode(text)
			library, theirs := hdrhistogram.Decode([]byte(text))
			if theirs == nil && !readable(library) {
				theirs = errors.New("more than a record counts")
			}
			if (err == nil) != (theirs == nil) {
				t.Fatalf("here: %v; in the library: %v", err, theirs)
			}
			if err == nil && !alike(ours, library) {
				t.Errorf("%x are read otherwise than by the library", counts)
			}
		}
	})
}
