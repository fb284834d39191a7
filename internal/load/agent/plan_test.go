package agent

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/load/protocol"
)

// A header with which a request would be no call of gRPC is an error before anything is sent.
func TestHeadersOfACall(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		ok    bool
	}{
		"content-type":  {"application/json", false},
		"Content-Type":  {"application/grpc+json", true},
		"TE":            {"gzip", false},
		"grpc-encoding": {"gzip", false},
		"Grpc-Timeout":  {"100m", true},
		"Team":          {"blue", true},
	} {
		zipped := protocol.Request{Method: "POST", Path: "/a.B/C", Call: &protocol.Call{Method: "a.B/C", Gzip: true}, Check: &protocol.Check{Contains: "x"}}
		if err := CheckRequest(zipped); err == nil || !strings.Contains(err.Error(), "gzip") {
			t.Errorf("a text in compressed messages: %v", err)
		}
		err := CheckRequest(protocol.Request{Method: "POST", Path: "/a.B/C", Call: &protocol.Call{Method: "a.B/C"}, Headers: map[string]string{name: c.value}})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), name+": "+c.value) {
			t.Errorf("%s: %s: %v", name, c.value, err)
		}
	}
}

// What the headers of requests have as secrets, a service can repeat.
func TestSecretsThatAServiceRepeats(t *testing.T) {
	hide := hider([]protocol.Request{{Headers: map[string]string{"Authorization": "Bearer s3cr3t-t0ken", "Team": "blue-is-the-team"}}})
	const said, want = "s3cr3t-t0ken of blue-is-the-team is old, password=tiger", "(redacted) of blue-is-the-team is old, password=(redacted)"
	if got := hide(said); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
