package try

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/rights"
)

// socketPrefix begins an address that is a Unix socket, as agents know it; its path
// follows, or @ and a name of the abstract namespace.
const socketPrefix = "unix:"

// clientOf returns a client for the requests of a load to an address, which keeps its
// connections, and trusts the authorities of the load.
func clientOf(address string, l *experiment.Load) *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: warmMost}
	if l.CA != "" {
		t.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(l.CA))
	}
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	return &http.Client{Transport: t, Timeout: max(l.Timeout, 5*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// hostOf is the host of a URL for an address.
func hostOf(address string) string {
	if strings.HasPrefix(address, socketPrefix) {
		return "localhost"
	}
	return address
}

// OverSocket wraps a platform whose services listen on a Unix socket instead of a port.
func OverSocket(on platform.Platform, path string) platform.Platform {
	return &socketPlatform{on, path}
}

type socketPlatform struct {
	platform.Platform
	path string
}

// Unwrap returns the platform that is wrapped.
func (p *socketPlatform) Unwrap() platform.Platform { return p.Platform }

func (p *socketPlatform) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	if serves(ctx, p.path, "") == nil {
		return nil, fmt.Errorf("a server listens on %s already; stop it, or let yours listen on another socket", p.path)
	}
	stale := isSocket(p.path)
	u.Serves = func(ctx context.Context, _ string) error { return serves(ctx, p.path, u.Ready.Path) }
	started, err := p.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	return &socketUnit{started, p.path, !stale}, nil
}

// serves checks that a socket accepts a connection and, with a path, that GET of it is
// answered with a status of 200 to 299.
func serves(ctx context.Context, socket, path string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("it does not listen on %s: %w", socket, err)
	}
	if err := conn.Close(); path == "" || err != nil {
		return err
	}
	client := clientOf(socketPrefix+socket, &experiment.Load{})
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	if answer.Body.Close(); answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("GET %s answers %s", path, answer.Status)
	}
	return nil
}

// isSocket reports whether a path names a socket in the file system.
func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

type socketUnit struct {
	platform.Unit
	path string
	made bool // the service made the socket
}

// Unwrap returns the unit that is wrapped.
func (u *socketUnit) Unwrap() platform.Unit { return u.Unit }

func (u *socketUnit) Replicas() []platform.Replica {
	all := make([]platform.Replica, len(u.Unit.Replicas()))
	for i, r := range u.Unit.Replicas() {
		all[i] = &socketReplica{r, u.path}
	}
	return all
}

// Stop removes the socket too if the service made it and left it: the next start could not
// listen on it.
func (u *socketUnit) Stop(ctx context.Context) error {
	err := u.Unit.Stop(ctx)
	if u.made {
		err = errors.Join(err, removeSocket(u.path))
	}
	return err
}

// removeSocket removes a socket, if it still is one, with the rights of the user who
// controls its folder: that user could replace the folder by a link meanwhile.
func removeSocket(path string) error {
	return rights.For(path, func() error {
		if !isSocket(path) {
			return nil
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

type socketReplica struct {
	platform.Replica
	path string
}

// Unwrap returns the replica that is wrapped.
func (r *socketReplica) Unwrap() platform.Replica { return r.Replica }

// Address is the socket, as agents know it.
func (r *socketReplica) Address() string { return socketPrefix + r.path }
