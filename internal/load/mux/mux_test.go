package mux

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/millicore/millicore/internal/load/port"
)

// below is a poller whose connections are bytes: what was written to each, and what is to
// be read.
type below struct {
	written, unread [8]bytes.Buffer
	open            [8]bool
	generation      [8]int32
}

func (b *below) Now() time.Duration { return 0 }
func (b *below) Wait(events []port.Event, _ time.Duration, _ port.Waiting) (n int) {
	for slot := range b.unread {
		if b.unread[slot].Len() > 0 && b.open[slot] {
			events[n] = port.Event{Slot: int32(slot), Generation: b.generation[slot], Readable: true}
			n++
		}
	}
	return n
}
func (b *below) Dial(slot, generation int32, _ int) port.Outcome {
	b.written[slot].Reset()
	b.unread[slot].Reset()
	b.open[slot], b.generation[slot] = true, generation
	http2.NewFramer(&b.unread[slot], nil).WriteSettings()
	return port.Succeeded
}
func (b *below) Move([]port.Target)         {}
func (b *below) Dialed(int32) port.Outcome  { return port.Succeeded }
func (b *below) Left() time.Duration        { return 0 }
func (b *below) Shook(int32) port.Handshake { return port.Handshake{} }
func (b *below) Close(slot int32, _ bool)   { b.open[slot] = false }
func (b *below) Part(slot int32)            { b.open[slot] = false }
func (b *below) Wake()                      {}
func (b *below) Err() error                 { return nil }
func (b *below) Release()                   {}
func (b *below) Write(slot int32, p []byte) (int, port.Outcome) {
	n, _ := b.written[slot].Write(p)
	return n, port.Succeeded
}
func (b *below) Read(slot int32, p []byte) (int, time.Duration, port.Outcome) {
	if b.unread[slot].Len() == 0 {
		return 0, 0, port.WouldBlock
	}
	n, _ := b.unread[slot].Read(p)
	return n, 0, port.Succeeded
}

// requests are the streams on which requests came, after the preface.
func (b *below) requests(t *testing.T, slot int32) (streams []uint32) {
	t.Helper()
	sent := b.written[slot].Bytes()
	if !bytes.HasPrefix(sent, []byte(http2.ClientPreface)) {
		t.Fatalf("a connection begins with %q", sent[:min(len(sent), 30)])
	}
	f := http2.NewFramer(nil, bytes.NewReader(sent[len(http2.ClientPreface):]))
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return streams
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			streams = append(streams, frame.Header().StreamID)
		}
	}
}

var get = []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")

// sharing makes a mux with slots that share one connection.
func sharing(t *testing.T, slots int32) (*Mux, *below, []port.Event) {
	t.Helper()
	b := &below{}
	m := New(b, 1, Options{Streams: 10, Shares: 1})
	events := make([]port.Event, 16)
	for slot := range slots {
		if out := m.Dial(slot, 1, 0); out != port.WouldBlock {
			t.Fatalf("slot %d: outcome %d before the service's settings", slot, out)
		}
	}
	if n := m.Wait(events, 0, port.Roughly); n != int(slots) {
		t.Fatalf("%d of %d slots have a connection", n, slots)
	}
	return m, b, events
}

// What a connection that has ended did not write is not written to its successor.
func TestAnEndedConnectionWritesNothing(t *testing.T) {
	m, b, events := sharing(t, 1)
	m.Write(0, get)
	old := m.places[0].conn
	old.over(port.Broken) // as when reading finds the end in the same turn
	m.Close(0, true)
	m.Dial(0, 2, 0)
	if m.places[0].conn.slot != old.slot {
		t.Fatal("the place below was not reused")
	}
	m.Wait(events, 0, port.Roughly)
	if out := m.Dialed(0); out != port.Succeeded {
		t.Fatalf("outcome %d", out)
	}
	m.Write(0, get)
	m.Wait(events, 0, port.Roughly)
	if got := b.requests(t, old.slot); len(got) != 1 || got[0] != 1 {
		t.Errorf("the new connection got the streams %d, want 1", got)
	}
}

// A request that the service allows no stream waits, and gets the stream that a timeout
// frees.
func TestAFreedStreamServesWhoWaits(t *testing.T) {
	m, b, events := sharing(t, 2)
	m.Write(0, get)
	f := http2.NewFramer(&b.unread[0], nil)
	f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
	m.Wait(events, 0, port.Roughly)
	if n, out := m.Write(1, get); n != 0 || out != port.WouldBlock {
		t.Fatalf("%d bytes of a second request were taken, outcome %d", n, out)
	}
	m.Wait(events, 0, port.Roughly)
	if got := b.requests(t, 0); len(got) != 1 {
		t.Fatalf("the streams %d, where one is allowed", got)
	}
	m.Close(0, true) // its timeout
	if n := m.Wait(events, 0, port.Roughly); n != 1 || events[0].Slot != 1 || !events[0].Writable {
		t.Fatalf("%d events, the first %+v; want one for the request that waits", n, events[0])
	}
	if n, out := m.Write(1, get); n != len(get) || out != port.Succeeded {
		t.Errorf("%d bytes were taken, outcome %d", n, out)
	}
}

