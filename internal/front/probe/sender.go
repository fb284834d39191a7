package probe

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// Sender sends the requests of a load to an address: of a mix each in turn, of sessions in their
// order.
type Sender struct {
	client  *http.Client
	address string
	load    *experiment.Load
	sent    atomic.Int64
	walk    *agent.Walk // nil: the load has no sessions
}

// NewSender is the sender of as many users at once as it has connections.
func NewSender(l *experiment.Load, address string, connections int) (*Sender, error) {
	s := &Sender{client: clientOf(l, connections), address: address, load: l}
	if !l.Session {
		return s, nil
	}
	var err error
	s.walk, err = agent.NewWalk(address, requests.Of(l))
	return s, err
}

// Close closes the connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send sends the next request and returns the header Server of its answer.
func (s *Sender) Send(ctx context.Context) (server string, err error) {
	if s.walk == nil {
		return once(ctx, s.client, s.address, turn(s.load, int(s.sent.Add(1)-1)))
	}
	step, req, done, err := s.walk.Next()
	if err != nil {
		return "", err
	}
	r := &s.load.Mix[step]
	base := serviceclient.URL(s.load.Protocol, s.address, "")
	if req.URL, err = req.URL.Parse(base + req.RequestURI); err != nil {
		done(nil, false)
		return "", fmt.Errorf("%s %s: %w", r.Method, secret.Text(r.Path), err)
	}
	req.RequestURI = ""
	answer, body, err := exchange(s.client, req.WithContext(ctx), r, true)
	if err == nil && r.Check != nil && !bytes.Contains(body, []byte(r.Check.Contains)) {
		err = &unlike{fmt.Sprintf("%s %s: the answer, with status %d, does not contain %q", r.Method, secret.Text(r.Path), answer.StatusCode, r.Check.Contains)}
	}
	if err != nil {
		done(nil, false)
		return "", err
	}
	whole := bytes.NewBufferString("HTTP/1.1 200 OK\r\n")
	_ = answer.Header.Write(whole) // a Buffer takes all
	whole.WriteString("\r\n")
	whole.Write(body)
	if missing := done(whole.Bytes(), true); len(missing) > 0 {
		return "", &unlike{fmt.Sprintf("%s %s: the answer, with status %d, has no value for {{%s}}: check its capture", r.Method, secret.Text(r.Path), answer.StatusCode, strings.Join(missing, "}}, {{"))}
	}
	return answer.Header.Get("Server"), nil
}

// unlike is the error of an answer that is not as the check or the capture of its request wants.
type unlike struct{ text string }

func (u *unlike) Error() string { return u.text }
