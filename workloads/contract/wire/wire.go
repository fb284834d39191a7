// Package wire records what a service sends to its database. A proxy between the two
// counts the statements that are outstanding on each connection: sent, and not answered
// yet. It parses only the frames of the two protocols, and needs them without TLS.
package wire

import (
	"bufio"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Recorder is a proxy in front of a database.
type Recorder struct {
	url      string
	database string // its address
	protocol protocol
	mu       sync.Mutex
	most     int
	inserts  int
}

// event is what a message means to the count.
type event int

const (
	other     event = iota
	statement       // from the client, and to be answered
	insert          // a statement that adds a device
	answer          // from the database, to the oldest statement without one
)

// protocol reads the messages of a database's protocol.
type protocol struct {
	// client and server read the next message of a side, whole, and what it means.
	client, server func(*bufio.Reader) ([]byte, event, error)
	// greeting reads the first message of a client, nil where it is like the others.
	greeting func(*bufio.Reader) ([]byte, error)
}

// Start starts a proxy in front of the database at a URL, postgres://… or mongodb://…,
// which ends with the test.
func Start(t testing.TB, databaseURL string) *Recorder {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{database: u.Host, protocol: postgres}
	if u.Scheme == "mongodb" {
		r.protocol = mongoDB
	}
	u.Host = listener.Addr().String()
	r.url = u.String()

	var open connections
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed by the test
			}
			serving.Go(func() { r.serve(client, &open) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.close()
		serving.Wait()
	})
	return r
}

// URL is that of the database, with the address of the proxy.
func (r *Recorder) URL() string { return r.url }

// Outstanding is the most statements that one connection had outstanding at a time.
func (r *Recorder) Outstanding() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

// Inserts is how many devices the service sent.
func (r *Recorder) Inserts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inserts
}

// serve relays one connection until either side ends it.
func (r *Recorder) serve(client net.Conn, open *connections) {
	defer client.Close()
	server, err := net.Dial("tcp", r.database)
	if err != nil {
		return // the service sees its connection end, as that of a database that is gone
	}
	defer server.Close()
	open.add(client, server)

	outstanding := 0
	note := func(e event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case e == statement || e == insert:
			outstanding++
			r.most = max(r.most, outstanding)
			if e == insert {
				r.inserts++
			}
		case e == answer && outstanding > 0: // MongoDB answers some questions more than once
			outstanding--
		}
	}
	var back sync.WaitGroup
	back.Go(func() {
		relay(bufio.NewReader(server), client, r.protocol.server, note)
		client.Close()
	})
	from := bufio.NewReader(client)
	if r.protocol.greeting == nil || greet(from, server, r.protocol.greeting) {
		relay(from, server, r.protocol.client, note)
	}
	server.Close()
	back.Wait()
}

func greet(from *bufio.Reader, to net.Conn, greeting func(*bufio.Reader) ([]byte, error)) bool {
	message, err := greeting(from)
	if err != nil {
		return false
	}
	_, err = to.Write(message)
	return err == nil
}

// relay passes messages on until there are no more. A message is counted before it is
// passed on, so that no answer can precede its statement.
func relay(from *bufio.Reader, to net.Conn, next func(*bufio.Reader) ([]byte, event, error), note func(event)) {
	for {
		message, e, err := next(from)
		if err != nil {
			return
		}
		note(e)
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// connections are those to close at the end of a test.
type connections struct {
	mu  sync.Mutex
	all []net.Conn
}

func (c *connections) add(more ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, more...)
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		_ = one.Close()
	}
}
