package proc

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// Two connections fit into a queue with a backlog of 1 that nobody accepts from. Others are
// dropped, at this socket and not at the one beside it.
func TestAcceptQueueOfASocketThatNobodyAcceptsFrom(t *testing.T) {
	listen := func(backlog int) (int, netip.AddrPort) {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(s) })
		if err := unix.Bind(s, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Listen(s, backlog); err != nil {
			t.Fatal(err)
		}
		at, err := unix.Getsockname(s)
		if err != nil {
			t.Fatal(err)
		}
		return s, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(at.(*unix.SockaddrInet4).Port))
	}
	_, full := listen(1)
	_, beside := listen(1)
	for range 6 {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(s)
		unix.Connect(s, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: int(full.Port())}) // it does not wait
	}
	if q, ok := ReadAcceptQueue(full); !ok || q.Backlog != 1 || q.Waiting != 2 || q.Drops < 4 {
		t.Errorf("read %+v, %v; want 2 waiting of a backlog of 1, and at least 4 drops", q, ok)
	}
	if q, ok := ReadAcceptQueue(beside); !ok || q != (AcceptQueue{Backlog: 1}) {
		t.Errorf("the socket beside it: %+v, %v", q, ok)
	}
	if q, ok := ReadAcceptQueue(netip.MustParseAddrPort("127.0.0.1:1")); ok {
		t.Errorf("nobody listens there: %+v", q)
	}
}
