package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// mostSaid bounds what is kept of a command's standard error, in bytes.
const mostSaid = 4 << 10

// Exec runs a command in a container, and returns what it writes to its standard output, at
// most so many bytes. The error of a command that fails has the end of its standard error. It
// uses WebSockets, and SPDY where the server or a proxy does not have them, as kubectl does.
func (c *Client) Exec(ctx context.Context, pod, container string, command []string, most int) ([]byte, error) {
	at := *c.base
	at.Path += Pods.path(c, pod, "exec")
	at.RawQuery = url.Values{"container": {container}, "command": command, "stdout": {"true"}, "stderr": {"true"}}.Encode()
	sockets, err := remotecommand.NewWebSocketExecutor(c.config, http.MethodGet, at.String())
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, &at)
	if err != nil {
		return nil, err
	}
	way, err := remotecommand.NewFallbackExecutor(sockets, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return nil, err
	}
	out, said := &bounded{most: most}, &bounded{most: mostSaid}
	err = way.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: said})
	var ended exec.CodeExitError
	switch {
	case out.over:
		return nil, fmt.Errorf("%s in pod %s wrote more than %d bytes", command[0], pod, most)
	case errors.As(err, &ended):
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%s in pod %s ended with code %d: %s", command[0], pod, ended.Code, lines[len(lines)-1])
	case err != nil:
		return nil, fmt.Errorf("run %s in pod %s: %w", command[0], pod, err)
	}
	return out.Bytes(), nil
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool // there were more
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.most-b.Len())
	b.over = b.over || room < len(p)
	b.Buffer.Write(p[:room])
	return len(p), nil
}
