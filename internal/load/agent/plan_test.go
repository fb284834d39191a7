package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/recording"
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

// A recording is an open loop, whose busiest second determines the connections.
func TestTheLoadOfARecording(t *testing.T) {
	r := &recording.Recording{Requests: []recording.Request{{Kind: 1, Path: "/"}}}
	for i := range 900 {
		r.Add(time.Duration(i)*time.Millisecond, 0)
	}
	l := protocol.Load{Kind: protocol.Open, Stages: []protocol.Stage{{Duration: protocol.Duration(time.Minute), From: 15, To: 15}}, Recording: r.Encode()}
	load, err := newLoad(l, 2)
	if err != nil || load.Curve.Peak() != 900 || load.Curve.Integral(time.Minute) != 900 || len(load.Recorded.At) != 900 {
		t.Errorf("%+v, %v", load, err)
	}
	if _, err := newLoad(l, 1); err == nil {
		t.Error("a recording has a kind of request that the load has not")
	}
	l.Kind = protocol.Closed
	if _, err := newLoad(l, 2); err == nil || err.Error() != "a recording needs an open loop" {
		t.Error(err)
	}
}
