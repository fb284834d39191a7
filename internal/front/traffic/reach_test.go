package traffic

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment"
)

// of is the experiment of options for a URL.
func of(t *testing.T, o *Options, url string) (reach.Target, *experiment.Experiment) {
	t.Helper()
	target, err := o.Target(url, net.LookupHost)
	if err != nil {
		t.Fatal(err)
	}
	o.Users, o.Duration, o.Timeout, o.Waiting = 1, 10*time.Second, time.Second, -1
	e, err := o.Experiment(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return target, e
}

// The report names the URL as it was given, once, and without the secrets in its query.
func TestTheReportNamesTheURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:1":                         "Load on http://127.0.0.1:1",
		"http://127.0.0.1:1/orders?n=3":              "Load on http://127.0.0.1:1/orders?n=3",
		"http://127.0.0.1:1/orders?access_token=abc": "Load on http://127.0.0.1:1/orders?access_token=(redacted)",
	} {
		if _, e := of(t, &Options{}, url); e.About != want {
			t.Errorf("%s: %q, want %q", url, e.About, want)
		}
	}
}

func TestTargetsThatCannotBeReached(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	secure.TLS = &tls.Config{}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	authority := authorityOf(t, secure)
	for name, c := range map[string]struct {
		url     string
		options Options
		want    string // "": it can be reached
	}{
		"a service":                 {url: plain.URL},
		"one that does not answer":  {url: "http://" + silent.Addr().String()},
		"a closed port":             {url: closed.URL, want: ": connection refused: nothing listens on " + strings.TrimPrefix(closed.URL, "http://")},
		"a certificate":             {url: secure.URL, want: "the service's certificate is not trusted: its authority is unknown; it sent \"example.com\" issued by itself; name a file with the authority's certificate in load.ca_file (load and try: --cacert)"},
		"its authority":             {url: secure.URL, options: Options{CACert: authority}},
		"any certificate":           {url: secure.URL, options: Options{Insecure: true}},
		"no TLS":                    {url: strings.Replace(plain.URL, "http", "https", 1), want: "the service does not speak TLS"},
		"no HTTP/2":                 {url: plain.URL, options: Options{HTTP2: true}, want: "the service does not speak HTTP/2"},
		"no socket":                 {url: "http://x/", options: Options{Place: Place{Socket: filepath.Join(t.TempDir(), "no")}}, want: "there is no unix socket "},
		"another address":           {url: strings.Replace(secure.URL, "127.0.0.1", "example.com", 1), options: Options{CACert: authority, Place: Place{ConnectTo: strings.TrimPrefix(secure.URL, "https://")}}},
		"another name than its own": {url: strings.Replace(secure.URL, "127.0.0.1", "other.example", 1), options: Options{CACert: authority, Place: Place{ConnectTo: strings.TrimPrefix(secure.URL, "https://")}}, want: "certificate is valid for example.com, *.example.com, not other.example"},
		"a closed port, with HTTPS": {url: strings.Replace(closed.URL, "http", "https", 1), want: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			target, e := of(t, &c.options, c.url)
			err := reach.Connect(e, target)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*reach.Unreachable))) {
				t.Errorf("%v; want in it: %q", err, c.want)
			}
		})
	}
}

// authorityOf is a file with the certificate of a server, which signs itself.
func authorityOf(t *testing.T, s *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The authority of --cacert is also that of the requests of --follow.
func TestRedirectsToTLS(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.RedirectHandler(secure.URL+"/", http.StatusFound))
	t.Cleanup(plain.Close)
	for file, want := range map[string]string{"": "", authorityOf(t, secure): secure.URL + "/"} {
		o := Options{CACert: file}
		target, e := of(t, &o, plain.URL)
		if got, err := o.Redirected(t.Context(), target, e); got != want || (err == nil) != (want != "") {
			t.Errorf("CACert %q: %q, %v; want %q", file, got, err, want)
		}
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/one":
			http.Redirect(w, r, "/two?q=1", http.StatusMovedPermanently)
		case "/two":
			http.Redirect(w, r, "three#part", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(w, r, other.URL+"/x", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("SECRET", "a:b")
	for _, c := range []struct {
		path, want string
		options    Options
		fails      string
	}{
		{path: "/", want: ""},
		{path: "/one", want: s.URL + "/three"},
		{path: "/away", want: other.URL + "/x"},
		{path: "/away", options: Options{Auth: experiment.Auth{Basic: "SECRET"}}, fails: "credentials"},
		{path: "/away", options: Options{Headers: []string{"Cookie: a=b"}}, fails: "credentials"},
		{path: "/one", options: Options{Auth: experiment.Auth{Basic: "SECRET"}}, want: s.URL + "/three"},
		{path: "/loop", fails: "more than 10 times"},
		{path: "/one?n={{seq}}", fails: "placeholders"},
		{path: "/one", options: Options{Body: "x"}, fails: "a redirect of POST"},
	} {
		target, e := of(t, &c.options, s.URL+c.path)
		got, err := c.options.Redirected(t.Context(), target, e)
		if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v; want %q, %q", c.path, got, err, c.want, c.fails)
		}
	}
}
