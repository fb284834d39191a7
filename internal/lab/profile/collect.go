package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// fetchGrace is how long a profile may take in addition to its own length, because an
// overloaded service answers late.
const fetchGrace = 20 * time.Second

// CollectGo fetches a CPU profile of so many seconds from a Go service that serves
// /debug/pprof/ at address (host:port), into CPUFile in dir, which must exist. The requests
// use the protocol of the service's load, one of experiment.Protocols or "".
func CollectGo(ctx context.Context, protocol, address, dir string, seconds int) error {
	if seconds < 1 {
		return fmt.Errorf("profile %s: %d seconds; take 1 or more", address, seconds)
	}
	service := profiled{address: address, protocol: protocol, client: serviceclient.Client(protocol, 0)}
	if err := service.offers(ctx); err != nil {
		return err
	}
	return service.fetch(ctx, seconds, filepath.Join(dir, CPUFile))
}

// packed begins a file of gzip, as profiles are.
var packed = []byte{0x1f, 0x8b}

// profiled is the service to profile.
type profiled struct {
	address, protocol string
	client            *http.Client
}

// offers requests the shortest page under /debug/pprof/, so that a service without
// profiles is reported at once, and not after a request of many seconds.
func (p profiled) offers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchGrace)
	defer cancel()
	response, err := p.get(ctx, "/debug/pprof/cmdline")
	if err != nil {
		return fmt.Errorf("profile %s: request /debug/pprof/cmdline: %w", p.address, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return missing(p.address, response)
	}
	return nil
}

func missing(address string, response *http.Response) error {
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("profile %s: /debug/pprof/ answers %s; allow access to it without a password", address, response.Status)
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusMovedPermanently, http.StatusFound:
		return fmt.Errorf(`profile %s: it serves no /debug/pprof/ (%s); add import _ "net/http/pprof" and serve http.DefaultServeMux, or mount its handlers on the service's own`, address, response.Status)
	}
	return fmt.Errorf("profile %s: /debug/pprof/ answers %s: %s", address, response.Status, firstLine(response.Body))
}

// fetch writes the CPU profile to a file. An error before the body leaves no file; a body
// that is cut off leaves its first part.
func (p profiled) fetch(ctx context.Context, seconds int, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+fetchGrace)
	defer cancel()
	what := fmt.Sprintf("profile %s: fetch /debug/pprof/profile", p.address)
	response, err := p.get(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		// 400: longer than the server's WriteTimeout; 500: already in use.
		return fmt.Errorf("%s: it answers %s: %s", what, response.Status, firstLine(response.Body))
	}
	head := make([]byte, len(packed))
	if _, err := io.ReadFull(response.Body, head); err != nil || !bytes.Equal(head, packed) {
		return fmt.Errorf("%s: the answer is not a profile of net/http/pprof", what)
	}
	file, err := safefile.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	_, err = io.Copy(file, io.MultiReader(bytes.NewReader(head), io.LimitReader(response.Body, maxFile-int64(len(head)))))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: the transfer was cut off: %w", what, err)
	}
	return nil
}

func (p profiled) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, serviceclient.URL(p.protocol, p.address, path), nil)
	if err != nil {
		return nil, err
	}
	return p.client.Do(request)
}

// firstLine is the first line of an error's body.
func firstLine(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, 400))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}
