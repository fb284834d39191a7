package golang

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// failing is a store that keeps nothing.
type failing struct{}

func (failing) Insert(context.Context, Device) error { return errors.New("the disk is full") }

func post(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestAddedDeviceIsInTheStoreWithTheIDThatTheClientGot(t *testing.T) {
	store := NewMemory(10)
	w := httptest.NewRecorder()
	New(Options{Store: store}).ServeHTTP(w, post("/devices", `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`))
	var answered Device
	if err := json.Unmarshal(w.Body.Bytes(), &answered); err != nil {
		t.Fatal(err)
	}
	if len(store.devices) != 1 || store.devices[0] != answered {
		t.Errorf("store holds %+v, the answer was %+v", store.devices, answered)
	}
}

func TestRefusedDeviceIsNotInTheStore(t *testing.T) {
	store := NewMemory(10)
	w := httptest.NewRecorder()
	New(Options{Store: store}).ServeHTTP(w, post("/devices", `{"mac":"00-00-5E-00-53-FF","firmware":""}`))
	if len(store.devices) != 0 {
		t.Errorf("store holds %+v", store.devices)
	}
}

func TestStoreThatFailsIs503(t *testing.T) {
	w := httptest.NewRecorder()
	New(Options{Store: failing{}}).ServeHTTP(w, post("/devices", `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`))
	want := `{"error":"keep the device: the disk is full"}`
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != want {
		t.Errorf("status %d, body %s; want 503, %s", w.Code, w.Body, want)
	}
}

func TestReasonDoesNotGrowWithTheRequest(t *testing.T) {
	w := httptest.NewRecorder()
	long := strings.Repeat("é", maxBody/4)
	New(Options{Store: failing{}}).ServeHTTP(w, post("/devices", `{"`+long+`":1}`))
	var refusal struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusBadRequest || len(refusal.Error) > maxReason+len("…") || strings.Contains(refusal.Error, "\uFFFD") {
		t.Errorf("status %d, reason of %d bytes: %s", w.Code, len(refusal.Error), refusal.Error)
	}
}

func TestMaxProcsIsTheRuntimes(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	w := httptest.NewRecorder()
	New(Options{}).ServeHTTP(w, post("/maxProcs/3", ""))
	if got := runtime.GOMAXPROCS(0); w.Code != http.StatusOK || got != 3 {
		t.Errorf("status %d, GOMAXPROCS %d; want 200, 3", w.Code, got)
	}
}

func TestProfilesAreServedOnlyWhenAskedFor(t *testing.T) {
	for _, c := range []struct {
		profile bool
		status  int
	}{{false, http.StatusNotFound}, {true, http.StatusOK}} {
		w := httptest.NewRecorder()
		New(Options{Profile: c.profile}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/pprof/heap?debug=1", nil))
		if w.Code != c.status {
			t.Errorf("Profile %v: status %d, want %d", c.profile, w.Code, c.status)
		}
	}
}

// nowhere is a ResponseWriter that costs next to nothing, so that benchmarks
// measure the handler.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// BenchmarkListDevices compares the route with its answer alone: the difference
// is what routing and the histogram cost a request.
func BenchmarkListDevices(b *testing.B) {
	w := nowhere{http.Header{}}
	r := httptest.NewRequest(http.MethodGet, "/devices", nil)
	b.Run("route", func(b *testing.B) {
		service := New(Options{Store: NewMemory(1)})
		b.ReportAllocs()
		for b.Loop() {
			service.ServeHTTP(w, r)
		}
	})
	b.Run("answer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := listDevices(nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
