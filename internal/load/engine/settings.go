package engine

import (
	"net"
	"sync"
)

// settingsConn is a connection that tells when the service's settings have been
// read, which come before all else (RFC 9113, 3.4). Until then net/http supposes
// that it carries a hundred streams, and where they are fewer, requests that have
// reserved one may wait for each other.
type settingsConn struct {
	net.Conn
	head  []byte // of the first frame: 3 bytes of length, and 6 others
	left  int    // of that frame
	whole bool   // it was given to the reader
	http1 bool   // it is no frame
	once  sync.Once
	known chan struct{} // closed when settings, or the end, are known
}

func newSettingsConn(conn net.Conn) *settingsConn {
	return &settingsConn{Conn: conn, known: make(chan struct{})}
}

// Read is called by one goroutine. Once it is called again, what it gave before
// has been looked at.
func (c *settingsConn) Read(b []byte) (int, error) {
	if c.whole {
		c.tell()
	}
	n, err := c.Conn.Read(b)
	if !c.whole {
		c.look(b[:n])
	}
	return n, err
}

const frameHead = 9

func (c *settingsConn) look(b []byte) {
	if missing := frameHead - len(c.head); missing > 0 {
		n := min(missing, len(b))
		c.head, b = append(c.head, b[:n]...), b[n:]
		if n < missing {
			return
		}
		c.left = int(c.head[0])<<16 | int(c.head[1])<<8 | int(c.head[2])
		c.http1 = string(c.head[:7]) == "HTTP/1."
	}
	c.left -= len(b)
	c.whole = c.left <= 0
}

func (c *settingsConn) Close() error {
	defer c.tell()
	return c.Conn.Close()
}

func (c *settingsConn) tell() { c.once.Do(func() { close(c.known) }) }
