package serviceclient_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/test/testkit"
)

func TestAServiceThatDoesNotSpeakHTTPIsRecognised(t *testing.T) {
	for _, c := range []struct {
		name, says string
		tls        bool
		want       string
	}{
		{"an alert of TLS", "\x15\x03\x01\x00\x02\x02\x46", true, "it speaks TLS (HTTPS), not HTTP"},
		{"mail", "220 mail ready\r\n", false, `it does not speak HTTP: its answer has "mail"`},
		{"another protocol", "-ERR unknown command\r\n", false, `it does not speak HTTP: its answer has "unknown"`},
		{"a wrong header", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", false, `it does not speak HTTP: its answer has "no header"`},
		{"nothing", "", false, "it closed the connection without an answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := testkit.Saying(t, c.says)
			_, err := serviceclient.Client("", 10*time.Second).Get("http://" + address + "/")
			err = serviceclient.Explain(err)
			var not *serviceclient.NotHTTP
			if !errors.As(err, &not) || not.TLS != c.tls || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if serviceclient.SpeaksTLS(t.Context(), address) {
				t.Error("it makes a TLS handshake")
			}
		})
	}
	if _, err := serviceclient.Client("", time.Second).Get("http://127.0.0.1:1/"); errors.As(serviceclient.Explain(err), new(*serviceclient.NotHTTP)) {
		t.Errorf("a closed port speaks no HTTP: %v", err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	if !serviceclient.SpeaksTLS(t.Context(), secure.Listener.Addr().String()) {
		t.Error("a server with TLS makes no handshake")
	}
}
