package h2

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// answers keeps what a connection reports.
type answers struct {
	status map[int32]int
	body   map[int32][]byte
	ended  map[int32]Ending
	rooms  []int32
	calls  map[int32]string // code and text
}

func newAnswers() *answers {
	return &answers{map[int32]int{}, map[int32][]byte{}, map[int32]Ending{}, nil, map[int32]string{}}
}

func (a *answers) Head(key int32, status int)  { a.status[key] = status }
func (a *answers) Body(key int32, part []byte) { a.body[key] = append(a.body[key], part...) }
func (a *answers) Call(key int32, code int, text string, pushback bool) {
	if a.calls[key] = fmt.Sprint(code, " ", text); pushback {
		a.calls[key] += " later"
	}
}
func (a *answers) Room(key int32) { a.rooms = append(a.rooms, key) }
func (a *answers) End(key int32, how Ending) {
	if _, twice := a.ended[key]; twice {
		panic("a request ended twice")
	}
	a.ended[key] = how
}

// request begins a request whose head is that of HTTP/1.1.
func request(t testing.TB, c *Conn, key int32, head, body string) *Stream {
	t.Helper()
	block, err := AppendBlock(nil, []byte(strings.ReplaceAll(head, "\n", "\r\n")), false)
	if err != nil {
		t.Fatal(err)
	}
	return c.Request(key, block, strings.HasPrefix(head, "HEAD"), body == "")
}

// Go's server answers requests with bodies larger than its windows, and sends what an
// answer may have beside its head and body.
func TestAgainstGosServer(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/hints":
			w.WriteHeader(http.StatusEarlyHints)
		case "/trailers":
			w.Header().Set("Trailer", "Grpc-Status")
			defer w.Header().Set("Grpc-Status", "0")
		case "/large":
			w.Write(bytes.Repeat([]byte("x"), 3<<20))
			return
		case "/none":
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprintf(w, "%s %s %s %d %s", r.Method, r.Host, r.URL, len(body), r.Header.Get("X-Name"))
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	got := newAnswers()
	c := New(got)
	long := strings.Repeat("v", 300)
	cases := []struct{ head, body, want string }{
		{"GET / HTTP/1.1\nHost: here", "", "GET here / 0 "},
		{"POST /a?b=c HTTP/1.1\nhost: here\nContent-Length: 2\nX-Name: " + long, "ab", "POST here /a?b=c 2 " + long},
		{"PUT /big HTTP/1.1\nHost: here\nConnection: keep-alive\nX-Name:  padded  ", strings.Repeat("b", 5<<20), "PUT here /big 5242880 padded"},
		{"HEAD / HTTP/1.1\nHost: here", "", ""},
		{"GET /hints HTTP/1.1\nHost: here", "", "GET here /hints 0 "},
		{"GET /trailers HTTP/1.1\nHost: here", "", "GET here /trailers 0 "},
		{"GET /none HTTP/1.1\nHost: here", "", ""},
		{"GET /large HTTP/1.1\nHost: here", "", strings.Repeat("x", 3<<20)},
	}
	rest := map[int32][]byte{}
	streams := map[int32]*Stream{}
	send := func(key int32) { rest[key] = rest[key][c.Data(streams[key], rest[key]):] }
	for i, x := range cases {
		key := int32(i)
		streams[key], rest[key] = request(t, c, key, x.head, x.body), []byte(x.body)
		send(key)
	}
	b := make([]byte, 1<<16)
	for len(got.ended) < len(cases) {
		for len(c.Out()) > 0 {
			n, err := conn.Write(c.Out())
			if c.Wrote(n); err != nil {
				t.Fatal(err)
			}
		}
		n, err := conn.Read(b)
		if err != nil {
			t.Fatalf("after %v: %v", got.ended, err)
		}
		if err := c.Receive(b[:n]); err != nil {
			t.Fatal(err)
		}
		for _, key := range got.rooms {
			send(key)
		}
		got.rooms = nil
	}
	for i, x := range cases {
		key, status := int32(i), 200
		if strings.Contains(x.head, "/none") {
			status = 204
		}
		if got.ended[key] != Whole || got.status[key] != status || string(got.body[key]) != x.want {
			t.Errorf("%.30s: ended %d, status %d, body %.60q (%d bytes)", x.head, got.ended[key], got.status[key], got.body[key], len(got.body[key]))
		}
	}
	if c.Active() != 0 || c.Most() != 250 {
		t.Errorf("%d requests are under way, and the service allows %d; want 0 and 250", c.Active(), c.Most())
	}
}

// x/net's Framer and HPACK decoder read what the client sends.
func TestFramesOfARequest(t *testing.T) {
	c := New(newAnswers())
	long := strings.Repeat("h", 40000) // more than two frames
	s := request(t, c, 7, "DELETE /x HTTP/1.1\nHost: a:1\nX-Long: "+long+"\nTE: trailers", "body")
	if n := c.Data(s, []byte("body")); n != 4 {
		t.Fatalf("%d bytes were sent, want 4", n)
	}
	c.Cancel(s)
	sent := c.Out()
	if !bytes.HasPrefix(sent, []byte(http2.ClientPreface)) {
		t.Fatalf("it begins with %q", sent[:30])
	}
	f := http2.NewFramer(io.Discard, bytes.NewReader(sent[len(http2.ClientPreface):]))
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var all []string
	for {
		frame, err := f.ReadFrame()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := frame.(type) {
		case *http2.SettingsFrame:
			x.ForeachSetting(func(s http2.Setting) error { all = append(all, s.String()); return nil })
		case *http2.WindowUpdateFrame:
			all = append(all, fmt.Sprint("window ", x.StreamID, x.Increment))
		case *http2.MetaHeadersFrame:
			for _, h := range x.Fields {
				all = append(all, fmt.Sprintf("%s=%.12s", h.Name, h.Value))
			}
		case *http2.DataFrame:
			all = append(all, fmt.Sprintf("%s %t", x.Data(), x.StreamEnded()))
		case *http2.RSTStreamFrame:
			all = append(all, x.ErrCode.String())
		}
	}
	want := "[ENABLE_PUSH = 0] [INITIAL_WINDOW_SIZE = 2147483647] [MAX_HEADER_LIST_SIZE = 65536] window 0 2147418112 " +
		":method=DELETE :scheme=http :path=/x :authority=a:1 x-long=hhhhhhhhhhhh te=trailers body true CANCEL"
	if got := strings.Join(all, " "); got != want {
		t.Errorf("sent\n%s, want\n%s", got, want)
	}
}

// A stream's window is renewed as the connection's is, so that an answer may have any length; one
// that has ended needs none.
func TestTheWindowOfALongAnswer(t *testing.T) {
	for _, last := range []bool{false, true} {
		c := New(newAnswers())
		s := request(t, c, 1, "GET / HTTP/1.1", "")
		f := newFrames()
		f.head(1, false, ":status 200")
		if err := f.take(c); err != nil {
			t.Fatal(err)
		}
		c.Wrote(len(c.Out()))
		c.credit, s.credit = largestWindow/2+1, largestWindow/2+1
		f.WriteData(1, last, []byte("ab"))
		if err := f.take(c); err != nil {
			t.Fatal(err)
		}
		want := appendWord(nil, frameWindowUpdate, 0, largestWindow/2+2)
		if !last {
			want = appendWord(want, frameWindowUpdate, 1, largestWindow/2+2)
		}
		if got := c.Out(); !bytes.Equal(got, want) {
			t.Errorf("last %v: it sends %x, want %x", last, got, want)
		}
	}
}
