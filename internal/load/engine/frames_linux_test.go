package engine

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// framed is one connection of a server that speaks HTTP/2 frame by frame.
type framed struct {
	*http2.Framer
	conn     *net.TCPConn
	server   *framedServer
	number   int64 // of the connection, from 1
	requests int   // on it
}

type framedServer struct {
	conns, requests atomic.Int64
	greets          func(*framed) bool // after its settings; nil: nothing
}

// startFramed starts a server without TLS that calls serve for each request with its
// stream; if serve returns false, the server closes the connection.
func startFramed(t testing.TB, settings []http2.Setting, serve func(f *framed, stream uint32) bool) (Target, *framedServer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &framedServer{}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			number := s.conns.Add(1)
			open.Go(func() {
				defer conn.Close()
				if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				f := &framed{Framer: http2.NewFramer(conn, conn), conn: conn.(*net.TCPConn), server: s, number: number}
				if f.WriteSettings(settings...) != nil || s.greets != nil && !s.greets(f) {
					return
				}
				f.serve(serve)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		open.Wait()
	})
	return Target{Addr: netip.MustParseAddrPort(l.Addr().String()), Name: "example.com"}, s
}

func (f *framed) serve(serve func(*framed, uint32) bool) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() && f.WriteSettingsAck() != nil {
				return
			}
		case *http2.PingFrame:
			if !frame.IsAck() && f.WritePing(true, frame.Data) != nil {
				return
			}
		case *http2.HeadersFrame:
			f.requests++
			f.server.requests.Add(1)
			if !serve(f, frame.StreamID) {
				return
			}
		}
	}
}

// head writes an answer's head, with more headers as name, value.
func (f *framed) head(stream uint32, end bool, more ...string) bool {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	for i := 0; i < len(more); i += 2 {
		e.WriteField(hpack.HeaderField{Name: more[i], Value: more[i+1]})
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: end}) == nil
}

// trailers ends an answer with fields as name, value.
func (f *framed) trailers(stream uint32, fields ...string) bool {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: true}) == nil
}

func (f *framed) answer(stream uint32) bool {
	return f.head(stream, false) && f.WriteData(stream, true, []byte("hello")) == nil
}

// The outcomes of the requests to each server.
func TestHostileFrames(t *testing.T) {
	for name, c := range map[string]struct {
		settings []http2.Setting
		serve    func(*framed, uint32) bool
		want     string // good, cut, timeouts or malformed: all of them
		users    float64
	}{
		"answers": {serve: (*framed).answer, want: "good"},
		"a graceful end after each third": {serve: func(f *framed, stream uint32) bool {
			switch {
			case f.requests < 4:
				return f.answer(stream)
			case f.requests == 4: // and others may be on their way
				return f.WriteGoAway(stream-2, http2.ErrCodeNo, nil) == nil
			}
			return true
		}, want: "good", users: 2}, // of more, one could meet the end of four connections
		"refuses on two connections": {serve: func(f *framed, stream uint32) bool {
			if f.number <= 2 {
				return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
			}
			return f.answer(stream)
		}, want: "good"},
		"refuses all": {serve: func(f *framed, stream uint32) bool {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
		}, want: "cut"},
		"resets the stream": {serve: func(f *framed, stream uint32) bool { return f.WriteRSTStream(stream, http2.ErrCodeInternal) == nil }, want: "cut"},
		"resets in the body": {serve: func(f *framed, stream uint32) bool {
			return f.head(stream, false) && f.WriteData(stream, false, []byte("hel")) == nil && f.WriteRSTStream(stream, http2.ErrCodeInternal) == nil
		}, want: "cut"},
		"a body too long": {serve: func(f *framed, stream uint32) bool {
			return f.head(stream, false, "content-length", "3") && f.WriteData(stream, true, []byte("hello")) == nil
		}, want: "malformed"},
		"a body too short": {serve: func(f *framed, stream uint32) bool {
			return f.head(stream, false, "content-length", "9") && f.WriteData(stream, true, []byte("hello")) == nil
		}, want: "malformed"},
		"hangs up":        {serve: func(f *framed, stream uint32) bool { return false }, want: "cut"},
		"resets the line": {serve: func(f *framed, stream uint32) bool { f.conn.SetLinger(0); return false }, want: "cut"},
		"garbage":         {serve: func(f *framed, stream uint32) bool { f.conn.Write(bytes.Repeat([]byte{0xff}, 100)); return true }, want: "malformed"},
		"never":           {serve: func(f *framed, stream uint32) bool { return true }, want: "timeouts"},
		"never the end": {serve: func(f *framed, stream uint32) bool {
			return f.head(stream, false) && f.WriteData(stream, false, []byte("hello")) == nil
		}, want: "timeouts"},
		"no more streams": {settings: []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}, serve: (*framed).answer, want: "good"},
		"fewer streams from now on": {serve: func(f *framed, stream uint32) bool {
			return (f.requests > 1 || f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}) == nil) && f.answer(stream)
		}, want: "good"},
		"pings":               {serve: func(f *framed, stream uint32) bool { return f.WritePing(false, [8]byte{1}) == nil && f.answer(stream) }, want: "good"},
		"data of a stream 99": {serve: func(f *framed, stream uint32) bool { return f.WriteData(stream+100, true, []byte("hello")) == nil }, want: "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, server := startFramed(t, c.settings, c.serve)
			p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{}, wire.Request{Method: "POST", Body: "some"})
			if c.users > 0 {
				p.Load.Curve = steady(t, c.users, schedule.Endless)
			}
			p.Timeout = time.Second
			if c.want != "timeouts" {
				p.Timeout = 20 * time.Second
			}
			sum, err := ran(t, p)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{"good": sum.Good, "cut": sum.Cut, "timeouts": sum.Timeouts, "malformed": sum.Malformed, "refused": sum.Refused}
			if got[c.want] != 24 {
				t.Errorf("%v; want 24 %s (%d connections, %d requests came)", got, c.want, server.conns.Load(), server.requests.Load())
			}
		})
	}
}
