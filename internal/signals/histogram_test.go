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

// drawn is a histogram of random durations, and the library's of the same.
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

// What a histogram tells is what HdrHistogram's library tells of the same
// durations.
func TestAHistogramTellsWhatTheLibraryTells(t *testing.T) {
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

// The library reads what a histogram writes, and the other way round.
func TestTheLibraryReadsAHistogramAndTheOtherWayRound(t *testing.T) {
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

// A histogram of another range or precision is none of a record's, and costs
// nothing: with five digits over all of 63 bits a text of 64 letters would be
// 50 MB.
func TestAHistogramOfAnotherGeometryIsRefused(t *testing.T) {
	for _, foreign := range []*hdrhistogram.Histogram{
		hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3),
		hdrhistogram.New(LowestMicros, HighestMicros, 2),
		hdrhistogram.New(1, math.MaxInt64, 5),
	} {
		text, err := foreign.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Histogram).UnmarshalJSON([]byte(`"` + string(text) + `"`)); err == nil || !strings.Contains(err.Error(), "and not of 1 to 60000000 µs with 3") {
			t.Errorf("%v; want to be told of the geometry", err)
		}
	}
}

// What is told of a histogram is what it holds, also after it was told before.
func TestTheEncodingFollowsTheHistogram(t *testing.T) {
	h, other := NewHistogram(), NewHistogram()
	other.Record(time.Second)
	for _, change := range []func(){
		func() {},
		func() { h.Record(time.Millisecond) },
		func() { h.Merge(other) },
		func() { h.Reset() },
		func() { h.Record(time.Minute) },
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
			t.Errorf("%d of %v to %v are told as %d of %v to %v", h.Count(), h.Min(), h.Max(), back.Count(), back.Min(), back.Max())
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is told again as %s: %v", text, again, err)
		}
	}
}

// Line ends in a text, which decoders pass over, do not become a frame's.
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
		t.Errorf("%s is told again as %s: %v", text, again, err)
	}
}

// A text that inflates to much more than a histogram is given up before.
func TestABombIsNotInflated(t *testing.T) {
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

// Alike are those that fall into one bucket by the library.
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

// packedText is the text of what an encoding holds.
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

// Counting anew costs no memory.
func TestAnIntervalsHistogramIsUsedAgain(t *testing.T) {
	h := NewHistogram()
	h.Record(time.Second)
	if n := testing.AllocsPerRun(100, func() {
		h.Reset()
		h.Record(time.Millisecond)
		h.Record(time.Second)
	}); n != 0 {
		t.Errorf("%v allocations to count anew", n)
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

// Whatever text comes, reading it fails or gives a histogram that the library
// reads alike.
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
		if ours == nil && !h.HDR().Equals(library) {
			t.Errorf("%q is read otherwise than by the library", text)
		}
	})
}

// readable tells whether a histogram may be one of a record.
func readable(h *hdrhistogram.Histogram) bool {
	return h.SignificantFigures() == Digits && h.LowestTrackableValue() == LowestMicros &&
		h.HighestTrackableValue() == HighestMicros && h.TotalCount() <= mostCounted
}

// So do counts whose length and checksum are right, whatever they are.
func FuzzCounts(f *testing.F) {
	f.Add([]byte{0})
	f.Add(appendZigzag(appendZigzag(nil, -(mostCounts-1)), 1<<62))
	f.Add(appendZigzag(appendZigzag(nil, -mostCounts), 1))
	f.Add(appendZigzag(nil, -1<<63))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	f.Fuzz(func(t *testing.T, counts []byte) {
		plain := NewHistogram().plain(nil)[:headerSize]
		binary.BigEndian.PutUint32(plain[4:], uint32(len(counts)))
		text := packedText(t, append(plain, counts...))
		ours, err := decode(text)
		library, theirs := hdrhistogram.Decode([]byte(text))
		if theirs == nil && !readable(library) {
			theirs = errors.New("more than a record counts")
		}
		if (err == nil) != (theirs == nil) {
			t.Fatalf("here: %v; in the library: %v", err, theirs)
		}
		if err == nil && !ours.HDR().Equals(library) {
			t.Errorf("%x are read otherwise than by the library", counts)
		}
	})
}
