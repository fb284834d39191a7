package h2

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames are frames of a service.
type frames struct {
	bytes.Buffer
	*http2.Framer
	block bytes.Buffer
	heads *hpack.Encoder
}

func newFrames(settings ...http2.Setting) *frames {
	f := &frames{}
	f.Framer = http2.NewFramer(&f.Buffer, nil)
	f.AllowIllegalWrites = true
	f.heads = hpack.NewEncoder(&f.block)
	f.WriteSettings(settings...)
	return f
}

// head writes the fields of an answer, "name value", as HEADERS.
func (f *frames) head(stream uint32, last bool, fields ...string) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: f.fields(fields...), EndHeaders: true, EndStream: last})
}

func (f *frames) fields(fields ...string) []byte {
	f.block.Reset()
	for _, field := range fields {
		name, value, _ := strings.Cut(field, " ")
		f.heads.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	return bytes.Clone(f.block.Bytes())
}

// take gives the frames to a connection, byte by byte if they are few.
func (f *frames) take(c *Conn) (err error) {
	step := 1
	if f.Len() > 1<<12 {
		step = 1 << 12
	}
	for f.Len() > 0 && err == nil {
		err = c.Receive(f.Next(step))
	}
	return err
}

// codeOf is the error code of the GOAWAY at the end of what a connection sends.
func codeOf(c *Conn) uint32 { return word(c.Out()[len(c.Out())-4:]) }

// Each breach of the protocol that concerns the connection ends it, with the code of RFC 9113.
func TestBreachesOfTheConnection(t *testing.T) {
	long := bytes.Repeat([]byte("x"), smallestMaxFrameSize+1)
	for name, x := range map[string]struct {
		write func(*frames)
		code  uint32
	}{
		"DATA of no request":        {func(f *frames) { f.WriteData(99, false, nil) }, codeProtocol},
		"HEADERS of an even stream": {func(f *frames) { f.head(2, true, ":status 200") }, codeProtocol},
		"HEADERS of stream 0":       {func(f *frames) { f.head(0, true, ":status 200") }, codeProtocol},
		"a frame that is too large": {func(f *frames) { f.WriteData(1, false, long) }, codeFrameSize},
		"padding that is too long":  {func(f *frames) { f.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{3, 0, 0}) }, codeProtocol},
		"padding without a length":  {func(f *frames) { f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded, 1, nil) }, codeProtocol},
		"a priority that is cut":    {func(f *frames) { f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPriority, 1, []byte{0}) }, codeFrameSize},
		"HPACK that is none": {func(f *frames) {
			f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		}, codeCompression},
		"HPACK that is cut": {func(f *frames) {
			f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte{0, 5, 'a'})
		}, codeCompression},
		"CONTINUATION alone":            {func(f *frames) { f.WriteContinuation(1, true, nil) }, codeProtocol},
		"a frame within a block":        {func(f *frames) { f.WriteRawFrame(http2.FrameHeaders, 0, 1, nil); f.WritePing(false, [8]byte{}) }, codeProtocol},
		"CONTINUATION of another block": {func(f *frames) { f.WriteRawFrame(http2.FrameHeaders, 0, 1, nil); f.WriteContinuation(3, true, nil) }, codeProtocol},
		"a block without an end": {func(f *frames) {
			f.WriteRawFrame(http2.FrameHeaders, 0, 1, nil)
			for range 5 {
				f.WriteContinuation(1, false, long[1:])
			}
		}, codeCalm},
		"empty CONTINUATION frames":     {func(f *frames) { f.WriteRawFrame(http2.FrameHeaders, 0, 1, nil); f.WriteContinuation(1, false, nil) }, codeCalm},
		"RST_STREAM of no request":      {func(f *frames) { f.WriteRSTStream(99, 0) }, codeProtocol},
		"RST_STREAM that is cut":        {func(f *frames) { f.WriteRawFrame(http2.FrameRSTStream, 0, 1, []byte{0}) }, codeFrameSize},
		"SETTINGS of a stream":          {func(f *frames) { f.WriteRawFrame(http2.FrameSettings, 0, 1, nil) }, codeProtocol},
		"SETTINGS that are cut":         {func(f *frames) { f.WriteRawFrame(http2.FrameSettings, 0, 0, []byte{0}) }, codeFrameSize},
		"an acknowledgement with bytes": {func(f *frames) { f.WriteRawFrame(http2.FrameSettings, http2.FlagSettingsAck, 0, make([]byte, 6)) }, codeFrameSize},
		"frames of no size":             {func(f *frames) { f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }, codeProtocol},
		"frames of any size":            {func(f *frames) { f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 24}) }, codeProtocol},
		"a window that is too large":    {func(f *frames) { f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31}) }, codeFlowControl},
		"push by a server":              {func(f *frames) { f.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 1}) }, codeProtocol},
		"a window that overflows": {func(f *frames) {
			f.WriteWindowUpdate(1, largestWindow-firstWindow)
			f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: firstWindow + 1})
		}, codeFlowControl},
		"the connection's window overflows": {func(f *frames) { f.WriteWindowUpdate(0, largestWindow) }, codeFlowControl},
		"WINDOW_UPDATE by 0":                {func(f *frames) { f.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4)) }, codeProtocol},
		"WINDOW_UPDATE of no request":       {func(f *frames) { f.WriteWindowUpdate(99, 1) }, codeProtocol},
		"WINDOW_UPDATE that is cut":         {func(f *frames) { f.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, nil) }, codeFrameSize},
		"PUSH_PROMISE":                      {func(f *frames) { f.WriteRawFrame(http2.FramePushPromise, 0, 1, make([]byte, 4)) }, codeProtocol},
		"PING of 7 bytes":                   {func(f *frames) { f.WriteRawFrame(http2.FramePing, 0, 0, make([]byte, 7)) }, codeFrameSize},
		"PING of a stream":                  {func(f *frames) { f.WriteRawFrame(http2.FramePing, 0, 1, make([]byte, 8)) }, codeProtocol},
		"GOAWAY of 7 bytes":                 {func(f *frames) { f.WriteRawFrame(http2.FrameGoAway, 0, 0, make([]byte, 7)) }, codeFrameSize},
		"GOAWAY of a stream":                {func(f *frames) { f.WriteRawFrame(http2.FrameGoAway, 0, 1, make([]byte, 8)) }, codeProtocol},
		"PRIORITY of 4 bytes":               {func(f *frames) { f.WriteRawFrame(http2.FramePriority, 0, 1, make([]byte, 4)) }, codeFrameSize},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(newAnswers())
			request(t, c, 1, "GET / HTTP/1.1", "")
			f := newFrames()
			x.write(f)
			err := f.take(c)
			if v := (*violation)(nil); x.code != codeCalm && !errors.As(err, &v) || err == nil {
				t.Fatalf("the error is %v", err)
			}
			if got := codeOf(c); got != x.code || !c.Gone() {
				t.Errorf("its GOAWAY has code %d, want %d", got, x.code)
			}
		})
	}
}

