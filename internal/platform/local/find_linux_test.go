package local

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/test/testkit"
)

// freePorts returns free ports in rising order.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var p ports.Set
	all := make([]int, n)
	for i := range all {
		port, err := p.Take()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = port
	}
	slices.Sort(all)
	return all
}

func withIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	l.Close()
}

// finding is a unit whose port is to be found; PORTn in its words are free ports
// in rising order.
func finding(t *testing.T, ports []int, what ...string) platform.UnitSpec {
	for i, word := range what {
		for n, port := range ports {
			word = strings.ReplaceAll(word, fmt.Sprintf("PORT%d", n), strconv.Itoa(port))
		}
		what[i] = word
	}
	u := doing(t, what...)
	u.FindPort = true
	return u
}

func TestFindingThePort(t *testing.T) {
	testkit.Long(t, "waits for services that never serve")
	p := open(t, Options{})
	cases := []struct {
		name string
		path string // of readiness
		v6   bool
		do   []string
		want string
	}{
		{"all IPv4 addresses", "", false, []string{"http:0.0.0.0:PORT0"}, "127.0.0.1:PORT0"},
		{"loopback", "", false, []string{"http:127.0.0.1:PORT0"}, "127.0.0.1:PORT0"},
		{"another address of loopback", "", false, []string{"http:127.9.9.9:PORT0"}, "127.9.9.9:PORT0"},
		{"all addresses", "", false, []string{"http::PORT0"}, "127.0.0.1:PORT0"},
		{"all IPv6 addresses and no IPv4 one", "", true, []string{"http:[::]:PORT0"}, "[::1]:PORT0"},
		{"loopback of IPv6", "", true, []string{"http:[::1]:PORT0"}, "[::1]:PORT0"},
		{"a child's", "", false, []string{"child:http:127.0.0.1:PORT0"}, "127.0.0.1:PORT0"},
		{"a grandchild's", "", false, []string{"child:child:http:127.0.0.1:PORT0"}, "127.0.0.1:PORT0"},
		{"the lowest of several", "", false, []string{"http:127.0.0.1:PORT2", "http:127.0.0.1:PORT1", "child:http:127.0.0.1:PORT0"}, "127.0.0.1:PORT0"},
		{"the one that speaks HTTP", "", false, []string{"raw:127.0.0.1:PORT0", "http:127.0.0.1:PORT1", "udp:127.0.0.1:PORT2"}, "127.0.0.1:PORT1"},
		{"the one that answers well", "", false, []string{"http:127.0.0.1:PORT0", "fine:127.0.0.1:PORT1"}, "127.0.0.1:PORT1"},
		{"one that says that there is nothing", "", false, []string{"raw:127.0.0.1:PORT0", "http:127.0.0.1:PORT1"}, "127.0.0.1:PORT1"},
		{"the one that has the path", "/healthz", false, []string{"http:127.0.0.1:PORT0", "path:127.0.0.1:PORT1"}, "127.0.0.1:PORT1"},
	}
	const each = 3
	free := freePorts(t, each*len(cases))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.v6 {
				withIPv6(t)
			}
			ports := free[i*each:][:each]
			u := finding(t, ports, append([]string{"listen"}, c.do...)...)
			u.Ready.Path = c.path
			running := start(t, p, u)
			want := c.want
			for n, port := range ports {
				want = strings.ReplaceAll(want, fmt.Sprintf("PORT%d", n), strconv.Itoa(port))
			}
			r := running.Replicas()[0]
			if r.Address() != want {
				t.Errorf("found %s, want %s", r.Address(), want)
			}
			mustGet(t, r, "/healthz")
			if err := running.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// What takes ${port} or PORT is found as well.
func TestFindingTheAssignedPort(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.FindPort = true
	u.Command = append(u.Command, "--port=${port}")
	r := start(t, p, u).Replicas()[0]
	_, port, _ := net.SplitHostPort(r.Address())
	if args := mustGet(t, r, "/args"); !strings.HasSuffix(args, "--port="+port) {
		t.Errorf("found at %s, arguments %s", r.Address(), args)
	}
}

func TestNoPortIsFound(t *testing.T) {
	testkit.Long(t, "waits for services that never serve")
	p := open(t, Options{})
	socket := filepath.Join(t.TempDir(), "x.sock")
	for _, c := range []struct {
		name string
		do   []string
		want []string
	}{
		{"nothing", []string{"deaf"}, []string{"not ready within 5s (it listens on no TCP port; set --port", "I do not listen"}},
		{"a unix socket", []string{"listen", "unix:" + socket}, []string{"only on the unix socket " + socket}},
		{"UDP", []string{"listen", "udp:127.0.0.1:PORT0"}, []string{"no TCP port, only on UDP port PORT0"}},
		{"no HTTP", []string{"listen", "raw:127.0.0.1:PORT0"}, []string{"none of its ports gives a valid HTTP answer", "127.0.0.1:PORT0", "--port"}},
		{"ends at once", []string{"background", "what?"}, []string{"ended before it was ready: ended with exit status 0"}},
		{"in the background", []string{"background", "http:127.0.0.1:PORT0"}, []string{"ended with exit status 0 and left ", "running in the background; a service must stay in the foreground"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ports := freePorts(t, 1)
			u := finding(t, ports, c.do...)
			u.Ready.Timeout = notServing
			if c.do[0] == "background" {
				u.Ready.Timeout = testkit.Patience
			}
			_, err := p.Start(t.Context(), u)
			if err == nil {
				t.Fatal("it started")
			}
			for _, part := range c.want {
				part = strings.ReplaceAll(part, "PORT0", strconv.Itoa(ports[0]))
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error: %v\nwant in it: %s", err, part)
				}
			}
		})
	}
}

