package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// names makes host names of lists of addresses: "127.0.0.1,::1.test".
func names(t *testing.T) {
	before := lookup
	t.Cleanup(func() { lookup = before })
	lookup = func(_ context.Context, _, host string) (all []netip.Addr, err error) {
		list, ok := strings.CutSuffix(host, ".test")
		if !ok {
			return nil, errors.New("no such host")
		}
		for _, text := range strings.Split(list, ",") {
			all = append(all, netip.MustParseAddr(text))
		}
		return all, nil
	}
}

// An open loop loads all addresses of a name in turn, but for one that refuses connections.
func TestAllAddressesOfANameAreLoaded(t *testing.T) {
	names(t)
	first := startHostile(t, answering(fine))
	_, port, _ := net.SplitHostPort(first.addr())
	second := startHostileAt(t, "127.0.0.2:"+port, answering(fine))
	name := "127.0.0.3,127.0.0.1,127.0.0.2.test:" + port
	c := serve(t)
	if _, err := c.Prepare(t.Context(), openLoop(name, 200, 0.2)); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	var frames []*signals.Frame
	if _, err := c.Follow(t.Context(), func(f *signals.Frame) error { frames = append(frames, f); return nil }); err != nil {
		t.Fatal(err)
	}
	if all := sum(frames); all.Good != 40 || all.Refused != 0 || first.requests.Load() != 20 || second.requests.Load() != 20 {
		t.Errorf("%d good, %d refused; the addresses got %d and %d requests; want 20 each", all.Good, all.Refused, first.requests.Load(), second.requests.Load())
	}
}

func TestAddressesOfAName(t *testing.T) {
	names(t)
	server := startHostile(t, answering(fine))
	_, port, _ := net.SplitHostPort(server.addr())
	for _, c := range []struct {
		host    string
		sources []string
		want    string // those that get the load, and behind a | those that refuse
	}{
		{"127.0.0.1.test", nil, "127.0.0.1|"},
		{"127.0.0.3.test", nil, "127.0.0.3|"}, // a trial measures that it refuses
		{"127.0.0.3,127.0.0.4.test", nil, "127.0.0.3|127.0.0.4"},
		{"127.0.0.3,127.0.0.1.test", nil, "127.0.0.1|127.0.0.3"},
		{"127.0.0.1,::ffff:127.0.0.1.test", nil, "127.0.0.1|"},
		{"::1,127.0.0.1.test", []string{"127.0.0.5"}, "127.0.0.1|"},
	} {
		all, err := Addresses(net.JoinHostPort(c.host, port), c.sources)
		if err != nil {
			t.Errorf("%s: %v", c.host, err)
		}
		var used, refuse []string
		for _, a := range all {
			if ip := a.Addr.Addr().String(); a.Err == nil {
				used = append(used, ip)
			} else if refuse = append(refuse, ip); !errors.Is(a.Err, syscall.ECONNREFUSED) {
				t.Errorf("%s: %s: %v", c.host, ip, a.Err)
			}
		}
		if got := strings.Join(used, " ") + "|" + strings.Join(refuse, " "); got != c.want {
			t.Errorf("%s from %v: %s, want %s", c.host, c.sources, got, c.want)
		}
	}
	if _, err := Addresses("nowhere:80", nil); err == nil || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("an unknown name: %v", err)
	}
}

// Known targets keep their indices as replicas with several addresses come and go, and their
// requests have the name.
func TestTargetsKeepTheirIndices(t *testing.T) {
	names(t)
	server := startHostile(t, answering(fine))
	_, port, _ := net.SplitHostPort(server.addr())
	startHostileAt(t, "127.0.0.2:"+port, answering(fine))
	p := openLoop("127.0.0.1,127.0.0.2.test:"+port, 1, 1)
	before, err := newTargets(p.Targets, &p, nil)
	if err != nil || len(before) != 2 || !strings.Contains(string(before[1].Requests[0].Fixed()), "Host: 127.0.0.1,127.0.0.2.test:"+port+"\r\n") {
		t.Fatalf("%+v: %v; want two targets with the name in their requests", before, err)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{p.Targets[0], "127.0.0.4:80"}, "0 127.0.0.1, 0 127.0.0.2, 1 127.0.0.4"},
		{[]string{"", "127.0.0.4:80"}, "0 gone, 0 gone, 1 127.0.0.4"},
		{[]string{"127.0.0.5:80"}, "0 127.0.0.5, 0 gone"},
	} {
		all, err := newTargets(c.names, &p, before)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, target := range all {
			where := "gone"
			if !target.Gone {
				where = target.Addr.Addr().String()
			}
			got = append(got, fmt.Sprintf("%d %s", target.Replica, where))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%v: %s, want %s", c.names, text, c.want)
		}
	}
}
