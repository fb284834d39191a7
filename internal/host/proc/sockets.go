package proc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"strconv"
)

// Socket is one line of the kernel's tables of sockets.
type Socket struct {
	Inode   uint64         // as in the link /proc/PID/fd/N: socket:[inode]
	Local   netip.AddrPort // of TCP and UDP
	Path    string         // of unix
	Listens bool           // TCP and unix: for connections
}

// ParseInet calls each for the sockets of /proc/net/tcp, tcp6, udp or udp6 until it
// returns false. Addresses are hexadecimal words of 32 bits in the machine's own
// byte order, ports are plain. State 0A is TCP_LISTEN.
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 649 1 …
//
// Linux net/ipv4/tcp_ipv4.c, get_tcp4_sock; net/ipv6/tcp_ipv6.c, get_tcp6_sock.
func ParseInet(in io.Reader, each func(Socket) bool) error {
	return eachLine(in, 10, func(fields [][]byte) (bool, error) {
		local, err := parseAddress(fields[1])
		if err != nil {
			return false, err
		}
		inode, err := strconv.ParseUint(string(fields[9]), 10, 64)
		if err != nil {
			return false, err
		}
		return each(Socket{Inode: inode, Local: local, Listens: string(fields[3]) == "0A"}), nil
	})
}

// ParseUnix calls each for the sockets of /proc/net/unix. The flag 00010000
// (__SO_ACCEPTCON) marks those that listen; the path may be missing.
//
//	Num               RefCount Protocol Flags    Type St Inode Path
//	0000000086d0d812: 00000002 00000000 00010000 0001 01   645 /run/x.sock
//
// Linux net/unix/af_unix.c, unix_seq_show.
func ParseUnix(in io.Reader, each func(Socket) bool) error {
	return eachLine(in, 7, func(fields [][]byte) (bool, error) {
		inode, err := strconv.ParseUint(string(fields[6]), 10, 64)
		if err != nil {
			return false, err
		}
		s := Socket{Inode: inode, Listens: string(fields[3]) == "00010000"}
		if len(fields) > 7 {
			s.Path = string(fields[7])
		}
		return each(s), nil
	})
}

// eachLine calls each with the words of every line except the first, until it returns
// false.
func eachLine(in io.Reader, least int, each func([][]byte) (bool, error)) error {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		if n == 1 {
			continue
		}
		fields := bytes.Fields(line)
		if len(fields) < least {
			return fmt.Errorf("line %d: %d words, want at least %d", n, len(fields), least)
		}
		more, err := each(fields)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if !more {
			return nil
		}
	}
}

// parseAddress parses "0100007F:1F90", which is 127.0.0.1:8080 on a
// little-endian machine.
func parseAddress(text []byte) (netip.AddrPort, error) {
	words, portText, _ := bytes.Cut(text, []byte(":"))
	port, err := strconv.ParseUint(string(portText), 16, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w", text, err)
	}
	bytes := make([]byte, len(words)/2)
	if _, err := hex.Decode(bytes, words); err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w", text, err)
	}
	for i := 0; i+4 <= len(bytes); i += 4 {
		binary.NativeEndian.PutUint32(bytes[i:], binary.BigEndian.Uint32(bytes[i:]))
	}
	ip, ok := netip.AddrFromSlice(bytes)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("address %q: neither IPv4 nor IPv6", text)
	}
	return netip.AddrPortFrom(ip, uint16(port)), nil
}