// What concerns one request ends that one, and the connection goes on.
func TestBreachesOfARequest(t *testing.T) {
	for name, x := range map[string]struct {
		write func(*frames)
		how   Ending
	}{
		"a body without a head":       {func(f *frames) { f.WriteData(1, true, []byte("x")) }, Malformed},
		"no status":                   {func(f *frames) { f.head(1, true, "x y") }, Malformed},
		"a status of two digits":      {func(f *frames) { f.head(1, true, ":status 20") }, Malformed},
		"a status after a field":      {func(f *frames) { f.head(1, true, "x y", ":status 200") }, Malformed},
		"two of them":                 {func(f *frames) { f.head(1, true, ":status 200", ":status 200") }, Malformed},
		"a pseudo-header of requests": {func(f *frames) { f.head(1, true, ":status 200", ":path /") }, Malformed},
		"a name in upper case":        {func(f *frames) { f.head(1, true, ":status 200", "X y") }, Malformed},
		"a field of the connection":   {func(f *frames) { f.head(1, true, ":status 200", "connection close") }, Malformed},
		"a small block of large fields": {func(f *frames) {
			f.head(1, true, append([]string{":status 200"}, slices.Repeat([]string{"x " + strings.Repeat("v", 3000)}, 30)...)...)
		}, Malformed},
		"an interim answer alone": {func(f *frames) { f.head(1, true, ":status 103") }, Malformed},
		"another protocol":        {func(f *frames) { f.head(1, false, ":status 101") }, Malformed},
		"two heads":               {func(f *frames) { f.head(1, false, ":status 200"); f.head(1, true, ":status 200") }, Malformed},
		"trailers before the end": {func(f *frames) { f.head(1, false, ":status 200"); f.head(1, false, "x y") }, Malformed},
		"a longer body than announced": {func(f *frames) {
			f.head(1, false, ":status 200", "content-length 1")
			f.WriteData(1, false, []byte("xx"))
		}, Malformed},
		"a shorter one": {func(f *frames) {
			f.head(1, false, ":status 200", "content-length 2")
			f.WriteData(1, true, []byte("x"))
		}, Malformed},
		"none, where one was announced": {func(f *frames) { f.head(1, true, ":status 200", "content-length 2") }, Malformed},
		"two lengths":                   {func(f *frames) { f.head(1, true, ":status 200", "content-length 0", "content-length 1") }, Malformed},
		"a length with a sign":          {func(f *frames) { f.head(1, true, ":status 200", "content-length -1") }, Malformed},
		"a window that overflows":       {func(f *frames) { f.WriteWindowUpdate(1, largestWindow) }, Malformed},
		"WINDOW_UPDATE by 0":            {func(f *frames) { f.WriteRawFrame(http2.FrameWindowUpdate, 0, 1, make([]byte, 4)) }, Malformed},
		"RST_STREAM":                    {func(f *frames) { f.WriteRSTStream(1, http2.ErrCodeInternal) }, Reset},
		"RST_STREAM in the middle":      {func(f *frames) { f.head(1, false, ":status 200"); f.WriteRSTStream(1, http2.ErrCodeCancel) }, Reset},
		"REFUSED_STREAM":                {func(f *frames) { f.WriteRSTStream(1, http2.ErrCodeRefusedStream) }, Unprocessed},
		"GOAWAY that looked at neither": {func(f *frames) { f.WriteGoAway(0, http2.ErrCodeNo, nil) }, Unprocessed},
		"interim answers, and trailers": {func(f *frames) {
			f.head(1, false, ":status 100")
			f.head(1, false, ":status 103", "link x")
			f.head(1, false, ":status 200", "content-length 1")
			f.WriteDataPadded(1, false, []byte("x"), make([]byte, 200))
			f.head(1, true, "grpc-status 0")
		}, Whole},
	} {
		t.Run(name, func(t *testing.T) {
			got := newAnswers()
			c := New(got)
			request(t, c, 1, "GET / HTTP/1.1", "")
			request(t, c, 2, "GET / HTTP/1.1", "")
			f := newFrames()
			x.write(f)
			gone := strings.HasPrefix(name, "GOAWAY")
			if !gone {
				f.WriteData(1, true, []byte("late")) // of a request that has ended
				f.head(3, true, ":status 200")
			}
			if err := f.take(c); err != nil {
				t.Fatal(err)
			}
			how, ended := got.ended[1]
			if !ended || how != x.how {
				t.Errorf("the request ended %t as %d, want %d", ended, how, x.how)
			}
			if other, ended := got.ended[2]; !ended || !gone && other != Whole {
				t.Errorf("the other request ended %t as %d", ended, other)
			}
			if c.Active() != 0 || c.Gone() != gone {
				t.Errorf("%d requests are under way, the connection is gone: %t", c.Active(), c.Gone())
			}
		})
	}
}

