package databases

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"

	lab "github.com/millicore/millicore/internal/platform"
)

// platform starts databases as plain processes, without limits, at addresses of
// loopback that they keep when they are stopped and started again, which the
// platforms of experiments do not let anybody do. It has no other units.
type platform struct {
	lab.Platform            // what tests need no more: nil
	processes    []*process // in the order of their start
	folders      []folder
}

// Start implements platform.Platform.
func (p *platform) Start(ctx context.Context, u lab.UnitSpec) (lab.Unit, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	started := &process{unit: u, address: address}
	if err := started.start(ctx); err != nil {
		return nil, err
	}
	p.processes = append(p.processes, started)
	return started, nil
}

// Folder implements platform.Platform.
func (p *platform) Folder(dir string, user *lab.User) (lab.Folder, error) {
	path, err := os.MkdirTemp(dir, "millicore-database-")
	if err != nil {
		return nil, err
	}
	made := folder(path)
	p.folders = append(p.folders, made)
	if user != nil {
		if err := os.Chmod(path, 0o711); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// Close implements platform.Platform.
func (p *platform) Close() error {
	err := p.stop()
	for _, f := range p.folders {
		err = errors.Join(err, f.Remove())
	}
	return err
}

// stop stops what runs, the last that was started first.
func (p *platform) stop() error {
	var all error
	for i := len(p.processes) - 1; i >= 0; i-- {
		all = errors.Join(all, p.processes[i].Stop(context.Background()))
	}
	return all
}

// start starts again what stop stopped.
func (p *platform) start(ctx context.Context) error {
	for _, one := range p.processes {
		if err := one.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// folder is the path of a folder.
type folder string

func (f folder) Path() string  { return string(f) }
func (f folder) Remove() error { return os.RemoveAll(string(f)) }

// freeAddress returns an address of loopback that nobody listens at. Its port is
// below those that Linux gives to connections, one of which could otherwise
// have it when the database is to start again.
func freeAddress() (string, error) {
	var err error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		listener, failed := net.Listen("tcp", address)
		if failed == nil {
			return address, listener.Close()
		}
		err = failed
	}
	return "", fmt.Errorf("find a free port from 20000 to 29999: %w", err)
}