// The loop reads answers as HTTP/1.1; those without a body are whole once their stream is.
func TestAnswersAsHTTP1(t *testing.T) {
	m, b, events := sharing(t, 2)
	m.Write(0, get)
	m.Write(1, []byte("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"))
	m.Wait(events, 0, port.Roughly)
	var block bytes.Buffer
	heads := hpack.NewEncoder(&block)
	heads.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	f := http2.NewFramer(&b.unread[0], nil)
	for _, stream := range []uint32{1, 3} {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
	}
	f.WriteData(1, false, []byte("0123456789abcdefghij"))
	m.Wait(events, 0, port.Roughly)
	var p [256]byte
	read := func(slot int32) string {
		n, _, _ := m.Read(slot, p[:])
		return string(p[:n])
	}
	if got, want := read(0), "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n14\r\n0123456789abcdefghij\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := read(1); got != "" {
		t.Errorf("%q before the end of the stream", got)
	}
	f.WriteData(1, true, nil)
	f.WriteData(3, true, nil)
	m.Wait(events, 0, port.Roughly)
	if got := read(0); got != "0\r\n\r\n" {
		t.Errorf("%q, want the last chunk", got)
	}
	if got, want := read(1), "HTTP/1.1 200 \r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A connection outlives its last place if a request on it failed, unless nothing came on it since
// that began.
func TestAConnectionWithoutPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		frames  func(f *http2.Framer)
		abrupt  bool
		remains bool
	}{
		"its stream was reset":              {frames: func(f *http2.Framer) { f.WriteRSTStream(1, http2.ErrCodeInternal) }, abrupt: true, remains: true},
		"a timeout, where others had bytes": {frames: func(f *http2.Framer) { f.WritePing(true, [8]byte{}) }, abrupt: true, remains: true},
		"a timeout without a byte":          {frames: func(*http2.Framer) {}, abrupt: true},
		"it is not needed":                  {frames: func(f *http2.Framer) { f.WriteRSTStream(1, http2.ErrCodeInternal) }},
	} {
		t.Run(name, func(t *testing.T) {
			m, b, events := sharing(t, 1)
			m.Write(0, get)
			c.frames(http2.NewFramer(&b.unread[0], nil))
			m.Wait(events, 0, port.Roughly)
			m.Close(0, c.abrupt)
			m.Wait(events, 0, port.Roughly)
			if b.open[0] != c.remains {
				t.Errorf("it is open: %v, want %v", b.open[0], c.remains)
			}
			m.Dial(0, 2, 0)
			if again := m.places[0].conn == m.conns[0] && m.conns[0].generation == 1; again != c.remains {
				t.Errorf("its slot gets the same one: %v, want %v", again, c.remains)
			}
		})
	}
}

// A request that waits for a stream has not left when its connection ends: it may be sent again.
func TestARequestThatWaitsHasNotLeft(t *testing.T) {
	m, b, events := sharing(t, 2)
	m.Write(0, get)
	http2.NewFramer(&b.unread[0], nil).WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
	m.Wait(events, 0, port.Roughly)
	m.Write(1, get)
	m.places[0].conn.over(port.Ended)
	for slot, want := range []port.Outcome{port.Ended, port.Unprocessed} {
		if _, _, out := m.Read(int32(slot), make([]byte, 1)); out != want {
			t.Errorf("slot %d: outcome %d, want %d", slot, out, want)
		}
	}
}

// What counts as received are the bytes of the service, not those that the loop reads.
func TestBytesAreCountedAsReceived(t *testing.T) {
	m, b, events := sharing(t, 1)
	received := 0
	m.Counted(func(time.Duration, port.Handshake) {}, func() {}, func(n int) { received += n })
	m.Write(0, get)
	var block bytes.Buffer
	hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	f := http2.NewFramer(&b.unread[0], nil)
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	f.WriteDataPadded(1, true, []byte("hello"), make([]byte, 100))
	want := b.unread[0].Len()
	m.Wait(events, 0, port.Roughly)
	if n, _, _ := m.Read(0, make([]byte, 1<<10)); received != want || n == want {
		t.Errorf("%d bytes were received, want %d; the loop read %d", received, want, n)
	}
}

// A refused request is sent again on another connection, until two have refused: these are used
// in turn then, and no third one is made.
func TestRefusedRequestsShareTwoConnections(t *testing.T) {
	m, b, events := sharing(t, 1)
	used := map[int32]int{}
	for try := range int32(6) {
		m.Write(0, get)
		m.Wait(events, 0, port.Roughly)
		on := m.places[0].conn.slot
		used[on]++
		streams := b.requests(t, on)
		http2.NewFramer(&b.unread[on], nil).WriteRSTStream(streams[len(streams)-1], http2.ErrCodeRefusedStream)
		m.Wait(events, 0, port.Roughly)
		if _, _, out := m.Read(0, make([]byte, 1)); out != port.Declined {
			t.Fatalf("try %d: outcome %d", try, out)
		}
		m.Close(0, true)
		m.Dial(0, try+2, 0)
		m.Wait(events, 0, port.Roughly)
	}
	if len(used) != 2 || used[0] == 6 {
		t.Errorf("tries by connection: %v, want two connections", used)
	}
}
