package traffic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/front/reach"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Place is where the requests of a URL are sent, in place of its host.
type Place struct {
	Socket    string // unix socket; "": none
	ConnectTo string // host:port; "": none
	Sources   []string
}

// Define defines the flags of a place.
func (p *Place) Define(flags *pflag.FlagSet) {
	flags.StringVar(&p.Socket, "unix-socket", "", "connect to this unix socket instead of the URL's host")
	flags.StringVar(&p.ConnectTo, "connect-to", "", "connect to this host:port instead of the URL's; Host and the name in TLS remain the URL's")
	flags.StringSliceVar(&p.Sources, "source", nil, "addresses of this machine that connections come from, in turn (default: the system's choice)")
}

// Target is the destination of a URL, or of its requests the address or the unix socket of
// the options.
func (o *Options) Target(url string, lookup func(host string) ([]string, error)) (reach.Target, error) {
	if o.GRPC != "" {
		var err error
		if url, err = serverOf(url); err != nil {
			return reach.Target{}, err
		}
	}
	if o.Socket == "" && o.ConnectTo == "" {
		return reach.ParseTarget(url, lookup)
	}
	t, err := reach.ParseTarget(url, nil)
	if err != nil {
		return t, err
	}
	if o.Socket != "" {
		t.Address, t.Loopback = "unix:"+o.Socket, true
		return t, nil
	}
	if _, _, err := net.SplitHostPort(o.ConnectTo); err != nil {
		return t, fmt.Errorf("--connect-to %s: want an address and its port, as 127.0.0.1:8443", o.ConnectTo)
	}
	there, err := reach.ParseTarget("http://"+o.ConnectTo+"/", lookup)
	t.Address, t.Loopback = there.Address, there.Loopback
	return t, err
}

// Observe starts to observe the process of PID or Container, if one of them is set.
func (o *Options) Observe(ctx context.Context) (reach.Observed, error) {
	pid, name := o.PID, fmt.Sprintf("process %d", o.PID)
	if o.Container != "" {
		host, err := inspect.New("").Scan(ctx, inspect.Only{Container: o.Container}, 0)
		if err != nil {
			return reach.Observed{}, err // it names --container
		}
		pid = inspect.Foremost(host.Processes).PID
		name = fmt.Sprintf("process %d of container %s", pid, o.Container)
	}
	if pid == 0 {
		return reach.Observed{}, nil
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, fs.ErrNotExist) {
		return reach.Observed{}, fmt.Errorf("--pid %d: no such process", pid)
	}
	return reach.Observe(pid, name)
}
