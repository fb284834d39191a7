package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/engine"
	"github.com/millicore/millicore/internal/load/protocol"
)

// newTargets converts the replicas' names to targets, one for each address of a name. Known
// targets keep their indices, and those of the names that p has are reused. An empty name is a
// replica that has gone.
func newTargets(names []string, p *protocol.Prepare, known []engine.Target) ([]engine.Target, error) {
	all := slices.Clone(known)
	for i, name := range names {
		if len(known) > 0 && i < len(p.Targets) && p.Targets[i] == name {
			continue
		}
		now := []engine.Target{{Gone: true, Replica: int32(i)}}
		if name != "" {
			var err error
			if now, err = targetsOf(name, int32(i), p); err != nil {
				return nil, err
			}
		}
		for k := range known {
			if known[k].Replica != int32(i) {
				continue
			}
			if all[k] = (engine.Target{Gone: true, Replica: int32(i)}); len(now) > 0 {
				all[k], now = now[0], now[1:]
			}
		}
		all = append(all, now...)
	}
	return all, nil
}

// targetsOf are the targets of a replica.
func targetsOf(name string, replica int32, p *protocol.Prepare) ([]engine.Target, error) {
	t := engine.Target{Replica: replica}
	var err error
	if t.Requests, err = newTemplates(name, p.Requests); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(name, socketPrefix); ok {
		if path == "" || len(path) > longestSocket {
			return nil, fmt.Errorf("target %q: want a path of 1 to %d bytes", name, longestSocket)
		}
		t.Socket, t.Name = path, hostOf(p.Requests)
		return []engine.Target{t}, nil
	}
	addresses, err := Addresses(name, p.Transport.Sources)
	if err != nil {
		return nil, err
	}
	t.Name, _, err = net.SplitHostPort(name)
	var all []engine.Target
	for _, a := range addresses {
		if t.Addr = a.Addr; a.Err == nil {
			all = append(all, t)
		}
	}
	return all, err
}

// socketPrefix is the prefix of a target that is a unix socket, and longestSocket the
// maximum length of its path (unix(7)).
const (
	socketPrefix  = "unix:"
	longestSocket = 107
)

// resolveWithin is the timeout for resolving a target's addresses, and acceptWithin that for a
// connection to one of several.
const (
	resolveWithin = 10 * time.Second
	acceptWithin  = time.Second
)

// Address is an address of a name, and the error of a connection to it; nil: it gets its share
// of the load.
type Address struct {
	Addr netip.AddrPort
	Err  error
}

// lookup resolves a host name. Tests replace it.
var lookup = net.DefaultResolver.LookupNetIP

// Addresses are those of host:port, such as [::1]:80 and 127.0.0.1:80 for localhost:80. Of
// several, those that accept a connection get the load; if none does, the first gets it. With
// source addresses, those of the other version of IP are left out.
func Addresses(name string, sources []string) ([]Address, error) {
	if addr, err := netip.ParseAddrPort(name); err == nil {
		return []Address{{Addr: addr}}, nil
	}
	hostname, service, err := net.SplitHostPort(name)
	if err != nil {
		return nil, fmt.Errorf("target %q: want host:port: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveWithin)
	defer cancel()
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", name, err)
	}
	ips, err := lookup(ctx, "ip", hostname)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", name, err)
	}
	var all []Address
	for _, ip := range ips {
		if a := (Address{Addr: netip.AddrPortFrom(ip.Unmap(), uint16(port))}); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	if of, err := netip.ParseAddr(append(sources, "")[0]); err == nil {
		other := func(a Address) bool { return a.Addr.Addr().Is4() != of.Unmap().Is4() }
		if alike := slices.DeleteFunc(slices.Clone(all), other); len(alike) > 0 {
			all = alike
		}
	}
	return accepting(ctx, all), nil
}

// accepting tries the addresses of a name, if there are several.
func accepting(ctx context.Context, all []Address) []Address {
	if len(all) == 1 {
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, acceptWithin)
	defer cancel()
	var tries sync.WaitGroup
	for i := range all {
		a := &all[i]
		tries.Go(func() {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", a.Addr.String())
			if a.Err = err; err == nil {
				conn.Close()
			}
		})
	}
	tries.Wait()
	if !slices.ContainsFunc(all, func(a Address) bool { return a.Err == nil }) {
		all[0].Err = nil
	}
	return all
}
