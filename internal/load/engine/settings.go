package engine

import (
	"net"
	"sync"
)

// settingsConn is a connection that announces when the service's SETTINGS frame has
// been read, which is the first frame (RFC 9113, 3.4). Until then net/http assumes a
// maximum of a hundred streams. If the service allows fewer, requests with a reserved
// stream could wait for each other.
type settingsConn struct {
	net.Conn
	head  []byte // of the first frame: 3 bytes of length and 6 others
	left  int    // bytes of that frame to come
	whole bool   // the reader has received the whole frame
	http1 bool   // it is an HTTP/1 answer, not a frame
	once  sync.Once
	known chan struct{} // closed when the settings are known, or the connection ends
}

func newSettingsConn(conn net.Conn) *settingsConn {
	return &settingsConn{Conn: conn, known: make(chan struct{})}
}

// Read is called by one goroutine. A new call means that the bytes of the previous one
// have been processed.
func (c *settingsConn) Read(b []byte) (int, error) {
	if c.whole {
		c.announce()
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
	defer c.announce()
	return c.Conn.Close()
}

func (c *settingsConn) announce() { c.once.Do(func() { close(c.known) }) }
