package engine

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/mux"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// A service that answers while a part of the body still waits for its window has
// answered: the rest is not sent.
func TestAnAnswerBeforeTheEndOfALargeBody(t *testing.T) {
	target, _ := startFramed(t, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 10}}, func(f *framed, stream uint32) bool {
		return f.head(stream, true)
	})
	p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{Method: "POST", Body: "a body of more than ten bytes"})
	p.Timeout = 5 * time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Good != 24 {
		t.Errorf("%d good, %d cut, %d timeouts, %d malformed; want 24 good", sum.Good, sum.Cut, sum.Timeouts, sum.Malformed)
	}
}

// REFUSED_STREAM is obeyed at a pace: a service that sheds load is not flooded with connections.
func TestRefusedStreamsOpenNoConnections(t *testing.T) {
	target, server := startFramed(t, nil, func(f *framed, stream uint32) bool {
		return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
	})
	p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{})
	p.Timeout = time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 + mux.Several // with the one that Open makes
	if n := server.conns.Load(); n > most || sum.Cut != 24 {
		t.Errorf("24 requests made %d connections and were sent %d times; %d were cut off: want at most %d, and all", n, server.requests.Load(), sum.Cut, most)
	}
}

// A service that ends each connection before it looks at a request gets few of them, too.
func TestConnectionsWithoutARequestAreFew(t *testing.T) {
	for _, last := range []uint32{0, 1<<31 - 1} {
		target, server := startFramed(t, nil, func(f *framed, _ uint32) bool { return f.WriteGoAway(0, http2.ErrCodeNo, nil) == nil })
		server.greets = func(f *framed) bool { return last == 0 || f.WriteGoAway(last, http2.ErrCodeNo, nil) == nil }
		p := planOf(t, target, Transport{HTTP2: true}, 6, wire.Request{})
		p.Timeout = 20 * time.Second
		sum, err := ran(t, p)
		if err != nil {
			t.Fatal(err)
		}
		if most := int64(1 + 6*(1+mostDeclined)); sum.Cut != 6 || server.conns.Load() > most {
			t.Errorf("GOAWAY %d: %d connections, %d cut; want at most %d, 6 cut", last, server.conns.Load(), sum.Cut, most)
		}
	}
}

// A stream that the service resets costs no connection, at a rate too.
func TestAResetStreamKeepsItsConnection(t *testing.T) {
	target, server := startFramed(t, nil, func(f *framed, stream uint32) bool { return f.WriteRSTStream(stream, http2.ErrCodeInternal) == nil })
	p := planOf(t, target, Transport{HTTP2: true, Streams: 100}, 0, wire.Request{})
	p.Load = *even(t, 200, 200*ms)
	p.Timeout = 20 * time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Cut != 40 || sum.Connects != 1 {
		t.Errorf("%d cut on %d connections (%d came), want 40 on 1", sum.Cut, sum.Connects, server.conns.Load())
	}
}

// A call whose stream is reset at its deadline has timed out; an earlier one was cut off.
func TestACallThatIsResetAtItsDeadline(t *testing.T) {
	for _, atDeadline := range []bool{false, true} {
		const timeout = 400 * ms
		target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
			if atDeadline {
				time.Sleep(wire.Deadline(timeout))
			}
			return f.WriteRSTStream(stream, http2.ErrCodeCancel) == nil
		})
		call := wire.Request{Method: "POST", Path: "/a.B/C", Headers: map[string]string{"Content-Type": "application/grpc"}}
		p := planOf(t, target, Transport{HTTP2: true}, 2, call)
		p.Load.Curve = steady(t, 1, schedule.Endless)
		p.Timeout = timeout
		sum, err := ran(t, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Timeouts == 2 && sum.Cut == 0; got != atDeadline || sum.Timeouts+sum.Cut != 2 {
			t.Errorf("at the deadline %v: %d timeouts, %d cut", atDeadline, sum.Timeouts, sum.Cut)
		}
	}
}

// Requests that the loop gave to a connection which GOAWAY ends before they are written are sent on
// another one: no request fails, and each connection serves all that it may.
func TestNoRequestFailsWhereConnectionsEnd(t *testing.T) {
	const each = 20
	target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
		if f.requests > each { // after GOAWAY
			return true
		}
		if f.requests == each && f.WriteGoAway(stream, http2.ErrCodeNo, nil) != nil {
			return false
		}
		return f.answer(stream)
	})
	p := planOf(t, target, Transport{HTTP2: true, Streams: 64}, 2000, wire.Request{})
	p.Load.Curve = steady(t, 64, schedule.Endless)
	p.Timeout = 20 * time.Second
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Good != 2000 || sum.Connects != 2000/each {
		t.Errorf("%d good, %d cut on %d connections; want 2000 on %d", sum.Good, sum.Cut, sum.Connects, 2000/each)
	}
}