// The address of this machine in a network is none of loopback's.
func TestOnlyAnAddressOfTheNetwork(t *testing.T) {
	testkit.Long(t, "waits for services that never serve")
	p := open(t, Options{})
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip := a.(*net.IPNet).IP
		if ip.IsLoopback() || ip.To4() == nil {
			continue
		}
		u := finding(t, freePorts(t, 1), "listen", "raw:"+ip.String()+":PORT0")
		u.Ready.Timeout = notServing
		if _, err := p.Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), "it listens only on "+ip.String()) || !strings.Contains(err.Error(), "goes to loopback only") {
			t.Errorf("error %v", err)
		}
		return
	}
	t.Skip("this machine has no address but loopback's")
}

func TestAFoundPortIsFoundAgainAfterARestart(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := finding(t, freePorts(t, 1), "listen", "child:raw:127.0.0.1:0", "http:127.0.0.1:PORT0")
	r := start(t, p, u).Replicas()[0]
	address := r.Address()
	get(t, r, "/exit")
	testkit.Until(t, "up again", func() bool {
		sample, err := r.ThrottleSample()
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return sample.Up && c.Restarts == 1
	})
	mustGet(t, r, "/healthz")
	if r.Address() != address {
		t.Errorf("address %s, was %s", r.Address(), address)
	}
}

func TestAServiceThatComesBackOnAnotherPortIsDown(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	mark := filepath.Join(t.TempDir(), "mark")
	ports := freePorts(t, 2)
	u := finding(t, ports, "listen", "life:"+mark+"=http:127.0.0.1:PORT0|http:127.0.0.1:PORT1")
	r := start(t, p, u).Replicas()[0]
	get(t, r, "/exit")
	want := fmt.Sprintf("it now listens on 127.0.0.1:%d, not on 127.0.0.1:%d", ports[1], ports[0])
	testkit.Until(t, "a note of it", func() bool { return strings.Contains(logOf(t, u.Logs), want) })
	if sample, err := r.ThrottleSample(); err != nil || sample.Up {
		t.Errorf("up %v (%v)", sample.Up, err)
	}
}

func TestServiceOnAPortOfItsOwn(t *testing.T) {
	p := open(t, Options{})
	port := freePorts(t, 1)[0]
	for _, address := range []string{"127.0.0.1", "0.0.0.0", "", "[::1]"} {
		t.Run(address, func(t *testing.T) {
			if address == "[::1]" {
				withIPv6(t)
			}
			u := doing(t, "listen", fmt.Sprintf("http:%s:%d", address, port))
			u.Port = port
			running := start(t, p, u)
			mustGet(t, running.Replicas()[0], "/")
			if err := running.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			if holder, err := ports.Holder(port); holder != "" || err != nil {
				t.Errorf("after it has stopped the port is %s's (%v)", holder, err)
			}
		})
	}
}

func TestPortInUse(t *testing.T) {
	p := open(t, Options{})
	port := freePorts(t, 1)[0]
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	u := server(t.TempDir())
	u.Port = port
	own, err := os.Executable() // in a machine of its own the program has another name
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Start(t.Context(), u)
	want := fmt.Sprintf("port %d is in use by %.15s (pid ", port, filepath.Base(own))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want in it: %s", err, want)
	}
	e := &experiment.Experiment{Cells: []experiment.Cell{{Service: experiment.Service{Name: "s", Command: []string{"x"}, Port: port}}}}
	if err := p.Check(e); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("check: error %v, want in it: %s", err, want)
	}
	l.Close()
	if err := p.Check(e); err != nil {
		t.Error(err)
	}
	running := start(t, p, u)
	other := u
	other.Logs = t.TempDir()
	if _, err := p.Start(t.Context(), other); err == nil || !strings.Contains(err.Error(), "already used by another service of this run") {
		t.Errorf("error %v", err)
	}
	mustGet(t, running.Replicas()[0], "/healthz")
}

func TestListeningElsewhereThanOnItsPort(t *testing.T) {
	testkit.Long(t, "waits for services that never serve")
	p := open(t, Options{})
	ports := freePorts(t, 2)
	u := doing(t, "listen", fmt.Sprintf("http:127.0.0.1:%d", ports[1]))
	u.Port, u.Ready.Timeout = ports[0], notServing
	want := fmt.Sprintf("it listens on 127.0.0.1:%d and not on port %d", ports[1], ports[0])
	if _, err := p.Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want in it: %s", err, want)
	}
}

// A server that closes connections without TLS, as Node.js does, is not only one that gives no
// HTTP answer. The service is this process.
func TestAPortWithTLSIsNamedAsSuch(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	config := secure.TLS
	secure.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*tls.Conn).Handshake()
			}()
		}
	}()
	_, look := supervise.FindPort(experiment.Ready{}, func() ([]netip.AddrPort, error) { return ports.Listening([]int{os.Getpid()}) })
	want := fmt.Sprintf("port %d speaks TLS (HTTPS), not HTTP", listener.Addr().(*net.TCPAddr).Port)
	testkit.Until(t, "the port is known to speak TLS", func() bool {
		_, err := look(t.Context())
		return err != nil && strings.Contains(err.Error(), want)
	})
}
