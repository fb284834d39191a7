package agent

import (
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// listenWithoutQueue listens with the shortest queue and never accepts. The
// group is for the eight connections that fill it.
func listenWithoutQueue(t *testing.T) (addr string, fill *sync.WaitGroup) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	fill = &sync.WaitGroup{}
	fill.Add(8)
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port), fill
}
