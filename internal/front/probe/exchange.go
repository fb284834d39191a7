package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// clientOf returns a client for the requests of a load, which keeps so many connections, and
// trusts the authorities of the load.
func clientOf(l *experiment.Load, connections int) *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: connections}
	if len(l.Calls()) > 0 {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
		t.Protocols.SetHTTP2(true)
	}
	if l.CA != "" {
		t.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(l.CA))
	}
	return &http.Client{Transport: t, Timeout: max(l.Timeout, 5*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// bodyOf is the body of a request: the text, or what its file has.
func bodyOf(r *experiment.Request) io.Reader {
	if r.BodyFile != "" {
		return bytes.NewReader(r.Inputs.Body)
	}
	return strings.NewReader(r.Body)
}

// Unanswered is the error of a request without a whole answer.
type Unanswered struct{ err error }

func (u *Unanswered) Error() string { return u.err.Error() }
func (u *Unanswered) Unwrap() error { return u.err }

// Once sends the first request of a load.
func Once(ctx context.Context, address string, l *experiment.Load) error {
	client := clientOf(l, 1)
	defer client.CloseIdleConnections()
	_, err := once(ctx, client, address, l)
	return err
}

// once sends a request and returns the header Server of its answer.
func once(ctx context.Context, client *http.Client, address string, l *experiment.Load) (server string, err error) {
	r := &l.Request
	if r.GRPC != "" {
		return "", call(ctx, client, address, l)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, serviceclient.URL(l.Protocol, address, r.Path), bodyOf(r))
	if err != nil {
		return "", err
	}
	for name, value := range r.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	answer, _, err := exchange(client, req, r, len(l.Mix) > 0)
	if err != nil {
		return "", err
	}
	return answer.Header.Get("Server"), nil
}

// mostRead is how much of an answer is read into memory, in bytes.
const mostRead = 1 << 20

// exchange sends a request and returns the good answer to it, with the beginning of its body.
func exchange(client *http.Client, req *http.Request, r *experiment.Request, mix bool) (*http.Response, []byte, error) {
	answer, err := client.Do(req)
	var network *net.OpError
	switch {
	case errors.As(err, &network) && network.Op == "dial":
		return nil, nil, &Unanswered{fmt.Errorf("connect to the server: %w", err)}
	case err != nil:
		return nil, nil, &Unanswered{fmt.Errorf("the server accepts connections but does not answer: %w", serviceclient.Explain(err))}
	}
	defer answer.Body.Close()
	start, err := io.ReadAll(io.LimitReader(answer.Body, mostRead))
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return nil, nil, &Unanswered{fmt.Errorf("%s %s: the answer broke off: %w", r.Method, r.Path, err)}
	}
	good := answer.StatusCode >= 200 && answer.StatusCode <= 299
	if r.Check != nil && len(r.Check.Status) > 0 {
		good = slices.Contains(r.Check.Status, answer.StatusCode)
	}
	if !good {
		return nil, nil, &Refused{request: r, mix: mix, Code: answer.StatusCode, text: strings.Join(strings.Fields(string(start[:min(len(start), 200)])), " ")}
	}
	return answer, start, nil
}
