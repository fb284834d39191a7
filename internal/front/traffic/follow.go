package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// mostRedirects is the maximum number of redirects that are followed, as in Go and browsers.
const mostRedirects = 10

// Redirected is the URL to which the redirects of a target lead; "" if it does not
// redirect. It sends the request of the load, once for each redirect. A redirect that
// changes each time, or the method, is not what a load can repeat: so only GET and HEAD are
// followed, without placeholders in the path.
func (o *Options) Redirected(ctx context.Context, t reach.Target, e *experiment.Experiment) (string, error) {
	r := &e.Cells[0].Load.Request
	switch {
	case r.Method != "GET" && r.Method != "HEAD":
		return "", fmt.Errorf("--follow: a redirect of %s is not followed; load its target", r.Method)
	case strings.Contains(t.Path, "{{"):
		return "", errors.New("--follow: the path has placeholders, so each request may redirect to another URL; load the target")
	}
	scheme := "http://"
	if t.TLS {
		scheme = "https://"
	}
	first, err := url.Parse(scheme + t.Host + t.Path)
	if err != nil {
		return "", fmt.Errorf("--follow: %w", err)
	}
	at := first
	for range mostRedirects {
		next, err := o.redirect(ctx, at, r, at.Host == first.Host)
		switch {
		case err != nil:
			return "", &reach.Unreachable{URL: at.String(), Why: reach.WhyNot(err, o.addressOf(at)), Err: err}
		case next == nil && at == first:
			return "", nil
		case next == nil:
			at.Fragment = ""
			return strings.ReplaceAll(at.String(), "{{", "%7B%7B"), nil
		case next.Host != first.Host && credentials(r):
			return "", fmt.Errorf("--follow: %s redirects to %s, another host, which must not get the credentials; load it without them", t.URL, secret.Text(next.String()))
		}
		at = next
	}
	return "", fmt.Errorf("--follow: %s redirects more than %d times", t.URL, mostRedirects)
}

// addressOf is the address to which requests for a URL are sent.
func (o *Options) addressOf(at *url.URL) string {
	t, err := o.Target(at.String(), nil)
	if err != nil {
		return at.Host
	}
	return t.Address
}

// credentials reports whether a request has any.
func credentials(r *experiment.Request) bool {
	for name := range r.Headers {
		switch strings.ToLower(name) {
		case "authorization", "cookie", "proxy-authorization":
			return true
		}
	}
	return r.Inputs.Authorization != ""
}

// redirect sends a request, and returns the URL to which it is redirected; nil: to none.
// The host's own requests have the Host header of the load.
func (o *Options) redirect(ctx context.Context, at *url.URL, r *experiment.Request, own bool) (*url.URL, error) {
	as, err := experiment.Load{Protocol: protocolOf(at.Scheme == "https", o.HTTP2), Timeout: o.Timeout, Insecure: o.Insecure}, error(nil)
	if o.CACert != "" {
		if as.CA, err = experiment.Certificates(o.CACert); err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
	}
	if o.Cert != "" {
		if as.Identity, err = experiment.Identity(o.Cert, cmp.Or(o.Key, o.Cert)); err != nil {
			return nil, fmt.Errorf("--cert: %w", err)
		}
	}
	client, err := serviceclient.AsLoad(&as, o.addressOf(at))
	if err != nil {
		return nil, fmt.Errorf("--cert: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for name, value := range r.Headers {
		switch {
		case !strings.EqualFold(name, "Host"):
			request.Header.Set(name, value)
		case own:
			request.Host = value
		}
	}
	if r.Inputs.Authorization != "" {
		request.Header.Set("Authorization", r.Inputs.Authorization)
	}
	answer, err := client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text has the URL
			err = failed.Err
		}
		return nil, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return answer.Location()
	}
	return nil, nil
}
