package poll

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// An answer that comes while the poller rests stays in the kernel until shortly before the
// end, with the time at which it came. Before the kernel has stamped one there is no rest.
func TestAnAnswerDuringARest(t *testing.T) {
	p, server := accepted(t)
	events := make([]port.Event, 4)
	for p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 { // connected
	}
	rested := false
	for deadline := p.Now() + 30*time.Second; !rested && p.Now() < deadline; {
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		may, written, until := p.mayRest(), p.Now(), p.Now()+longestRest
		n := 0
		for n == 0 || !events[0].Readable {
			n = p.Wait(events, until, port.Resting)
		}
		ended := p.Now()
		_, came, out := p.Read(0, make([]byte, 10))
		switch {
		case out != port.Succeeded:
			t.Fatalf("outcome %d", out)
		case may && ended < until-earliest:
			t.Logf("a signal ended the rest %v before its end", until-ended)
		case may && came > written+longestRest/2:
			t.Logf("the answer came %v after it was written", came-written)
		default:
			rested = may
		}
	}
	if !rested {
		t.Error("no answer was read after a rest, as of before it")
	}
}

// An order ends a rest.
func TestAWakeEndsARest(t *testing.T) {
	p, _ := accepted(t)
	p.stamped = true
	events := make([]port.Event, 4)
	for p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 { // connected
	}
	for range 5 {
		p.Wake()
		for p.woken.Load() { // a signal may end a wait before the bell is seen
			p.Wait(events, p.Now()+longestRest, port.Resting)
		}
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
}

// A poller that may not call ppoll waits otherwise, and does not spin.
func TestARestThatASandboxForbids(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with its filter
	p, _ := accepted(t)
	p.stamped = true
	events := make([]port.Event, 4)
	for p.Wait(events, p.Now()+time.Second, port.Roughly) == 0 { // connected
	}
	const number, notImplemented = 0, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // offset of seccomp_data.nr
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PPOLL, Jf: 1},
		{Code: unix.BPF_RET, K: notImplemented},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skipf("needs seccomp: %v", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		t.Skipf("needs seccomp: %v", err)
	}
	until, waits := p.Now()+5*longestRest, 0
	for ; p.Now() < until; waits++ {
		p.Wait(events, min(until, p.Now()+longestRest), port.Resting)
	}
	if !p.restless || waits > 50 { // a signal of the runtime may end some
		t.Errorf("%d waits in %v, of at most %v each; restless: %v", waits, 5*longestRest, longestRest, p.restless)
	}
}
