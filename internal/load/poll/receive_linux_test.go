package poll

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/port"
)

// The kernel's time stamp of data that a loop reads late is before the read.
func TestTimeStampsOfTheKernel(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort(l.Addr().String())}}, Place{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if out := p.Dial(0, 1, 0); out != port.Succeeded && out != port.WouldBlock {
		t.Fatalf("dial: outcome %d", out)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// If no other process on the machine uses time stamps, the kernel enables them
	// asynchronously, some time after the request.
	stamped := false
	for deadline := p.Now() + 30*time.Second; !stamped && p.Now() < deadline; {
		begun := p.Now()
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for events := make([]port.Event, 1); p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 || !events[0].Readable; {
		}
		looked := p.Now()
		n, came, out := p.Read(0, make([]byte, 10))
		if n != 1 || out != port.Succeeded {
			t.Fatalf("read %d bytes, outcome %d; want 1", n, out)
		}
		if came < begun {
			t.Fatalf("came at %v, before it was written at %v", came, begun)
		}
		stamped = came < looked
	}
	if !stamped {
		t.Error("no byte came before it was looked for: the kernel gives no stamps")
	}
}

// A stamp of a wait in which the wall clock was set is of the clock before or after that. The
// later time that is possible is used.
func TestStampsWhileTheClockIsSet(t *testing.T) {
	const second = time.Second
	ms := time.Millisecond
	for _, c := range []struct {
		name              string
		step, stamp, want time.Duration // stamp and want since zero, stamp by the clock before the step
	}{
		{"not set", 0, 15 * ms, 15 * ms},
		{"stamped before a step ahead", 3 * second, 15 * ms, 15 * ms},
		{"stamped after a step ahead", 3 * second, 3*second + 15*ms, 15 * ms},
		{"stamped before a step back", -3 * second, 15 * ms, 15 * ms},
		{"stamped after a step back", -3 * second, -3*second + 15*ms, 15 * ms},
		{"before or after a small step", 4 * ms, 18 * ms, 18 * ms},
		{"after a small step", 4 * ms, 23 * ms, 19 * ms},
		{"neither", 3 * second, second, 21 * ms},
	} {
		r := receiver{ahead: time.Hour, compared: 10 * ms}
		r.before, r.earlier = r.ahead, r.compared
		r.ahead, r.compared = r.ahead+c.step, 20*ms
		r.set = c.step != 0
		if got := r.engineTime(time.Hour+c.stamp, 21*ms); got != c.want {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}

// An answer that comes while the loop rests and the clock is set has its own time.
func TestTheClockIsSetDuringARest(t *testing.T) {
	p, server := accepted(t)
	events := make([]port.Event, 4)
	for p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 { // connected
	}
	for deadline := p.Now() + 30*time.Second; ; {
		p.ahead -= time.Minute // the clock is set by a minute, as the poller sees it
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		may, written, n := p.mayRest(), p.Now(), 0
		for n == 0 || !events[0].Readable {
			n = p.Wait(events, written+longestRest, port.Resting)
		}
		set := p.set
		switch _, came, _ := p.Read(0, make([]byte, 10)); {
		case may && set && came < written+longestRest/2:
			return
		case p.Now() > deadline:
			t.Fatalf("the answer came %v after it was written", came-written)
		}
	}
}
