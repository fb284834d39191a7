package conductor_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/conductor/conductortest"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// dialling is what the agent of a path dials a hub with.
func dialling(t *testing.T, dir string, h *Hub, path string) tunnel.Options {
	t.Helper()
	if name, ok := strings.CutPrefix(path, "/node/"); ok {
		return conductortest.Node(t, dir, h, name)
	}
	index, err := strconv.Atoi(strings.TrimPrefix(path, "/agent/"))
	if err != nil {
		t.Fatal(err)
	}
	return conductortest.Agent(t, dir, h, index)
}

func TestAStreamGoesToItsWaiter(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	dialled := make(chan net.Conn, 1)
	go func() {
		c, err := tunnel.Dial(t.Context(), dialling(t, dir, h, "/agent/3"))
		if err != nil {
			t.Error(err)
		}
		dialled <- c
	}()
	a, err := h.Agent(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	theirs := <-dialled
	offset := a.(platform.RemoteClock).Offset()
	within := a.(interface{ Within() time.Duration }).Within()
	if offset.Abs() > within || within <= 0 || within > time.Second {
		t.Errorf("its clock is %v ahead, within %v: it is the same clock", offset, within)
	}
	echo(t, a, theirs)
	echo(t, theirs, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v at the other end, want its end", err)
	}
	theirs.Close()
}

// echo sends through one end what must come out at the other.
func echo(t *testing.T, in io.Writer, out io.Reader) {
	t.Helper()
	text := strings.Repeat("frames and commands\n", 10_000)
	go io.WriteString(in, text)
	got := make([]byte, len(text))
	if _, err := io.ReadFull(out, got); err != nil || string(got) != text {
		t.Errorf("%d bytes came through (%v), want those that were sent", len(got), err)
	}
}

func TestASecondDialTakesThePlaceOfOneThatWaits(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	first := make(chan error, 1)
	go func() {
		_, err := tunnel.Dial(t.Context(), dialling(t, dir, h, "/node/worker-1"))
		first <- err
	}()
	waitFor(t, h, "/node/worker-1")
	go func() {
		if c, err := tunnel.Dial(t.Context(), dialling(t, dir, h, "/node/worker-1")); err == nil {
			io.WriteString(c, "second")
		}
	}()
	if err := <-first; err == nil || errors.Is(err, tunnel.ErrOver) {
		t.Errorf("the first ends with %v, want that its stream was closed", err)
	}
	s, _, err := h.Node(t.Context(), "worker-1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := make([]byte, 6)
	if _, err := io.ReadFull(s, text); err != nil || string(text) != "second" {
		t.Errorf("read %q (%v), want the second's word", text, err)
	}
}

// waitFor returns when a stream waits on a seat.
func waitFor(t *testing.T, h *Hub, path string) {
	t.Helper()
	testkit.Until(t, "a stream waits on "+path, func() bool { return h.Waits(path) })
}

func TestADeadStreamIsNotUsed(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() { tunnel.Dial(ctx, dialling(t, dir, h, "/agent/0")); close(gone) }()
	waitFor(t, h, "/agent/0")
	cancel()
	<-gone
	alive := make(chan struct{})
	go func() {
		defer close(alive)
		if c, err := tunnel.Dial(t.Context(), dialling(t, dir, h, "/agent/0")); err == nil {
			io.WriteString(c, "alive")
		}
	}()
	a, err := h.Agent(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	text := make([]byte, 5)
	if _, err := io.ReadFull(a, text); err != nil || string(text) != "alive" {
		t.Errorf("read %q (%v), want the word of the one that lives", text, err)
	}
	<-alive
}

func TestWhoWaitsForAStreamGivesUp(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("patience"))
	defer cancel()
	if _, err := h.Agent(ctx, 7); err == nil || err.Error() != "wait for agent 7 to dial in: patience" {
		t.Errorf("%v", err)
	}
}

func TestTheRunIsOver(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	waits := make(chan error, 1)
	go func() {
		waits <- tunnel.Serve(t.Context(), dialling(t, dir, h, "/agent/0"), func(error) {}, func(net.Conn) error { return errors.New("nobody took it") })
	}()
	waitFor(t, h, "/agent/0")
	h.Over()
	if err := <-waits; err != nil {
		t.Errorf("who waited ends with %v, want nothing", err)
	}
	if _, err := tunnel.Dial(t.Context(), dialling(t, dir, h, "/agent/1")); !errors.Is(err, tunnel.ErrOver) {
		t.Errorf("a client gets %v, want that the run is over", err)
	}
	if _, err := h.Agent(t.Context(), 0); !errors.Is(err, ErrOver) {
		t.Errorf("%v", err)
	}
}

func TestServeDialsAgain(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	served := make(chan error, 1)
	go func() {
		served <- tunnel.Serve(t.Context(), dialling(t, dir, h, "/agent/0"), func(error) {}, func(c net.Conn) error {
			_, err := io.Copy(c, c)
			return err
		})
	}()
	for trial := range 3 {
		a, err := h.Agent(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(a, "trial %d\n", trial)
		if line, err := bufio.NewReader(a).ReadString('\n'); err != nil || line != fmt.Sprintf("trial %d\n", trial) {
			t.Errorf("trial %d: %q, %v", trial, line, err)
		}
		a.Close()
	}
	h.Over()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestWhoDialsIsRefused(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	other := conductortest.Given(t) // another run's certificate, with the same token
	conductortest.Write(t, dir, "guess", "0123456789abcdefghijklmnopqrstuX")
	conductortest.Write(t, dir, "reader", conductortest.Token)
	conductortest.Write(t, dir, "key", "thekeyofthetokensofatest")
	for _, c := range []struct {
		name   string
		change func(*tunnel.Options)
		want   string
	}{
		{"another token", func(o *tunnel.Options) { o.TokenFile = filepath.Join(dir, "guess") }, "the conductor refuses: 401 Unauthorized: the header Millicore-Token does not have the token of /agent/0"},
		{"a reader's token", func(o *tunnel.Options) { o.TokenFile = filepath.Join(dir, "reader") }, "401 Unauthorized: the header Millicore-Token does not have the token of /agent/0"},
		{"another agent's token", func(o *tunnel.Options) { o.Path = "/agent/1" }, "401 Unauthorized: the header Millicore-Token does not have the token of /agent/1"},
		{"an agent's token for a node", func(o *tunnel.Options) { o.Path = "/node/worker-1" }, "401 Unauthorized: the header Millicore-Token does not have the token of /node/worker-1"},
		{"the key", func(o *tunnel.Options) { o.TokenFile = filepath.Join(dir, "key") }, "401 Unauthorized"},
		{"another certificate", func(o *tunnel.Options) { o.CertFile = filepath.Join(other, CertFile) }, "its certificate is not that of this run"},
		{"a file that is no certificate", func(o *tunnel.Options) { o.CertFile = o.TokenFile }, "has no certificate in PEM"},
		{"no file", func(o *tunnel.Options) { o.TokenFile = filepath.Join(dir, "none") }, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := dialling(t, dir, h, "/agent/0")
			c.change(&o)
			if _, err := tunnel.Dial(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func get(t *testing.T, address, path, token string) (*http.Response, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set(tunnel.TokenHeader, token)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// Each token opens its own path and no other.
func TestWhoseTokenOpensWhat(t *testing.T) {
	h := conductortest.Hub(t, conductortest.Given(t))
	for path, tokens := range map[string][]string{
		"/state":    {h.AgentToken(0), h.NodeToken("worker-1")},
		"/record":   {h.AgentToken(0), h.NodeToken("worker-1")},
		"/agent/0":  {conductortest.Token, h.AgentToken(1), h.NodeToken("0"), h.NodeToken("worker-1")},
		"/agent/00": {h.AgentToken(0)},
		"/node/a":   {conductortest.Token, h.AgentToken(0), h.NodeToken("b"), h.NodeToken("A")},
		"/":         {conductortest.Token, h.AgentToken(0)},
	} {
		for _, token := range append(tokens, "", "wrong", conductortest.Token+"x", conductortest.Token[1:], conductortest.Token+","+h.AgentToken(0)) {
			if answer, _ := get(t, h.Addr().String(), path, token); answer.StatusCode != http.StatusUnauthorized {
				t.Errorf("GET %s with the token %q: %s", path, token, answer.Status)
			}
		}
	}
	answer, body := get(t, h.Addr().String(), "/state", conductortest.Token)
	want := `{"run":"test","state":"running","exit":0,"trials_done":0,"trials_planned":0,"at":"0001-01-01T00:00:00Z"}` + "\n"
	if answer.StatusCode != http.StatusOK || body != want {
		t.Errorf("%s: %s", answer.Status, body)
	}
	if answer, _ := get(t, h.Addr().String(), "/agent/0", h.AgentToken(0)); answer.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a stream without an upgrade: %s", answer.Status)
	}
	if answer, _ := get(t, h.Addr().String(), "/record", conductortest.Token); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a record that is not there: %s", answer.Status)
	}
}

// A reader that comes later is found at the run. Requests with wrong tokens, and those
// of known readers, are not requests to the API server.
func TestReadersThatComeLater(t *testing.T) {
	const other = "another reader's token, of its own"
	known, looks, fails := []string{HashToken(conductortest.Token)}, 0, error(nil)
	r := NewReaders(func(context.Context) ([]string, error) { looks++; return known, fails })
	ask := func(token string, want bool) {
		t.Helper()
		if got, err := r.Know(context.Background(), token); got != want || err != nil {
			t.Errorf("the token %q is known: %v, %v", token, got, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ask(conductortest.Token, true)
		for range 100 {
			ask(conductortest.Token, true)
			ask(other, false)
		}
		if looks != 1 {
			t.Errorf("%d looks in one second, want 1", looks)
		}
		known = append(known, HashToken(other))
		time.Sleep(LookAgain)
		ask(HashToken(other), false) // what everybody can read at the run opens nothing
		time.Sleep(LookAgain)
		ask(other, true)
		fails = errors.New("the API server is away")
		time.Sleep(LookAgain)
		ask(other, true)
		if _, err := r.Know(t.Context(), strings.Repeat("x", 43)); !errors.Is(err, fails) {
			t.Errorf("%v, want %v", err, fails)
		}
		ask("", false)
		ask("short", false)
	})
	if ok, err := NewReaders(nil).Know(t.Context(), conductortest.Token); ok || err != nil {
		t.Errorf("without readers: %v, %v", ok, err)
	}
}

// Whatever foreign bytes come to the port, the hub serves on, and is closed with
// nothing left.
func TestForeignBytes(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", strings.Repeat("\x00", 100_000)} {
		c, err := net.Dial("tcp", h.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.Close()
	}
	for _, text := range []string{"\r\n", "GET /agent/0 HTTP/9.9\r\n\r\n", "GET /agent/0 HTTP/1.1\r\nUpgrade: millicore\r\nHost: x\r\n\r\n",
		"GET /" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /agent/0 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: millicore\r\nMillicore-Token: " + h.AgentToken(0) + "\r\n\r\nan answer that nobody asked for"} {
		c, err := tls.Dial("tcp", h.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.Close()
	}
	if answer, _ := get(t, h.Addr().String(), "/state", conductortest.Token); answer.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", answer.Status)
	}
}

func FuzzValidSeat(f *testing.F) {
	for _, seed := range []string{"/agent/0", "/agent/-1", "/agent/00", "/node/a.b-c", "/node/../x", "/agent/99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if ValidSeat(path) && (len(path) > 300 || strings.ContainsAny(strings.TrimPrefix(strings.TrimPrefix(path, "/node/"), "/agent/"), "/ %\\")) {
			t.Errorf("%q is a seat", path)
		}
	})
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(`{"run":"quick-1","seed":7,"keep_s":3600,"sets":["limits.cpu=1"]}`))
	f.Add([]byte(`{"run":"x","keep_s":1e300}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := ParseSpec(text); err == nil && (r.Run == "" || r.Keep() < 0 || r.Keep() > MostKeep) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}
