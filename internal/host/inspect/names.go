package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sockets are the API sockets of Docker and Podman, which know the names of their
// containers. With other engines the name is the container's id or the pod's name.
var sockets = []string{"/run/docker.sock", "/run/podman/podman.sock"}

const (
	// patience is the timeout of a request: names are not worth a longer wait.
	patience = 500 * time.Millisecond
	// lasting is how long names are cached.
	lasting = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 16 << 20
)

// containerNames returns the names of all containers whose engine answers. Other
// containers keep their ids.
func (s *Scanner) containerNames() containers {
	if s.names != nil && s.now().Sub(s.namesAt) < lasting {
		return s.names
	}
	s.names, s.namesAt, s.asked = containers{}, s.now(), nil
	for _, socket := range s.engines() {
		names, err := namesAt(filepath.Join(s.root, socket))
		maps.Copy(s.names, names)
		s.asked = append(s.asked, socket+" "+answered(names, err))
	}
	return s.names
}

// engines returns the sockets to query. That of DOCKER_HOST is included if this host
// is scanned, not a copy of its files.
func (s *Scanner) engines() []string {
	socket, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !ok || s.root != "" || slices.Contains(sockets, socket) {
		return sockets
	}
	return append(slices.Clone(sockets), socket)
}

// answered describes the result of a query.
func answered(names containers, err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "does not exist"
	case errors.Is(err, os.ErrPermission):
		return "cannot be opened, run as root"
	case err != nil:
		return "does not answer"
	}
	return fmt.Sprintf("returned %d", len(names))
}

// namesAt queries a socket: GET /containers/json of the Docker Engine API, without a
// version in the path, which every engine accepts.
func namesAt(socket string) (containers, error) {
	answer, err := ask(socket, "/containers/json")
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return parseNames(io.LimitReader(answer, maxAnswer))
}

// ask sends a query to an engine.
func ask(socket, path string) (io.ReadCloser, error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	answer, err := client.Get("http://containers" + path)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("query %s of %s: %s", path, socket, answer.Status)
	}
	return answer.Body, nil
}

// parseNames parses the answer.
//
//	[{"Id": "0123…", "Names": ["/web"], …}]
func parseNames(r io.Reader) (containers, error) {
	var list []struct {
		ID    string `json:"Id"`
		Names []string
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, err
	}
	names := containers{}
	for _, one := range list {
		if len(one.Names) > 0 {
			names[one.ID] = strings.TrimPrefix(one.Names[0], "/")
		}
	}
	return names, nil
}

// mostName is the length of the longest name of a pod (DNS subdomain names, RFC 1123).
const mostName = 253

// pod is the name of a container's pod, which Kubernetes sets as the container's
// HOSTNAME; "" if there is none. Docker sets the beginning of the id instead.
func pod(environ []byte, id string) string {
	for line := range strings.SplitSeq(string(environ), "\x00") {
		if name, ok := strings.CutPrefix(line, "HOSTNAME="); ok && !strings.HasPrefix(id, name) && len(name) <= mostName {
			return name
		}
	}
	return ""
}
