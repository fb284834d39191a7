package try

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// onSocket is a platform whose services listen on a Unix socket from their start on, and
// leave it behind.
type onSocket struct {
	counted
	path   string
	server http.Server
	spec   platform.UnitSpec
}

func (o *onSocket) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	o.spec = u
	l, err := net.Listen("unix", o.path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	go o.server.Serve(l)
	return o, u.Serves(ctx, "127.0.0.1:1")
}
func (o *onSocket) Replicas() []platform.Replica { return []platform.Replica{o} }
func (o *onSocket) Stop(context.Context) error   { return o.server.Close() }

func TestRequestsOverAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	inner := &onSocket{path: path}
	inner.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Server", "own/1"); r.URL.Path != "/ready" && r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	on := OverSocket(inner, path)
	unit, err := on.Start(t.Context(), platform.UnitSpec{Ready: experiment.Ready{Path: "/ready"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := unit.Replicas()[0].Address(); got != "unix:"+path {
		t.Errorf("the address is %s", got)
	}
	found, err := ask(t.Context(), unit.Replicas()[0].Address(), &experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}})
	if err != nil || found.server != "own/1" || len(found.bad) > 0 {
		t.Errorf("%+v, %v: want answers over the socket", found, err)
	}
	if _, err := on.Start(t.Context(), platform.UnitSpec{}); err == nil {
		t.Error("a second server is started though one listens on the socket")
	}
	if err := unit.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket that the service left is still there: %v", err)
	}
	if err := serves(t.Context(), path, ""); err == nil {
		t.Error("a socket that is gone serves")
	}
}

// A file of the user is not removed.
func TestOnlyTheServicesOwnSocketIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	unit, err := OverSocket(&counted{}, path).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := unit.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if !isSocket(path) {
		t.Error("a socket that was there before is removed")
	}
}

func TestAServerOnASocketHasNoPort(t *testing.T) {
	a := testAsk("./server")
	a.Socket = "/run/s"
	e := built(t, a, AsItIs(a))
	if s := e.Cells[0].Service; s.FindPort || s.Port != 0 {
		t.Errorf("%+v, want no port", s)
	}
	if why := a.alone(&Seen{}); why != "2 replicas were not tested, because all would listen on /run/s." {
		t.Errorf("%q", why)
	}
}
