package servicetest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/millicore/millicore/workloads/contract"
	"github.com/millicore/millicore/workloads/contract/databases"
	"github.com/millicore/millicore/workloads/contract/wire"
)

// CheckStore checks the service with a database, one of package databases.
func (r Runtime) CheckStore(t *testing.T, database string) {
	t.Run("contract", func(t *testing.T) {
		db := databases.Start(t, database)
		p := r.Start(t, db.Env()...)
		contract.Run(t, p.URL)
		contract.RunStore(t, p.URL, db)
		p.signal(t, syscall.SIGTERM)
		_ = p.Wait() // broken connections are reported on standard error
		if code := p.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d, standard error %q; want 0", code, p.Stderr)
		}
	})
	t.Run("a database that starts late", func(t *testing.T) { r.awaitsDatabase(t, database) })
	t.Run("a signal ends the wait for a database", func(t *testing.T) { r.endsWait(t, database) })
}

// awaitsDatabase has services that are there first, and make the same table in
// the same moment.
func (r Runtime) awaitsDatabase(t *testing.T, database string) {
	const replicas = 3
	db := databases.Start(t, database)
	db.Stop(t)
	var all []*Process
	for range replicas {
		all = append(all, r.Launch(t, db.Env()...))
	}
	db.Start(t)
	var adding sync.WaitGroup
	for _, p := range all {
		p.AwaitListening(t)
		adding.Go(func() { p.addDevice(t) })
	}
	adding.Wait()
	if kept := len(db.Devices(t)); kept != replicas {
		t.Errorf("%d devices are kept, want one of each of the %d services", kept, replicas)
	}
}

// CheckStatements checks how devices are sent to a database, one of package databases.
func (r Runtime) CheckStatements(t *testing.T, database string) {
	recorder := wire.Start(t, databases.Start(t, database).URL())
	p := r.Start(t, "STORE="+database, "DATABASE_URL="+recorder.URL(), "DATABASE_CONNECTIONS=3")
	contract.RunStatements(t, p.URL, recorder)
}

// CheckConnections counts the service's connections to PostgreSQL by the name
// that they give in the URL. A pool keeps those that it has opened.
func (r Runtime) CheckConnections(t *testing.T) {
	const connections, devices = 3, 100
	db := databases.Start(t, databases.Postgres)
	named, err := url.Parse(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	query := named.Query()
	query.Set("application_name", "service")
	named.RawQuery = query.Encode()
	p := r.Start(t, "STORE=postgres", "DATABASE_URL="+named.String(), fmt.Sprintf("DATABASE_CONNECTIONS=%d", connections))
	var all sync.WaitGroup
	for range devices {
		all.Go(func() { p.addDevice(t) })
	}
	all.Wait()
	conn, err := pgx.Connect(t.Context(), db.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var open int
	err = conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where application_name = 'service'").Scan(&open)
	if err != nil {
		t.Fatal(err)
	}
	if open < 1 || open > connections {
		t.Errorf("%d connections after %d devices at once, want 1 to %d", open, devices, connections)
	}
	if kept := len(db.Devices(t)); kept != devices {
		t.Errorf("%d devices are kept, want %d", kept, devices)
	}
}

// endsWait has a database that takes connections and answers none: when one has
// come, the service waits.
func (r Runtime) endsWait(t *testing.T, database string) {
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	p := r.Launch(t, "STORE="+database, "DATABASE_URL="+database+"://"+hung.Addr().String()+"/devices")
	conn, err := hung.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.signal(t, syscall.SIGTERM)
	p.wantEnd(t)
}

func (p *Process) addDevice(t *testing.T) {
	resp, err := http.Post(p.URL+"/devices", "application/json", strings.NewReader(`{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`))
	if err != nil {
		t.Error(err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("status %d, want 201", resp.StatusCode)
	}
}