// GOAWAY names the last request that the service has looked at.
func TestGoAway(t *testing.T) {
	got := newAnswers()
	c := New(got)
	for key := range int32(3) {
		request(t, c, key, "GET / HTTP/1.1", "")
	}
	f := newFrames()
	f.WriteGoAway(largestWindow, http2.ErrCodeNo, nil) // announces the second
	f.WriteGoAway(3, http2.ErrCodeNo, nil)
	f.head(1, true, ":status 200")
	f.head(3, true, ":status 200")
	if err := f.take(c); err != nil {
		t.Fatal(err)
	}
	if got.ended[0] != Whole || got.ended[1] != Whole || got.ended[2] != Unprocessed || !c.Gone() || c.Active() != 0 {
		t.Errorf("ended %v; gone: %t", got.ended, c.Gone())
	}
}

// A body obeys both windows, also where settings shrink one below what was sent.
func TestWindows(t *testing.T) {
	got := newAnswers()
	c := New(got)
	f := newFrames(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	if err := f.take(c); err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("b"), 200_000)
	s := request(t, c, 1, "POST / HTTP/1.1", string(body))
	sent := 0
	for _, step := range []struct {
		write func()
		want  int // bytes that can be sent after it
	}{
		{func() {}, 0},
		{func() { f.WriteWindowUpdate(1, 1) }, 1},
		{func() { f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100}) }, 100},
		{func() { f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 40}) }, 0}, // 60 below
		{func() { f.WriteWindowUpdate(1, 60) }, 0},
		{func() { f.WriteWindowUpdate(1, 1) }, 1},
		{func() { f.WriteWindowUpdate(1, 1<<20) }, firstWindow - 102}, // the connection's
		{func() { f.WriteWindowUpdate(0, 1<<20) }, len(body) - firstWindow},
	} {
		step.write()
		if err := f.take(c); err != nil {
			t.Fatal(err)
		}
		if want := step.want > 0; len(got.rooms) > 0 != want && sent > 0 {
			t.Errorf("after %d bytes it may go on: %v", sent, got.rooms)
		}
		got.rooms = nil
		n := c.Data(s, body[sent:])
		if sent += n; n != step.want {
			t.Fatalf("%d bytes were sent, want %d", n, step.want)
		}
	}
	if sent != len(body) || !s.done {
		t.Errorf("%d of %d bytes were sent", sent, len(body))
	}
}

