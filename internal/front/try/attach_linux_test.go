package try

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/front/probe"
	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestTheAddressOfAServiceIsTheFirstThatAnswersWell(t *testing.T) {
	all := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2"), netip.MustParseAddrPort("127.0.0.1:3")}
	no := &probe.Refused{Code: 404}
	for _, c := range []struct {
		name    string
		answers map[string]error
		want    string
	}{
		{"a debugger, an admin port, and the service", map[string]error{"127.0.0.1:1": errors.New("malformed"), "127.0.0.1:2": no}, "127.0.0.1:3"},
		{"no good answer", map[string]error{"127.0.0.1:1": errors.New("malformed"), "127.0.0.1:2": no, "127.0.0.1:3": no}, "127.0.0.1:2"},
		{"no answer", map[string]error{"127.0.0.1:1": errors.New("a"), "127.0.0.1:2": errors.New("b"), "127.0.0.1:3": errors.New("c")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := answering(all, func(address string) error { return c.answers[address] })
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// The service is this process, by each of its names.
func TestAServiceThatRunsIsFound(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, r := range []Running{{PID: os.Getpid()}, {URL: server.URL}, {URL: address}, {PID: os.Getpid(), URL: server.URL}} {
		t.Run(r.Name()+" "+r.URL, func(t *testing.T) {
			a := testAsk("x")
			at, err := Attach(t.Context(), r, a, false)
			if err != nil {
				t.Fatal(err)
			}
			defer at.Close()
			if at.Target.Address != address || !at.Known() || at.Info.PID != os.Getpid() || at.Unseen != "" {
				t.Errorf("%+v, want this process at %s", at, address)
			}
			if err := at.Begin(t.Context(), &experiment.Load{Request: a.Request}, a); err != nil || a.First < 5 {
				t.Errorf("begins at %v, %v", a.First, err)
			}
		})
	}
}

func TestAServiceThatCannotBeFound(t *testing.T) {
	a := testAsk("x")
	if _, err := Attach(t.Context(), Running{PID: interpreter(t)}, a, false); err == nil || !strings.Contains(err.Error(), "listens on no TCP port") {
		t.Errorf("a process without a port: %v", err)
	}
	if _, err := Attach(t.Context(), Running{PID: 1 << 30}, a, false); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("no process: %v", err)
	}
	if _, err := Attach(t.Context(), Running{Container: "no-such-container"}, a, false); err == nil || strings.Contains(err.Error(), "--container") {
		t.Errorf("no container: %v", err)
	}
	if pids, why := holdersOf(reach.Target{Address: "203.0.113.1:80"}); pids != nil || why == "" {
		t.Errorf("%v, %q: another host has processes here", pids, why)
	}
	server := httptest.NewServer(nil)
	port, _ := strconv.Atoi(server.URL[strings.LastIndexByte(server.URL, ':')+1:])
	target := reach.Target{Address: "127.0.0.1:" + strconv.Itoa(port), Loopback: true}
	if pids, why := holdersOf(target); !slices.Contains(pids, os.Getpid()) || why != "" {
		t.Errorf("%v, %q: want this process", pids, why)
	}
	server.Close()
	if pids, why := holdersOf(target); len(pids) > 0 || why == "" {
		t.Errorf("%v, %q: nothing listens", pids, why)
	}
}

// The probe trusts the authority of --cacert, as the search does.
func TestAProbeTrustsTheAuthorityOfItsLoad(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	a := testAsk("x")
	at, err := Attach(t.Context(), Running{URL: server.URL}, a, false)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	load := experiment.Load{Protocol: "https", Request: a.Request}
	if err := at.Begin(t.Context(), &load, a); err == nil {
		t.Error("an unknown authority is trusted")
	}
	load.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if err := at.Begin(t.Context(), &load, a); err != nil {
		t.Error(err)
	}
}
