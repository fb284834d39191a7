package traffic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/millicore/millicore/internal/front/reach"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Target is the destination of a URL, or the unix socket of the options.
func (o *Options) Target(url string, lookup func(host string) ([]string, error)) (reach.Target, error) {
	if o.GRPC != "" {
		var err error
		if url, err = serverOf(url); err != nil {
			return reach.Target{}, err
		}
	}
	if o.Socket == "" {
		return reach.ParseTarget(url, lookup)
	}
	t, err := reach.ParseTarget(url, nil)
	t.Address, t.Loopback = "unix:"+o.Socket, true
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
	return reach.ObserveProcess(pid, name)
}
