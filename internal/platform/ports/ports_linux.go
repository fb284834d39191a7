package ports

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

// Set gives each replica a port of its own. It takes them from outside the
// range from which the kernel gives ports to connections: else an agent's
// connection could be given the port of a service that is about to restart. The
// zero value is ready for use, also by several goroutines at once.
type Set struct {
	mu    sync.Mutex
	taken map[int]bool
}

// lowest and highest bound the ports that are given: below are the customary
// ones of services.
const (
	lowest  = 20000
	highest = 65535
)

// Take returns a port that nobody listens on; Give gives it back.
func (p *Set) Take() (int, error) {
	low, high := Ephemeral()
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

// Claim takes a port that a service insists on. The error says who has it.
func (p *Set) Claim(port int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[port] {
		return fmt.Errorf("port %d is already another service's of this run", port)
	}
	if err := Unused(port); err != nil {
		return err
	}
	if p.taken == nil {
		p.taken = map[int]bool{}
	}
	p.taken[port] = true
	return nil
}

// Unused reports who listens on a port. What connections are left of a service
// that listened there (TIME_WAIT) is in nobody's way who sets SO_REUSEADDR, as
// servers do.
func Unused(port int) error {
	holder, err := Holder(port)
	switch {
	case err != nil:
		return fmt.Errorf("see whether port %d is in use: %w", port, err)
	case holder != "":
		return fmt.Errorf("port %d is in use by %s; end that, or name another port", port, holder)
	}
	return nil
}

// Give gives a port back.
func (p *Set) Give(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, port)
}

// Taken is how many ports have been taken and not given back.
func (p *Set) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.taken)
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

// Ephemeral is the range from which the kernel gives ports to connections; its
// default where it cannot be read.
func Ephemeral() (low, high int) {
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

// Check reports what cannot be asked of the ports of replicas that all have this
// machine's: port is the one that they listen on whatever they are told, 0 if
// there is none, and find that it is to be found.
func Check(port int, find bool, replicas int) error {
	switch {
	case port < 0 || port > highest:
		return fmt.Errorf("port %d: ports are 1 to %d", port, highest)
	case port != 0 && find:
		return fmt.Errorf("port %d is stated and is to be found: state it, or have it found", port)
	case port != 0 && replicas > 1:
		return fmt.Errorf("port %d: %d replicas cannot all listen on it; have the service listen on ${port} or $PORT, or run one replica", port, replicas)
	case find && replicas > 1:
		return fmt.Errorf("find the port of %d replicas: they would all listen on the same; have the service listen on ${port} or $PORT, or run one replica", replicas)
	}
	return nil
}
