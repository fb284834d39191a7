package ports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/procfiles"
)

// This file finds the processes that listen on ports.

// ownNet has the tables of sockets of this process's network.
const ownNet = "/proc/net"

// readTable reads one of the kernel's tables of sockets in a folder, which may be missing.
func readTable(folder, name string, parse func(io.Reader, func(proc.Socket) bool) error, each func(proc.Socket) bool) error {
	f, err := os.Open(folder + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no IPv6
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := parse(f, each); err != nil {
		return fmt.Errorf("read %s/%s: %w", folder, name, err)
	}
	return nil
}

// listeners are all TCP sockets that listen in the network of a folder's tables. The tables begin
// with them (tcp_get_idx in net/ipv4/tcp_ipv4.c), so that the connections behind
// them, thousands under load, need not be read.
func listeners(folder string) ([]proc.Socket, error) {
	var all []proc.Socket
	each := func(s proc.Socket) bool {
		if s.Listens {
			all = append(all, s)
		}
		return s.Listens
	}
	err := errors.Join(readTable(folder, "tcp", proc.ParseInet, each), readTable(folder, "tcp6", proc.ParseInet, each))
	return all, err
}

// socketsOf returns the inodes of the sockets of processes. A process that has ended has
// none. It is an error if a process may not be read.
func socketsOf(pids []int) (map[uint64]bool, error) {
	held := map[uint64]bool{}
	host := procfiles.New(procDir)
	for _, pid := range pids {
		err := eachSocket(host, pid, func(inode uint64) { held[inode] = true })
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("read the sockets of process %d (%s): %w; run as root, or set --port", pid, NameOf(pid), fs.ErrPermission)
		}
	}
	return held, nil
}

// procDir is where the kernel shows the processes.
const procDir = "/proc"

// eachSocket calls each for the inodes of a process's sockets.
func eachSocket(host *procfiles.Host, pid int, each func(inode uint64)) error {
	return host.Sockets(pid, func(text string) {
		if inode, err := strconv.ParseUint(text, 10, 64); err == nil {
			each(inode)
		}
	})
}

// Listening returns the loopback addresses at which processes may be reached, the lowest
// port first and for each port the most likely address first. If there are none, the
// error has the addresses on which they listen instead.
func Listening(pids []int) ([]netip.AddrPort, error) {
	held, err := socketsOf(pids)
	if err != nil {
		return nil, err
	}
	all, err := listeners(ownNet)
	if err != nil {
		return nil, err
	}
	others := map[netip.AddrPort]bool{} // other processes have them on IPv4
	for _, s := range all {
		if !held[s.Inode] && s.Local.Addr().Unmap().Is4() {
			for _, a := range reachable(s.Local) {
				others[a] = true
			}
		}
	}
	var found, far []netip.AddrPort
	for _, s := range all {
		if !held[s.Inode] {
			continue
		}
		at := reachable(s.Local)
		if len(at) == 0 {
			far = append(far, s.Local)
		}
		for _, a := range at {
			if !others[a] && !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b netip.AddrPort) int { return cmp.Compare(a.Port(), b.Port()) })
	switch {
	case len(found) > 0:
		return found, nil
	case len(far) > 0:
		return nil, fmt.Errorf("it listens only on %v, and traffic goes to loopback only: let it listen on 127.0.0.1", far[0])
	}
	return nil, noTCP(held)
}

// dockersDNS is the address of the DNS server that Docker runs in the network of a container.
// It listens on a TCP port too (moby libnetwork/resolver_unix.go).
var dockersDNS = netip.AddrFrom4([4]byte{127, 0, 0, 11})

// ListeningIn returns the addresses at which the processes in the network of a process may
// be reached from outside of it, at an address of that network, the lowest port first. If
// there are none, the error has the addresses on which they listen instead.
func ListeningIn(pid int, at netip.Addr) ([]netip.AddrPort, error) {
	all, err := listeners(fmt.Sprintf("%s/%d/net", procDir, pid))
	if err != nil {
		return nil, err
	}
	return reachableAt(all, at)
}

// reachableAt are the sockets that can be reached at an address.
func reachableAt(all []proc.Socket, at netip.Addr) ([]netip.AddrPort, error) {
	var found, far []netip.AddrPort
	for _, s := range all {
		ip := s.Local.Addr().Unmap()
		switch here := netip.AddrPortFrom(at, s.Local.Port()); {
		case ip == dockersDNS:
		case !ip.IsUnspecified() && ip != at:
			far = append(far, netip.AddrPortFrom(ip, s.Local.Port()))
		case !slices.Contains(found, here):
			found = append(found, here)
		}
	}
	slices.SortFunc(found, func(a, b netip.AddrPort) int { return cmp.Compare(a.Port(), b.Port()) })
	switch {
	case len(found) > 0:
		return found, nil
	case len(far) > 0:
		return nil, fmt.Errorf("it listens only on %v, which nobody outside of its container reaches: let it listen on all addresses (0.0.0.0)", far[0])
	}
	return nil, errors.New("it listens on no TCP port")
}

// noTCP is the error for processes without a TCP port. It names their other sockets.
func noTCP(held map[uint64]bool) error {
	var unix, udp string
	unixErr := readTable(ownNet, "unix", proc.ParseUnix, func(s proc.Socket) bool {
		if held[s.Inode] && s.Listens && unix == "" {
			unix = "the unix socket " + s.Path
		}
		return true
	})
	each := func(s proc.Socket) bool {
		if held[s.Inode] && udp == "" && s.Local.Port() != 0 {
			udp = fmt.Sprintf("UDP port %d", s.Local.Port())
		}
		return true
	}
	err := errors.Join(unixErr, readTable(ownNet, "udp", proc.ParseInet, each), readTable(ownNet, "udp6", proc.ParseInet, each))
	if only := cmp.Or(unix, udp); only != "" && err == nil {
		return fmt.Errorf("it listens on no TCP port, only on %s; let it listen on a TCP port", only)
	}
	return errors.New("it listens on no TCP port; set --port (port: in an experiment file) if it has one that cannot be detected")
}

// Holder names the process that listens on a port; "" if there is none.
func Holder(port int) (string, error) {
	pids, listens, err := Holders(port)
	switch {
	case err != nil || !listens:
		return "", err
	case len(pids) == 0:
		return "a process that cannot be seen from here", nil
	}
	return NameOf(pids[0]) + " (pid " + strconv.Itoa(pids[0]) + ")", nil
}

// Holders are the processes that hold a socket which listens on a port, as far as they can
// be seen, and whether there is such a socket.
func Holders(port int) (pids []int, listens bool, err error) {
	all, err := listeners(ownNet)
	if err != nil {
		return nil, false, err
	}
	held := map[uint64]bool{}
	for _, s := range all {
		if int(s.Local.Port()) == port {
			held[s.Inode] = true
		}
	}
	if len(held) == 0 {
		return nil, false, nil
	}
	entries, err := os.ReadDir(procDir)
	if err != nil {
		return nil, true, err
	}
	host := procfiles.New(procDir)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		holds := false
		_ = eachSocket(host, pid, func(inode uint64) { holds = holds || held[inode] }) // it cannot be seen, or has ended
		if holds {
			pids = append(pids, pid)
		}
	}
	return pids, true, nil
}

// NameOf is the name of a process: that of its program, in at most 15 letters.
func NameOf(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "ended"
	}
	return strings.TrimSpace(string(name))
}
