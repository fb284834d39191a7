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

// sockets are where Docker and Podman answer, on this machine, what their
// containers are called. Elsewhere a container's id names it, or its pod.
var sockets = []string{"/run/docker.sock", "/run/podman/podman.sock"}

const (
	// patience is how long an answer may take: names are no reason to wait.
	patience = 500 * time.Millisecond
	// lasting is for how long an answer is taken to hold.
	lasting = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 16 << 20
)

// containerNames are the names that can be told. Who does not answer, or may not
// be asked, leaves the ids.
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

// engines are the sockets to ask at, also that of DOCKER_HOST: of this machine,
// not of a tree that looks like one.
func (s *Scanner) engines() []string {
	socket, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !ok || s.root != "" || slices.Contains(sockets, socket) {
		return sockets
	}
	return append(slices.Clone(sockets), socket)
}

// answered says what became of asking at a socket.
func answered(names containers, err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "is not there"
	case errors.Is(err, os.ErrPermission):
		return "may not be asked, run as root"
	case err != nil:
		return "does not answer"
	}
	return fmt.Sprintf("told %d", len(names))
}

// namesAt asks at a socket: GET /containers/json of the Docker Engine API, whose
// oldest form every version answers.
func namesAt(socket string) (containers, error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	answer, err := client.Get("http://containers/containers/json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s for its containers: %s", socket, answer.Status)
	}
	return parseNames(io.LimitReader(answer.Body, maxAnswer))
}

// parseNames reads the answer.
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

// pod is the name of the pod that a container belongs to, as Kubernetes gives it
// to the container as its host's name; "" where there is none. Docker gives the
// beginning of the id.
func pod(environ []byte, id string) string {
	for line := range strings.SplitSeq(string(environ), "\x00") {
		if name, ok := strings.CutPrefix(line, "HOSTNAME="); ok && !strings.HasPrefix(id, name) {
			return name
		}
	}
	return ""
}
