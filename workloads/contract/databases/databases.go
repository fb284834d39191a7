// Package databases gives tests the databases that the services' stores are
// for, in the test's own hands: started as experiments have them (by
// internal/platform/database), read past the service, stopped and made to hang under it.
// It limits and measures nothing.
package databases

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/database"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/workloads/contract"
)

// The databases, by the words of STORE.
const (
	Postgres = experiment.Postgres
	MongoDB  = experiment.MongoDB
)

// patience is how long a database may take to start, to stop or to answer.
const patience = time.Minute

// Database is a database of a test's own. It implements contract.Database.
type Database struct {
	kind   string
	url    string
	on     *platform
	reader reader // nil while the database is stopped
}

// reader reads the devices that a database keeps.
type reader interface {
	devices(ctx context.Context) ([]contract.Device, error)
	close(ctx context.Context)
}

// Start starts a Postgres or a MongoDB with nothing in it, which ends with the
// test. Where its programs are missing the test is skipped with what to install;
// with CI=true it fails, so that no run without them counts as whole.
func Start(t testing.TB, kind string) *Database {
	t.Helper()
	testkit.Long(t, "a real database")
	findOwnPrograms()
	if err := database.Check(kind); err != nil {
		testkit.Missing(t, err)
	}
	on := &platform{}
	t.Cleanup(func() {
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := patiently()
	defer cancel()
	dependency := &experiment.Dependency{Name: kind, Builtin: kind}
	server, err := database.New(on, os.TempDir()).Start(ctx, dependency, 0, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &Database{kind: kind, url: server.URL(), on: on}
	t.Cleanup(d.close) // before the database itself
	d.open(t)
	return d
}

// findOwnPrograms puts the repository's bin, where make builds the server of
// MongoDB's protocol, into the PATH of all tests.
var findOwnPrograms = sync.OnceFunc(func() {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.work")); missing == nil {
			os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Join(dir, "bin"))
			return
		}
		dir = filepath.Dir(dir)
	}
})

// URL is where the database is.
func (d *Database) URL() string { return d.url }

// Env is the environment by which a service keeps its devices in the database.
func (d *Database) Env() []string {
	return []string{"STORE=" + d.kind, "DATABASE_URL=" + d.url}
}

// patiently is a context for one call. It is not the test's, as that is over
// when a test that failed puts its database right.
func patiently() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// Devices implements contract.Database.
func (d *Database) Devices(t testing.TB) map[string]contract.Device {
	t.Helper()
	if d.reader == nil {
		t.Fatalf("%s is stopped", d.kind)
	}
	ctx, cancel := patiently()
	defer cancel()
	all, err := d.reader.devices(ctx)
	if err != nil {
		t.Fatalf("read the devices in %s: %v", d.kind, err)
	}
	devices := make(map[string]contract.Device, len(all))
	for _, device := range all {
		devices[device.ID] = device
	}
	if len(devices) != len(all) {
		t.Fatalf("%s has %d devices with %d ids", d.kind, len(all), len(devices))
	}
	return devices
}

// Stop implements contract.Database.
func (d *Database) Stop(t testing.TB) {
	t.Helper()
	d.close()
	if err := d.on.stop(); err != nil {
		t.Fatal(err)
	}
}

// Start implements contract.Database.
func (d *Database) Start(t testing.TB) {
	t.Helper()
	if d.reader != nil {
		return
	}
	ctx, cancel := patiently()
	defer cancel()
	if err := d.on.start(ctx); err != nil {
		t.Fatal(err)
	}
	d.open(t)
}

// Pause implements contract.Database.
func (d *Database) Pause(t testing.TB) { d.signal(t, pause) }

// Resume implements contract.Database.
func (d *Database) Resume(t testing.TB) { d.signal(t, resume) }

func (d *Database) signal(t testing.TB, send func(*process) error) {
	t.Helper()
	for _, p := range d.on.processes {
		if err := send(p); err != nil {
			t.Fatal(err)
		}
	}
}

// open connects the reader.
func (d *Database) open(t testing.TB) {
	t.Helper()
	ctx, cancel := patiently()
	defer cancel()
	connect := openPostgres
	if d.kind == MongoDB {
		connect = openMongoDB
	}
	var err error
	if d.reader, err = connect(ctx, d.url); err != nil {
		t.Fatalf("connect to %s: %v", d.kind, err)
	}
}

// close disconnects the reader, if there is one.
func (d *Database) close() {
	if d.reader == nil {
		return
	}
	ctx, cancel := patiently()
	defer cancel()
	d.reader.close(ctx)
	d.reader = nil
}
