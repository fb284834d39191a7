package freeze

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// serve runs a server in this process and returns its address, and what ends it.
func serve(t *testing.T, s Service, from time.Duration) (addr string, end func() Lateness) {
	t.Helper()
	in, stop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	words, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Serve(s, from, in, out)
		out.CloseWithError(err)
		in.Close()
		ended <- err
	}()
	lines := bufio.NewReader(words)
	addr, err = lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	end = func() Lateness {
		stop.Close()
		late, err := ReadLateness(lines)
		if err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return late
	}
	return strings.TrimSpace(addr), end
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

func exchange(t *testing.T, c net.Conn) (took time.Duration) {
	t.Helper()
	began := time.Now()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len(Answer))
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != Answer {
		t.Fatalf("%q, %v", answer, err)
	}
	return time.Since(began)
}

// A request counts with its last byte, however it is cut.
func TestRequestsInPieces(t *testing.T) {
	addr, end := serve(t, Service{}, 0)
	c := dial(t, addr)
	for i := range request {
		if _, err := io.WriteString(c, request[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	answer := make([]byte, len(Answer))
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != Answer {
		t.Fatalf("%q, %v", answer, err)
	}
	exchange(t, c)
	if late := end(); late.Answers != 2 {
		t.Errorf("%+v; want 2 answers", late)
	}
}

// The clock begins with the first request: 100 ms later this service stands still,
// for 300. One that hung up meanwhile is owed nothing.
func TestAnswersAreHeldBack(t *testing.T) {
	addr, end := serve(t, Service{Work: 10 * time.Millisecond, Period: time.Second, Still: 300 * time.Millisecond}, 600*time.Millisecond)
	c, gone := dial(t, addr), dial(t, addr)
	time.Sleep(500 * time.Millisecond) // which are not of the service's clock
	began := time.Now()
	if took := exchange(t, c); took < 10*time.Millisecond {
		t.Errorf("the first answer took %v; want 10ms", took)
	}
	time.Sleep(time.Until(began.Add(200 * time.Millisecond)))
	if _, err := io.WriteString(gone, request); err != nil {
		t.Fatal(err)
	}
	gone.Close()
	exchange(t, c)
	if at := time.Since(began); at < 410*time.Millisecond {
		t.Errorf("a request from within the freeze was answered after %v; want 410ms", at)
	}
	if late := end(); late.Answers != 2 {
		t.Errorf("%+v; want 2 answers", late)
	}
}
