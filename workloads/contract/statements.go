package contract

import (
	"net/http"
	"slices"
	"testing"

	"github.com/millicore/millicore/workloads/contract/wire"
)

// RunStatements checks how the service at baseURL sends devices to the database behind
// the recorder: each by one statement, and on no connection a second one before the
// first has its answer. The service has fewer connections than clients.
func RunStatements(t *testing.T, baseURL string, recorder *wire.Recorder) {
	t.Helper()
	const devices = 200
	s := at(t, baseURL)
	before := recorder.Inserts()
	for _, r := range s.atOnce(t, slices.Repeat([]request{addingDevice(aDevice)}, devices)) {
		r.wantJSONHeaders(t, http.StatusCreated)
	}
	if sent := recorder.Inserts() - before; sent != devices {
		t.Errorf("%d inserts for %d devices, want one each", sent, devices)
	}
	if most := recorder.Outstanding(); most != 1 {
		t.Errorf("a connection had %d statements outstanding, want 1", most)
	}
}
