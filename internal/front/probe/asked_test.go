package probe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestAClosedPortDoesNotAcceptConnections(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	l := &experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}}
	if _, err := Ask(t.Context(), address, l); err == nil || !strings.HasPrefix(err.Error(), "connect to the server: ") {
		t.Errorf("got %v", err)
	}
}
