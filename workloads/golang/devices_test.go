package golang

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// FuzzDecodeDevice: a body gives a device that is within the contract's bounds
// and that decodes from its own encoding, or a refusal with a reason and a
// status that the contract knows.
func FuzzDecodeDevice(f *testing.F) {
	for _, body := range []string{
		`{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`,
		`{"firmware":"v2.1.6-rc_1+Build9","mac":"00:00:5e:00:53:ff"}` + "\n",
		`{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}{}`,
		`{"mac":"0000.5e00.53ff","firmware":"2.1.6"}`,
		`{"mac":null,"firmware":"\u0032\ud800"}`,
		`{"mac":{"mac":[]},"firmware":1e999}`,
		`[[[[{"id":1}`, `null`, ` `, ``, "\xff",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		const limit = 256 // instead of maxBody, so that the fuzzer exceeds it
		limited := http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(bytes.NewReader(body)), limit)
		d, err := decodeDevice(limited)
		if err != nil {
			checkRefusal(t, err, len(body) > limit)
			return
		}
		if len(body) > limit {
			t.Fatalf("a body of %d bytes was taken over a limit of %d", len(body), limit)
		}
		if d.ID != "" || len(d.MAC) != 17 || len(d.Firmware) < 1 || len(d.Firmware) > maxFirmware {
			t.Fatalf("%q decodes to %+v", body, d)
		}
		again, err := json.Marshal(map[string]string{"mac": d.MAC, "firmware": d.Firmware})
		if err != nil {
			t.Fatal(err)
		}
		if d2, err := decodeDevice(bytes.NewReader(again)); err != nil || d2 != d {
			t.Fatalf("%s decodes to %+v, %v; want %+v", again, d2, err, d)
		}
	})
}

// checkRefusal checks err; only a body that is long may be refused for it, and
// even that need not: what comes first decides.
func checkRefusal(t *testing.T, err error, long bool) {
	t.Helper()
	r, ok := errors.AsType[*refusal](err)
	switch {
	case !ok:
		t.Fatalf("%T: %v is no refusal", err, err)
	case r.reason == "":
		t.Fatalf("%d without a reason", r.status)
	case r.status == http.StatusRequestEntityTooLarge && long:
	case r.status == http.StatusBadRequest:
	default:
		t.Fatalf("status %d: %s", r.status, r.reason)
	}
}
