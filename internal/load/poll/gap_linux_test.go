package poll

import (
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// A packet that fills a gap arrives after the last packet of the stream, so the last
// packet's time stamp is not the arrival of the data.
func TestAGapInTheStreamIsFilledLate(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread stays in its own network namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("needs a network namespace: %v", err)
	}
	far, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("needs a TUN device: %v", err)
	}
	var request [40]byte // struct ifreq, linux/if.h
	copy(request[:], "far")
	binary.NativeEndian.PutUint16(request[unix.IFNAMSIZ:], unix.IFF_TUN|unix.IFF_NO_PI)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(far), unix.TUNSETIFF, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Skipf("needs a TUN device: %v", errno)
	}
	for _, args := range [][]string{{"addr", "add", "10.9.0.1/24", "dev", "far"}, {"link", "set", "far", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("needs ip: %v: %s", err, out)
		}
	}
	p, err := New(time.Now(), []port.Target{{Addr: netip.MustParseAddrPort("10.9.0.2:80")}}, Place{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	filled := make(chan time.Duration, 1)
	go (&farSide{file: os.NewFile(uintptr(far), "tun")}).serve(func() { filled <- p.Now() })

	if out := p.Dial(0, 1, 0); out != port.WouldBlock {
		t.Fatalf("dial: outcome %d", out)
	}
	b, events := make([]byte, 100), make([]port.Event, 1)
	wrote := false
	for got := 0; got < len("onetwothree"); {
		if p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 {
			continue
		}
		if events[0].Writable && !wrote {
			wrote = true
			if n, out := p.Write(0, []byte("?")); n != 1 || out != port.Succeeded {
				t.Fatalf("wrote %d bytes, outcome %d", n, out)
			}
		}
		n, came, out := p.Read(0, b)
		if out == port.WouldBlock {
			continue
		}
		if got += n; out != port.Succeeded {
			t.Fatalf("outcome %d", out)
		}
		if string(b[:n]) == "twothree" || string(b[:n]) == "onetwothree" {
			if at := <-filled; came < at {
				t.Errorf("%q came %v before the gap was filled", b[:n], at-came)
			}
		}
	}
	p.stamped = true
	for until := p.Now() + 2*lateEnough; p.Now() < until; { // until the last stamp is old
	}
	if p.came(p.File(0)); p.mayRest() {
		t.Error("the poller rests although the times of answers are known only when they are read")
	}
}

// farSide is a service behind a TUN device that sends the last part of its answer
// before the one in the middle.
type farSide struct{ file *os.File }

func (f *farSide) serve(filling func()) {
	defer f.file.Close()
	const ours = 1000 // the first sequence number
	b := make([]byte, 64<<10)
	for {
		n, err := f.file.Read(b)
		if err != nil {
			return
		}
		packet := b[:n]
		if n < 40 || packet[0]>>4 != 4 || packet[9] != unix.IPPROTO_TCP {
			continue
		}
		tcp := packet[20:]
		body := tcp[int(tcp[12]>>4)*4:]
		seq, syn := binary.BigEndian.Uint32(tcp[4:]), tcp[13]&0x02 != 0
		switch {
		case syn:
			f.send(packet, ours, seq+1, 0x12, "") // SYN, ACK
		case len(body) > 0:
			acknowledged := seq + uint32(len(body))
			f.send(packet, ours+1, acknowledged, 0x18, "one")
			f.send(packet, ours+7, acknowledged, 0x18, "three")
			time.Sleep(50 * time.Millisecond) // as long as a retransmission takes
			filling()
			f.send(packet, ours+4, acknowledged, 0x18, "two")
		}
	}
}

// send answers a packet of IPv4 and TCP.
func (f *farSide) send(to []byte, seq, acknowledged uint32, flags byte, body string) {
	q := make([]byte, 40, 40+len(body))
	q[0], q[8], q[9] = 0x45, 64, unix.IPPROTO_TCP
	binary.BigEndian.PutUint16(q[2:], uint16(40+len(body)))
	copy(q[12:16], to[16:20])
	copy(q[16:20], to[12:16])
	binary.BigEndian.PutUint16(q[10:], sum(q[:20], 0))
	copy(q[20:22], to[22:24])
	copy(q[22:24], to[20:22])
	binary.BigEndian.PutUint32(q[24:], seq)
	binary.BigEndian.PutUint32(q[28:], acknowledged)
	q[32], q[33] = 5<<4, flags
	binary.BigEndian.PutUint16(q[34:], 60_000)
	q = append(q, body...)
	pseudo := uint32(unix.IPPROTO_TCP) + uint32(len(q)-20) // the pseudo header of RFC 9293, 3.1
	binary.BigEndian.PutUint16(q[36:], sum(q[20:], pseudo+uint32(^sum(q[12:20], 0))))
	_, _ = f.file.Write(q) // what is lost is sent again
}

// sum is the checksum of RFC 1071.
func sum(b []byte, s uint32) uint16 {
	for ; len(b) > 1; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}
