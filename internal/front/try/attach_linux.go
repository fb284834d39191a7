package try

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/front/probe"
	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/platform/ports"
)

// processesOf are the processes of a service that is named by its process or its
// container.
func processesOf(ctx context.Context, r Running) ([]int, error) {
	if r.PID > 0 {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", r.PID)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--attach %d: no such process", r.PID)
		}
		return attached.Family(r.PID), nil
	}
	host, err := inspect.New("").Scan(ctx, inspect.Only{Container: r.Container}, 0)
	if errors.Is(err, inspect.ErrNone) {
		if why := errors.Unwrap(err); why != nil {
			err = why // without the flag of `doctor`
		}
		why := strings.Replace(strings.TrimSuffix(err.Error(), "."), "or use --pid", "or name a process by its id", 1)
		return nil, fmt.Errorf("--attach %s: %s. A URL is written as http://HOST:PORT/", r.Container, why)
	}
	var pids []int
	for _, p := range host.Processes {
		pids = append(pids, p.PID)
	}
	return pids, err
}

// addressOf is the loopback address at which processes answer HTTP: the first with a good
// answer, or else the first with any.
func addressOf(ctx context.Context, pids []int, a *Ask) (string, error) {
	if !sameNetwork(pids[0]) {
		return "", errors.New("it has a network of its own; name the address at which it is reached from here, as in --attach NAME http://127.0.0.1:8080/")
	}
	if a.Port != 0 {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)), nil
	}
	found, err := ports.Listening(pids)
	if err != nil {
		return "", err
	}
	load := experiment.Load{Request: a.Request, Timeout: a.Timeout}
	load.Settle()
	return answering(found, func(address string) error {
		return probe.Once(ctx, address, &load)
	})
}

// answering is the first address with a good answer, or else the first with any.
func answering(found []netip.AddrPort, get func(address string) error) (string, error) {
	var other string
	var errs []error
	for _, at := range found {
		err := get(at.String())
		var no *probe.Refused
		switch {
		case err == nil:
			return at.String(), nil
		case errors.As(err, &no) && other == "":
			other = at.String()
		}
		errs = append(errs, fmt.Errorf("%s: %w", at, err))
	}
	if other != "" {
		return other, nil
	}
	return "", fmt.Errorf("it listens, but none of its ports gives a valid HTTP answer; name its URL, as in --attach http://127.0.0.1:8080/: %w", errors.Join(errs...))
}

// sameNetwork reports whether a process is in the network namespace of this one, as far as
// that can be read.
func sameNetwork(pid int) bool {
	own, err1 := os.Readlink("/proc/self/ns/net")
	its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return err1 != nil || err2 != nil || own == its
}

// relays are programs that listen on the port of a container, and pass requests on to it.
var relays = []string{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "kubectl", "ssh"}

// holdersOf are the processes that serve a target on this machine, or why they are not
// known, as a sentence.
func holdersOf(t reach.Target) (pids []int, unseen string) {
	if !t.Loopback {
		return nil, "The service runs on another host."
	}
	_, text, _ := net.SplitHostPort(t.Address)
	port, _ := strconv.Atoi(text)
	pids, listens, err := ports.Holders(port)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("Its process could not be found: %v.", err)
	case !listens:
		return nil, fmt.Sprintf("No process here listens on port %d.", port)
	case len(pids) == 0:
		return nil, fmt.Sprintf("The process that listens on port %d cannot be seen from here; run as root.", port)
	}
	if name := ports.NameOf(pids[0]); slices.Contains(relays, name) {
		return nil, fmt.Sprintf("Port %d is that of %s, which passes requests on; if it is a container of this machine, name it before the URL: --attach NAME %s.", port, name, t.URL)
	}
	return pids, ""
}
