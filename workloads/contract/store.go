package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sync/errgroup"
)

// Device is a device as a database keeps it.
type Device struct{ ID, MAC, Firmware string }

// Database is the one that keeps a service's devices, in the test's own hands:
// it is read past the service, and stopped under it. Each method ends the test
// where it fails. Package databases has real ones.
type Database interface {
	// Devices returns all devices that it keeps, by their ids.
	Devices(t testing.TB) map[string]Device
	// Stop ends it, and returns when nothing listens at its address.
	Stop(t testing.TB)
	// Start starts it again after Stop, at the same address and with what it
	// kept, and returns when it answers. It does nothing to one that runs.
	Start(t testing.TB)
	// Pause makes it hang: it holds its connections and takes further ones, and
	// answers none, until Resume, which does nothing to one that runs.
	Pause(t testing.TB)
	Resume(t testing.TB)
}

// RunStore checks that the service at baseURL keeps its devices in db, which
// nobody else writes to, and what it answers while db is stopped or hangs. It
// leaves both running.
func RunStore(t *testing.T, baseURL string, db Database) {
	s := stored{at(t, baseURL), db}
	t.Run("a device is stored as in the answer", s.keepsDevice)
	t.Run("all devices that were answered with 201 are stored", s.keepsAll)
	t.Run("a database that is stopped", s.outlivesStop)
	t.Run("a database that is stopped under load", s.outlivesStopUnderLoad)
	t.Run("a database that hangs", s.outlivesPause)
}

// stored is a service and the database behind it.
type stored struct {
	service
	db Database
}

// aDevice is one like any other.
var aDevice = Device{MAC: "00-00-5E-00-53-FF", Firmware: "2.1.6"}

// stop stops the database. It runs again at the end of the test, even after a failure.
func (s stored) stop(t *testing.T) {
	t.Cleanup(func() { s.db.Start(t) })
	s.db.Stop(t)
}

// addingDevice is the request for a device.
func addingDevice(d Device) request {
	return request{http.MethodPost, "/devices", jsonType, `{"mac":"` + d.MAC + `","firmware":"` + d.Firmware + `"}`}
}

// keepsDevice looks for values that a database might take for its own: it keeps
// text as it came, and does not bring it into a form.
func (s stored) keepsDevice(t *testing.T) {
	for name, d := range map[string]Device{
		"dashes":               {MAC: "00-00-5E-00-53-FF", Firmware: "2.1.6"},
		"colons, lower case":   {MAC: "00:00:5e:00:53:ff", Firmware: "v2.1.6-rc_1+Build9"},
		"firmware is a number": {MAC: "00-00-5E-00-53-FF", Firmware: "007"},
		"firmware is long":     {MAC: "00-00-5E-00-53-FF", Firmware: strings.Repeat("9", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(t, addingDevice(d))
			r.wantJSONHeaders(t, http.StatusCreated)
			d.ID = idOf(t, r)
			s.wantKept(t, d)
		})
	}
}

// wantKept returns how many devices the database keeps, these among them.
func (s stored) wantKept(t *testing.T, want ...Device) int {
	t.Helper()
	kept := s.db.Devices(t)
	for _, w := range want {
		if got, ok := kept[w.ID]; !ok || got != w {
			t.Errorf("the database has %+v (%v), want %+v", got, ok, w)
		}
	}
	return len(kept)
}

// keepsAll mixes devices that are taken with ones that are refused, more at once
// than the pool has connections.
func (s stored) keepsAll(t *testing.T) {
	const devices = 50
	pair := []request{addingDevice(aDevice), addingDevice(Device{MAC: aDevice.MAC})}
	before := s.wantKept(t)
	var added []Device
	for i, r := range s.atOnce(t, slices.Repeat(pair, devices)) {
		if i%2 != 0 {
			r.wantRefusal(t, http.StatusBadRequest)
			continue
		}
		r.wantJSONHeaders(t, http.StatusCreated)
		added = append(added, Device{idOf(t, r), aDevice.MAC, aDevice.Firmware})
	}
	if n := s.wantKept(t, added...) - before; n != devices {
		t.Errorf("%d devices were added for %d answers of 201", n, devices)
	}
}