// An answer whose messages are not those of the method is not good, whatever its status says.
func TestMessagesOfHostileServices(t *testing.T) {
	const status, ok, away = "grpc-status", "0", "14"
	for name, c := range map[string]struct {
		data     string // the body
		trailers []string
		want     string // counted as
	}{
		"a message":                  {"\x00\x00\x00\x00\x01x", []string{status, ok}, "200"},
		"an empty message":           {"\x00\x00\x00\x00\x00", []string{status, ok}, "200"},
		"none":                       {"", []string{status, ok}, "no message"},
		"two":                        {"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", []string{status, ok}, "more than one message"},
		"one that is cut":            {"\x00\x00\x00\x00\x02x", []string{status, ok}, "message cut off"},
		"a prefix that is cut":       {"\x00\x00\x00\x00", []string{status, ok}, "message cut off"},
		"a length that is too large": {"\x00\xff\xff\xff\xffx", []string{status, ok}, "message too large"},
		"compressed":                 {"\x01\x00\x00\x00\x01x", []string{status, ok}, "message compressed"},
		"a flag that is none":        {"\x02\x00\x00\x00\x01x", []string{status, ok}, "message compressed"},
		"a failure without one":      {"", []string{status, away}, "UNAVAILABLE"},
		"a failure, and a message":   {"\x00\x00\x00\x00\x02x", []string{status, away}, "UNAVAILABLE"},
		"OK as a status only":        {"", []string{status, ok}, "no message"},
		"a status only":              {"", []string{status, away}, "UNAVAILABLE"},
		"a head and a status only":   {"", []string{"x", "y", status, "99"}, "UNKNOWN"},
		"no trailers":                {"\x00\x00\x00\x00\x01x", nil, signals.StatusName(signals.NoCode)},
		"trailers without status":    {"\x00\x00\x00\x00\x01x", []string{"x", "y"}, signals.StatusName(signals.NoCode)},
	} {
		t.Run(name, func(t *testing.T) {
			target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
				if strings.HasSuffix(name, "status only") {
					return f.head(stream, true, c.trailers...)
				}
				f.head(stream, false)
				for i := range len(c.data) { // a frame each
					f.WriteData(stream, false, []byte(c.data[i:i+1]))
				}
				if c.trailers == nil {
					return f.WriteData(stream, true, nil) == nil
				}
				return f.trailers(stream, c.trailers...)
			})
			call := wire.Request{Method: "POST", Path: "/a.B/C", Headers: map[string]string{"Content-Type": "application/grpc"},
				Encode: func(b, _ []byte) ([]byte, error) { return append(b, 0, 0, 0, 0, 0), nil }, Call: wire.Call{Single: true, Largest: 4 << 20}}
			p := planOf(t, target, Transport{HTTP2: true, Streams: 8}, 24, call)
			sum, err := ran(t, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := byCode(&sum.status); !maps.Equal(got, map[string]int64{c.want: 24}) || (sum.Good == 24) != (c.want == "200") {
				t.Errorf("%v, %d good; want 24 of %s", got, sum.Good, c.want)
			}
		})
	}
}

// A request whose placeholders make no message is not sent: the trial ends with the reason.
func TestARequestThatIsNoMessage(t *testing.T) {
	target, server := startFramed(t, nil, func(f *framed, stream uint32) bool { return f.answer(stream) })
	none := errors.New("no message")
	call := wire.Request{Method: "POST", Path: "/a.B/C", Body: "{{seq}}", Encode: func(b, body []byte) ([]byte, error) {
		if string(body) == "7" {
			return b, none
		}
		return append(b, 0, 0, 0, 0, 0), nil
	}}
	p := planOf(t, target, Transport{HTTP2: true}, 24, call)
	p.Load.Curve = steady(t, 1, schedule.Endless)
	_, err := ran(t, p)
	if !errors.Is(err, none) || err.Error() != "request 7: no message: 7" {
		t.Errorf("the trial ended with %v", err)
	}
	if n := server.requests.Load(); n > 6 {
		t.Errorf("%d requests were sent, want 6 at most", n)
	}
}

// What a service says of a call is kept without secrets.
func TestWhatAServiceSaysHasNoSecrets(t *testing.T) {
	target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
		return f.head(stream, true, "grpc-status", "16", "grpc-message", strings.Repeat("%20", 188)+"Bearer%20s3cr3t-t0ken is old")
	})
	p := planOf(t, target, Transport{HTTP2: true}, 24, wire.Request{Method: "POST", Headers: map[string]string{"Content-Type": "application/grpc"}})
	p.Hide = strings.NewReplacer("s3cr3t-t0ken", "*").Replace
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.TrimSpace(sum.Said["UNAUTHENTICATED"]); said != "Bearer * is" {
		t.Errorf("%q, want the begin without the token", said)
	}
}

