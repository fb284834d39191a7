package docker

import "testing"

// The ports of an image are text of its author.
func TestPortsOfAnImage(t *testing.T) {
	for name, want := range map[string]int{
		"8080/tcp": 8080, "8080": 8080, "65535/tcp": 65535,
		"53/udp": 0, "73616/tcp": 0, "-1/tcp": 0, "80x/tcp": 0, "": 0, "0x50/tcp": 0,
	} {
		if got := tcpPort(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
