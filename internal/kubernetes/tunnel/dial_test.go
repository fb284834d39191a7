package tunnel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// talk is a conductor's words, and what is answered to them.
type talk struct {
	io.Reader
	answers bytes.Buffer
}

func (t *talk) Write(b []byte) (int, error) { return t.answers.Write(b) }

func nothing() error { return nil }

func TestTimeIsShownUntilTheConductorStarts(t *testing.T) {
	now := int64(1_700_000_000_000_000_000)
	said := &talk{Reader: strings.NewReader("ppg{")}
	clock := func() time.Time { now++; return time.Unix(0, now) }
	if err := await(said, clock, nothing); err != nil {
		t.Fatal(err)
	}
	var want []byte
	want = binary.BigEndian.AppendUint64(want, 1_700_000_000_000_000_001)
	want = binary.BigEndian.AppendUint64(want, 1_700_000_000_000_000_002)
	if !bytes.Equal(said.answers.Bytes(), want) {
		t.Errorf("answered %x, want two times, %x", said.answers.Bytes(), want)
	}
	if left, _ := io.ReadAll(said); string(left) != "{" {
		t.Errorf("left %q of the stream, want what came behind the go", left)
	}
}

func TestOtherMessagesOfTheConductor(t *testing.T) {
	if err := await(&talk{Reader: strings.NewReader("po")}, time.Now, nothing); !errors.Is(err, ErrOver) {
		t.Errorf("%v, want that the run is over", err)
	}
	if err := await(&talk{Reader: strings.NewReader("x")}, time.Now, nothing); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("%v, want the word that is none", err)
	}
	if err := await(&talk{Reader: strings.NewReader("p")}, time.Now, nothing); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end", err)
	}
}

func TestTheClockOfOneRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name   string
		asked  int64
		trip   time.Duration
		answer uint64
		want   Clock
		fails  bool
	}{
		{"the same clock", 1000, 100, 1050, Clock{Offset: 0, Within: 50}, false},
		{"one that is ahead", 1000, 100, 6050, Clock{Offset: 5000, Within: 50}, false},
		{"one that is behind", 10_000, 101, 9000, Clock{Offset: -1050, Within: 51}, false},
		{"no time at all", 1000, 0, math.MaxUint64, Clock{}, true},
	} {
		got, err := clock(c.asked, c.trip, c.answer)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %+v (%v), want %+v", c.name, got, err, c.want)
		}
	}
}

// distant answers with a clock that is ahead, after delays there and back.
type distant struct {
	ahead       time.Duration
	there, back []time.Duration
	turn        int
	answer      bytes.Buffer
}

func (d *distant) Write(b []byte) (int, error) {
	time.Sleep(d.there[d.turn])
	d.answer.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(d.ahead).UnixNano())))
	return len(b), nil
}

func (d *distant) Read(b []byte) (int, error) {
	if d.answer.Len() == 8 {
		time.Sleep(d.back[d.turn])
		d.turn++
	}
	return d.answer.Read(b)
}

func TestTheShortestRoundTripCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ms := time.Millisecond
		d := &distant{ahead: time.Hour, there: []time.Duration{30 * ms, 2 * ms, 5 * ms}, back: []time.Duration{ms, 1 * ms, 50 * ms}}
		got, err := Ask(d, 3)
		want := Clock{Offset: time.Hour + ms/2, Within: 3 * ms / 2} // off by less than Within
		if err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	})
}

// Whatever a conductor says, its listener ends, and answers nothing but times.
func FuzzAwait(f *testing.F) {
	for _, seed := range []string{"", "g", "ppg", "po", "x", "pppppppp"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, words []byte) {
		said := &talk{Reader: bytes.NewReader(words)}
		err := await(said, func() time.Time { return time.Unix(0, 1) }, nothing)
		asked := len(words) - len(bytes.TrimLeft(words, "p"))
		if said.answers.Len() != 8*asked {
			t.Errorf("%q: answered %d bytes, want %d", words, said.answers.Len(), 8*asked)
		}
		if goes := asked < len(words) && words[asked] == 'g'; goes != (err == nil) {
			t.Errorf("%q: %v", words, err)
		}
	})
}

// Whatever is answered, the clock is one that can be reckoned with.
func FuzzAsk(f *testing.F) {
	f.Add([]byte("12345678"))
	f.Add(bytes.Repeat([]byte{0xff}, 16))
	f.Fuzz(func(t *testing.T, answers []byte) {
		c, err := Ask(&talk{Reader: bytes.NewReader(answers)}, 2)
		if len(answers) < 16 && err == nil {
			t.Errorf("%x is not two answers", answers)
		}
		if err == nil && (c.Within < 0 || c.Within > time.Minute) {
			t.Errorf("%x: %+v", answers, c)
		}
	})
}
