package ports

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestPorts(t *testing.T) {
	var p Set
	low, high := Ephemeral()
	seen := map[int]bool{}
	for range 50 {
		port, err := p.Take()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] || port >= low && port <= high || port < lowest {
			t.Errorf("port %d", port)
		}
		seen[port] = true
	}
	for port := range seen {
		p.Give(port)
	}
	if len(p.taken) != 0 {
		t.Errorf("%v are still taken", p.taken)
	}
}

func TestPortInUseIsNotFree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if free(port) {
		t.Errorf("port %s is listened on and called free", strconv.Itoa(port))
	}
	l.Close()
	if !free(port) {
		t.Errorf("port %d is closed and called taken", port)
	}
}

func TestParseRange(t *testing.T) {
	if low, high, err := parseRange("32768\t60999\n"); low != 32768 || high != 60999 || err != nil {
		t.Error(low, high, err)
	}
	for _, text := range []string{"", "1", "a b", "1 2 3"} {
		if _, _, err := parseRange(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestInvalidPorts(t *testing.T) {
	for _, c := range []struct {
		port     int
		find     bool
		replicas int
		want     string
	}{
		{8080, false, 2, "port 8080: 2 replicas cannot all listen on it"},
		{0, true, 3, "find the port of 3 replicas"},
		{8080, true, 1, "not both"},
		{70000, false, 1, "ports are 1 to 65535"},
		{8080, false, 1, ""},
		{0, true, 1, ""},
		{0, false, 5, ""},
	} {
		err := Check(c.port, c.find, c.replicas)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