// An answer before the end of the request ends it, and the rest is not sent.
func TestAnAnswerBeforeTheEndOfTheBody(t *testing.T) {
	got := newAnswers()
	c := New(got)
	s := request(t, c, 1, "POST / HTTP/1.1", "body")
	f := newFrames()
	f.head(1, true, ":status 413")
	if err := f.take(c); err != nil {
		t.Fatal(err)
	}
	if got.ended[1] != Whole || got.status[1] != 413 || word(c.Out()[len(c.Out())-4:]) != codeCancel {
		t.Errorf("ended %v with %v", got.ended, got.status)
	}
	c.Cancel(s) // has no effect
	if c.Active() != 0 {
		t.Error("the request is under way")
	}
}

// Settings, pings and a limit of streams that changes do no harm; one who reads no answers
// to them is left.
func TestManySettings(t *testing.T) {
	c := New(newAnswers())
	f := newFrames()
	for i := range 1000 {
		f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(i % 2)},
			http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(i)}, http2.Setting{ID: 0x99, Val: 1})
		f.WritePing(false, [8]byte{})
		f.WritePing(true, [8]byte{})
		f.WriteRawFrame(0xbe, 0, 5, []byte("unknown"))
	}
	if err := f.take(c); err != nil || c.Most() != 1 {
		t.Fatalf("%v; it allows %d", err, c.Most())
	}
	request(t, c, 1, "GET / HTTP/1.1", "")
	for err := error(nil); err == nil; err = f.take(c) {
		if len(c.Out()) > 2*mostOut {
			t.Fatal("what waits has no limit")
		}
		for range 1000 {
			f.WritePing(false, [8]byte{})
		}
	}
}

func TestNoHTTP2(t *testing.T) {
	for _, answer := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "\x00\x00\x00\x06\x00\x00\x00\x00\x00", "\x00\x00\x00\x04\x01\x00\x00\x00\x00"} {
		if err := New(newAnswers()).Receive([]byte(answer)); !errors.Is(err, ErrNotHTTP2) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	seed := newFrames(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 10})
	seed.head(1, false, ":status 200", "content-length 4")
	seed.WriteDataPadded(1, true, []byte("body"), make([]byte, 3))
	seed.head(3, true, ":status 204")
	seed.WriteWindowUpdate(5, 100)
	seed.WritePing(false, [8]byte{1})
	seed.WriteRSTStream(5, http2.ErrCodeRefusedStream)
	seed.WriteGoAway(3, http2.ErrCodeNo, nil)
	f.Add(seed.Bytes(), uint8(7))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		// The same bytes in pieces of another size have the same effect.
		var ends [2]map[int32]Ending
		for i, n := range []int{len(b) + 1, int(step) + 1} {
			got := newAnswers()
			c := New(got)
			for key := range int32(3) {
				request(t, c, key, "POST / HTTP/1.1", "body")
			}
			for rest := b; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				if c.Receive(rest[:min(n, len(rest))]) != nil {
					break
				}
			}
			if c.Active()+len(got.ended) != 3 {
				t.Fatalf("%d requests are under way, and %d have ended", c.Active(), len(got.ended))
			}
			ends[i] = got.ended
		}
		for key, how := range ends[0] {
			if ends[1][key] != how {
				t.Errorf("request %d ended as %d and as %d", key, how, ends[1][key])
			}
		}
	})
}
