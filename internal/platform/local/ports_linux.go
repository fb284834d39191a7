package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// ports gives each replica a port of its own. It takes them from outside the
// range from which the kernel gives ports to connections: else an agent's
// connection could be given the port of a service that is about to restart.
type ports struct {
	mu    sync.Mutex
	taken map[int]bool
}

// lowest and highest bound the ports that are given: below are the customary
// ones of services.
const (
	lowest  = 20000
	highest = 65535
)

// take returns a port that nobody listens on; give gives it back.
func (p *ports) take() (int, error) {
	low, high := ephemeral()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == nil {
		p.taken = map[int]bool{}
	}
	for range 10 * (highest - lowest) {
		port := lowest + rand.IntN(highest-lowest+1)
		if port >= low && port <= high || p.taken[port] || !free(port) {
			continue
		}
		p.taken[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("no port is free between %d and %d, outside the range of connections (%d to %d in /proc/sys/net/ipv4/ip_local_port_range); narrow that range", lowest, highest, low, high)
}

func (p *ports) give(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, port)
}

// free reports whether a service could listen on a port of all addresses.
func free(port int) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// ephemeral is the range from which the kernel gives ports to connections; its
// default where it cannot be read.
func ephemeral() (low, high int) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		low, high, err = parseRange(string(text))
	}
	if err != nil {
		return 32768, 60999
	}
	return low, high
}

// parseRange parses two numbers, as in "32768\t60999\n".
func parseRange(text string) (low, high int, err error) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("%q: want two numbers", text)
	}
	low, lowErr := strconv.Atoi(fields[0])
	high, highErr := strconv.Atoi(fields[1])
	return low, high, errors.Join(lowErr, highErr)
}
