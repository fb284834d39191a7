package poll

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/load/port"
)

// mostOfSource is the number of connections from one source address to a target. connect
// looks among the ports of one parity first, 14,116 by default, and once they are in use it
// looks at each of them before it takes one of the others (Linux, __inet_hash_connect).
const mostOfSource = 12_000

// source is the source address of a slot's connection; the zero Addr is the kernel's choice.
// To loopback of IPv4 each mostOfSource connections have one: 127.0.0.2, 127.0.0.3 and so on,
// but for the first ones. IPv6 has one loopback address only.
func (p *Poller) source(slot int32, to *sockaddr) netip.Addr {
	if of := len(p.place.Sources); of > 0 && to.family != unix.AF_UNIX {
		return p.place.Sources[p.place.connection(slot)%of]
	}
	n := p.place.connection(slot) / mostOfSource
	if !to.loopback || p.plain || n == 0 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, byte(n) + 1})
}

// connect starts a connection from a source address.
func (p *Poller) connect(slot int32, to *sockaddr, from netip.Addr) unix.Errno {
	fd, _, errno := unix.RawSyscall(unix.SYS_SOCKET, uintptr(to.family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errno != 0 {
		return errno
	}
	p.fds[slot] = int32(fd)
	if to.family != unix.AF_UNIX {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		askForStamps(int(fd))
	}
	if from.IsValid() { // connect chooses the port, for this target only
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		if err := unix.Bind(int(fd), unixAddr(from)); err != nil {
			return errnoOf(err)
		}
	}
	_, _, errno = unix.RawSyscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&to.raw)), to.size)
	return errno
}

func unixAddr(ip netip.Addr) unix.Sockaddr {
	if ip.Is4() {
		return &unix.SockaddrInet4{Addr: ip.As4()}
	}
	return &unix.SockaddrInet6{Addr: ip.As16()}
}

// Sources are the addresses of these names, each of which must be one of this machine, and of
// the family of the targets.
func Sources(names []string, targets []port.Target) (all []netip.Addr, err error) {
	for _, name := range names {
		ip, err := netip.ParseAddr(name)
		if err != nil {
			return nil, fmt.Errorf("source address %s: want an IP address", name)
		}
		ip = ip.Unmap()
		for i := range targets {
			if t := &targets[i]; !t.Gone && t.Socket == "" && t.Addr.Addr().Unmap().Is4() != ip.Is4() {
				return nil, fmt.Errorf("source address %s: the target %s is of the other version of IP", name, t.Addr)
			}
		}
		family := unix.AF_INET6
		if ip.Is4() {
			family = unix.AF_INET
		}
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("source address %s: make a socket: %w", name, err)
		}
		err = unix.Bind(fd, unixAddr(ip))
		_ = unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("source address %s: %w: name an address of this machine", name, err)
		}
		all = append(all, ip)
	}
	return all, nil
}

// useless are the errors of connections from a source address that this machine or its
// firewall does not allow.
func useless(errno unix.Errno) bool {
	switch errno {
	case unix.EADDRNOTAVAIL, unix.EINVAL, unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EACCES, unix.EPERM:
		return true
	}
	return false
}

// errnoOf is the number of an error of package unix, which does not wrap it.
func errnoOf(err error) (errno unix.Errno) {
	errors.As(err, &errno)
	return errno
}

// Sourced is the number of connections that were made from a source address that nobody
// named, other than the kernel's choice.
func (p *Poller) Sourced() int64 { return p.sourced }

// lack records that this machine, not the service, refused a connection. The trial
// ends, because its figures would blame the service.
func (p *Poller) lack(what string, errno unix.Errno) port.Outcome {
	p.Fail(fmt.Errorf("%s: %w; %s", what, errno, remedy(errno)))
	return port.Exhausted
}

func remedy(errno unix.Errno) string {
	switch errno {
	case unix.EADDRNOTAVAIL, unix.EAGAIN:
		return "this machine has no free local port for the target: " + portsOf("/proc/sys/net/ipv4/ip_local_port_range") + "; widen net.ipv4.ip_local_port_range, name source addresses (load: --source), or let the service keep its connections open"
	case unix.EMFILE:
		return "all " + filesAllowed() + " files that are allowed are open: raise the limit (ulimit -n), or configure fewer connections"
	case unix.ENFILE:
		return "this machine has too many open files: raise fs.file-max, or configure fewer connections"
	}
	return "the kernel lacks memory for sockets: configure fewer connections"
}

// portsOf says how many ports the kernel chooses from (ip-sysctl.rst).
func portsOf(file string) string {
	text, err := os.ReadFile(file)
	var low, high int
	if _, scanned := fmt.Sscan(string(text), &low, &high); err != nil || scanned != nil {
		return "their number is not known"
	}
	return fmt.Sprintf("there are %d (%d to %d)", high-low+1, low, high)
}

func filesAllowed() string {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return ""
	}
	return fmt.Sprint(limit.Cur)
}
