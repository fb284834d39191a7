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

// Set assigns a port to each replica. It uses ports outside the range that the kernel
// assigns to connections: otherwise an agent's connection could get the port of a
// service that is about to restart. The zero value is ready for use. Several
// goroutines may use it concurrently.
type Set struct {
	mu    sync.Mutex
	taken map[int]bool
}

// lowest and highest bound the assigned ports: below are the usual ports of services.
const (
	lowest  = 20000
	highest = 65535
)

// Take reserves a port on which no process listens; Give releases it.
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

// Claim reserves the fixed port of a service. The error names the process that uses it.
func (p *Set) Claim(port int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[port] {
		return fmt.Errorf("port %d is already used by another service of this run", port)
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

// Unused reports the process that listens on a port. Old connections of a service
// (TIME_WAIT) do not block a server that sets SO_REUSEADDR, as servers do.
func Unused(port int) error {
	holder, err := Holder(port)
	switch {
	case err != nil:
		return fmt.Errorf("check whether port %d is in use: %w", port, err)
	case holder != "":
		return fmt.Errorf("port %d is in use by %s; end it, or choose another port", port, holder)
	}
	return nil
}

// Give releases a port.
func (p *Set) Give(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, port)
}

// Taken is the number of reserved ports.
func (p *Set) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.taken)
}

// free reports whether a service could listen on a port on all addresses.
func free(port int) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// Ephemeral is the range of ports that the kernel assigns to connections, or its default
// if it cannot be read.
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

// Check reports an invalid choice of ports for replicas that share this machine's
// address. port is a fixed port, or 0; find means that the port must be found.
func Check(port int, find bool, replicas int) error {
	switch {
	case port < 0 || port > highest:
		return fmt.Errorf("port %d: ports are 1 to %d", port, highest)
	case port != 0 && find:
		return fmt.Errorf("port %d: state the port or use find, not both", port)
	case port != 0 && replicas > 1:
		return fmt.Errorf("port %d: %d replicas cannot all listen on it; let the service listen on ${port} or $PORT, or run one replica", port, replicas)
	case find && replicas > 1:
		return fmt.Errorf("find the port of %d replicas: they would all listen on the same; let the service listen on ${port} or $PORT, or run one replica", replicas)
	}
	return nil
}
