package serviceclient_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// Each service of this test supports one protocol only.
func TestClientUsesEachProtocol(t *testing.T) {
	spoken := map[string]string{"http/1.1": "HTTP/1.1 false", "https": "HTTP/1.1 true", "h2": "HTTP/2.0 true", "h2c": "HTTP/2.0 false"}
	for _, protocol := range append([]string{""}, experiment.Protocols...) {
		t.Run(protocol, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/away" {
					http.Redirect(w, r, "/there", http.StatusFound)
					return
				}
				fmt.Fprint(w, r.Proto, " ", r.TLS != nil)
			}))
			s.Config.Protocols = new(http.Protocols)
			switch protocol {
			case "h2":
				s.EnableHTTP2 = true
				s.Config.Protocols.SetHTTP2(true)
			case "h2c":
				s.Config.Protocols.SetUnencryptedHTTP2(true)
			default:
				s.Config.Protocols.SetHTTP1(true)
			}
			if protocol == "https" || protocol == "h2" {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			client := serviceclient.Client(protocol, 10*time.Second)
			address := s.Listener.Addr().String()
			answer, err := client.Get(serviceclient.URL(protocol, address, "/"))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			want := spoken[protocol]
			if protocol == "" {
				want = spoken["http/1.1"]
			}
			if got := string(text); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
			answer, err = client.Get(serviceclient.URL(protocol, address, "/away"))
			if err != nil || answer.StatusCode != http.StatusFound {
				t.Errorf("a redirection: %v, %v; want it as the answer", answer, err)
			}
		})
	}
}

// No connection stays open after an answer: a service that serves one connection at a time
// would wait for another request on it, and not serve its load.
func TestNoConnectionStaysOpen(t *testing.T) {
	for _, protocol := range experiment.Protocols {
		t.Run(protocol, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hi") }))
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(true)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.EnableHTTP2 = protocol == "h2"
			closed := make(chan struct{}, 10)
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- struct{}{}
				}
			}
			if protocol == "https" || protocol == "h2" {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			client := serviceclient.Client(protocol, 10*time.Second)
			for range 3 {
				answer, err := client.Get(serviceclient.URL(protocol, s.Listener.Addr().String(), "/"))
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close() // without reading it
				select {
				case <-closed:
				case <-time.After(10 * time.Second):
					t.Fatal("the connection is still open")
				}
			}
		})
	}
}
