package h2

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// The bodies of requests that wait for a slow service are no answers to its frames.
func TestBodiesThatWaitAreNoBreach(t *testing.T) {
	c := New(newAnswers())
	f := newFrames(http2.Setting{ID: http2.SettingInitialWindowSize, Val: largestWindow})
	f.WriteWindowUpdate(0, largestWindow-firstWindow)
	if err := f.take(c); err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("b"), 1<<20)
	for key := range int32(8) {
		c.Data(request(t, c, key, "POST / HTTP/1.1", string(body)), body)
	}
	f.WritePing(false, [8]byte{})
	if err := f.take(c); err != nil {
		t.Errorf("with %d bytes of bodies to write: %v", len(c.Out()), err)
	}
}

// What has left takes no memory, also where there is always more to write.
func TestWhatHasLeftIsForgotten(t *testing.T) {
	c := New(newAnswers())
	f := newFrames()
	if err := f.take(c); err != nil {
		t.Fatal(err)
	}
	for range 1 << 16 {
		f.WritePing(false, [8]byte{})
		if err := f.take(c); err != nil {
			t.Fatal(err)
		}
		c.Wrote(len(c.Out()) - 1)
	}
	if len(c.out) > 1<<16 {
		t.Errorf("1 byte waits, in a buffer of %d", len(c.out))
	}
}

// A block of 64 KiB that names one long field again and again costs no more than its size.
func BenchmarkManyReferences(b *testing.B) {
	got := newAnswers()
	c := New(got)
	f := newFrames()
	request(b, c, 1, "GET / HTTP/1.1", "")
	long := "x" + strings.Repeat("y", 3900)
	block := f.fields(long + " v")
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true})
	if err := f.take(c); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		request(b, c, 2, "GET / HTTP/1.1", "")
		refs := bytes.Repeat([]byte{0x80 | 62}, 1<<14)
		f.WriteRawFrame(http2.FrameHeaders, 0, c.next-2, refs)
		for i := range 3 {
			flags := http2.Flags(0)
			if i == 2 {
				flags = http2.FlagContinuationEndHeaders
			}
			f.WriteRawFrame(http2.FrameContinuation, flags, c.next-2, refs)
		}
		if err := f.take(c); err != nil {
			b.Fatal(err)
		}
		c.Wrote(len(c.Out()))
		delete(got.ended, 2)
	}
}
