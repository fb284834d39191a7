package serviceclient

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// The service is asked by the name that the load has for it in TLS, wherever it is.
func TestTheNameOfALoadInTLS(t *testing.T) {
	asked := make(chan string, 2)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		asked <- hello.ServerName
		return nil, nil
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	for name, fits := range map[string]bool{"example.com": true, "other.example": false} { // the certificate is for the first
		client, err := AsLoad(&experiment.Load{Protocol: "https", CA: ca, Name: name, Timeout: time.Minute}, s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Get(s.URL)
		if err == nil {
			answer.Body.Close()
		}
		if got := <-asked; got != name || (err == nil) != fits {
			t.Errorf("%s: the service was asked for %q, and the certificate fits: %v (%v), want %v", name, got, err == nil, err, fits)
		}
	}
}