// outlivesStop asks for nothing while the database stops, so that it is known
// which devices it has.
func (s stored) outlivesStop(t *testing.T) {
	const refused = 20 // at once, and more than a pool has places to lose to them
	histogram := func() *dto.Histogram { return s.inserts(t) }
	inserts := histogram().GetSampleCount()
	kept := s.wantKept(t)

	s.stop(t)
	for _, r := range s.atOnce(t, slices.Repeat([]request{addingDevice(aDevice)}, refused)) {
		r.wantRefusal(t, http.StatusServiceUnavailable)
	}
	wantSamples(t, histogram, inserts+refused) // failed inserts took time too
	s.post(t, "/devices", "{}").wantRefusal(t, http.StatusBadRequest)
	s.get(t, "/devices").wantJSON(t, http.StatusOK, fixedList)
	s.isHealthy(t)

	s.db.Start(t)
	if got := s.awaitKept(t); got != kept+1 {
		t.Errorf("the database has %d devices, want %d and the one added after its start", got, kept)
	}
}

// outlivesStopUnderLoad stops the database while devices are being added. A 503
// may then stand for a device that was kept, but a 201 never for one that was
// not; and clients are served again without anything done to the service.
func (s stored) outlivesStopUnderLoad(t *testing.T) {
	const clients, devices = 4, 100
	var flow flow
	ctx, stop := context.WithCancel(t.Context())
	var all errgroup.Group
	for range clients {
		all.Go(func() error { return flow.run(ctx, s.service) })
	}
	flow.await(t, "devices that are added", &flow.added, devices)
	s.stop(t)
	flow.await(t, "devices that are refused", &flow.refused, clients)
	s.db.Start(t)
	flow.await(t, "devices that are added again", &flow.added, flow.added.Load()+devices)
	stop()
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	var added []Device
	for _, id := range flow.ids {
		added = append(added, Device{id, aDevice.MAC, aDevice.Firmware})
	}
	s.wantKept(t, added...)
}

// flow is what became of devices that clients add without a pause.
type flow struct {
	added, refused atomic.Int64 // answers of 201 and of 503
	mu             sync.Mutex
	ids            []string // of the devices added
}

// run is one client, until ctx is done: what is in flight then is awaited.
func (f *flow) run(ctx context.Context, s service) error {
	for ctx.Err() == nil {
		req, err := s.build(context.WithoutCancel(ctx), addingDevice(aDevice))
		if err != nil {
			return err
		}
		r, err := s.roundTrip(req)
		if err != nil {
			return err
		}
		switch r.status {
		case http.StatusServiceUnavailable:
			f.refused.Add(1)
		case http.StatusCreated:
			var d struct{ ID string }
			if err := json.Unmarshal([]byte(r.body), &d); err != nil {
				return fmt.Errorf("decode %.200q: %w", r.body, err)
			}
			f.mu.Lock()
			f.ids = append(f.ids, d.ID)
			f.mu.Unlock()
			f.added.Add(1)
		default:
			return fmt.Errorf("POST /devices: status %d, body %.200q; want 201 or 503", r.status, r.body)
		}
	}
	return nil
}

// await returns when count has come to want.
func (f *flow) await(t *testing.T, what string, count *atomic.Int64, want int64) {
	t.Helper()
	for end := time.Now().Add(patience); count.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: %d after %v, want %d", what, count.Load(), patience, want)
		}
	}
}

// patience is how long a broken service is waited for.
const patience = time.Minute

// outlivesPause asks for more devices at once than the pool has connections: who
// waits for one is refused in time as well.
func (s stored) outlivesPause(t *testing.T) {
	s.db.Pause(t)
	t.Cleanup(func() { s.db.Resume(t) }) // of a test that fails
	for _, r := range s.atOnce(t, slices.Repeat([]request{addingDevice(aDevice)}, 15)) {
		r.wantRefusal(t, http.StatusServiceUnavailable)
	}
	s.get(t, "/devices").wantJSON(t, http.StatusOK, fixedList)
	s.db.Resume(t)
	s.awaitKept(t)
}

// awaitKept adds devices until one is taken, checks that it is kept, and returns how many
// are. Until then a service may find that its connections are broken.
func (s stored) awaitKept(t *testing.T) int {
	t.Helper()
	end := time.Now().Add(patience)
	for {
		r := s.do(t, addingDevice(aDevice))
		if r.status == http.StatusServiceUnavailable && time.Now().Before(end) {
			continue
		}
		r.wantJSONHeaders(t, http.StatusCreated)
		return s.wantKept(t, Device{idOf(t, r), aDevice.MAC, aDevice.Firmware})
	}
}