// A call of gRPC counts by the name of its status; an answer of HTTP 200 alone is no success.
func TestCallsCountByTheirStatus(t *testing.T) {
	target, _ := startFramed(t, nil, func(f *framed, stream uint32) bool {
		switch stream % 8 {
		case 1:
			return f.head(stream, false) && f.WriteData(stream, false, []byte("\x00\x00\x00\x00\x00")) == nil && f.trailers(stream, "grpc-status", "0")
		case 3:
			return f.head(stream, false) && f.trailers(stream, "grpc-status", "14", "grpc-message", "no%20upstream")
		case 5:
			return f.head(stream, true, "grpc-status", "12", "grpc-message", "unknown method")
		}
		return f.answer(stream)
	})
	call := wire.Request{Method: "POST", Path: "/a.B/C", Headers: map[string]string{"Content-Type": "application/grpc+proto", "TE": "trailers"}, Body: "\x00\x00\x00\x00\x00"}
	p := planOf(t, target, Transport{HTTP2: true, Streams: 8}, 80, call)
	sum, err := ran(t, p)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"200": 20, "UNAVAILABLE": 20, "UNIMPLEMENTED": 20, signals.StatusName(signals.NoCode): 20}
	if got := byCode(&sum.status); !maps.Equal(got, want) || sum.Good != 20 || sum.BadStatus() != 60 || sum.Latency.Count() != 20 {
		t.Errorf("%v, %d good, %d in the latencies; want %v", got, sum.Good, sum.Latency.Count(), want)
	}
	if said := map[string]string{"UNAVAILABLE": "no upstream", "UNIMPLEMENTED": "unknown method"}; !maps.Equal(sum.Said, said) {
		t.Errorf("%q, want %q", sum.Said, said)
	}
}

// Streams whose requests wait for the service to read them are in flight.
func TestStreamsThatWaitAreInFlight(t *testing.T) {
	read := make(chan struct{})
	target := ways[2].start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-read // the request is longer than the window of its stream
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	p := planOf(t, target, ways[2].transport, 4, wire.Request{Method: "POST", Path: "/a.B/C", Body: strings.Repeat("x", 4<<20)})
	p.Load.Curve, p.Interval = steady(t, 4, schedule.Endless), 20*time.Millisecond
	e, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	good, waited := int64(0), false
	if err := e.Run(time.Now(), func(i *Interval) error {
		good += i.Client.Good
		if i.Client.InFlight == 4 && !waited {
			waited = true
			close(read)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if good != 4 || !waited {
		t.Errorf("%d good of 4, and all were seen in flight: %t", good, waited)
	}
}

// BenchmarkPaceOfAStream compares what a loop sees of streams with what their service did: it
// sends a message each 5 ms, and takes the times between them by its own clock.
func BenchmarkPaceOfAStream(b *testing.B) {
	const messages, every = 100, 5 * time.Millisecond
	for b.Loop() {
		theirs := signals.NewHistogram()
		target, _ := startFramed(b, nil, func(f *framed, stream uint32) bool {
			if !f.head(stream, false) {
				return false
			}
			last, from := time.Time{}, time.Now()
			for i := range messages {
				time.Sleep(time.Until(from.Add(time.Duration(i) * every)))
				now := time.Now()
				if i > 0 {
					theirs.Record(now.Sub(last))
				}
				last = now
				if f.WriteData(stream, false, []byte("\x00\x00\x00\x00\x01x")) != nil {
					return false
				}
			}
			return f.trailers(stream, "grpc-status", "0")
		})
		p := planOf(b, target, Transport{HTTP2: true, Streams: 1}, 4, wire.Request{Method: "POST", Headers: map[string]string{"Content-Type": "application/grpc"}})
		p.Load.Curve = steady(b, 1, schedule.Endless)
		sum, err := ran(b, p)
		if err != nil || sum.Good != 4 || sum.Streams == nil || sum.Streams.Between.Count() != 4*(messages-1) {
			b.Fatalf("%d good, %+v: %v", sum.Good, sum.Streams, err)
		}
		for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99, "max": 1} {
			ours, own := sum.Streams.Between.Quantile(q), theirs.Quantile(q)
			b.ReportMetric(float64(own.Microseconds()), "service-"+name+"-us")
			b.ReportMetric(float64((ours - own).Microseconds()), "off-"+name+"-us")
		}
	}
}
