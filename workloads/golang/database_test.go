package golang_test

import (
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

// The tests with databases wait for timeouts and starts, so they run beside one another.
func TestContractWithPostgres(t *testing.T) { testContractWith(t, databases.Postgres) }
func TestContractWithMongoDB(t *testing.T)  { testContractWith(t, databases.MongoDB) }

// TestStatements is about the service's pool, which both frameworks share.
func TestStatements(t *testing.T) {
	t.Parallel()
	for _, database := range []string{databases.Postgres, databases.MongoDB} {
		t.Run(database, func(t *testing.T) {
			recorder := wire.Start(t, databases.Start(t, database).URL())
			p := start(t, "STORE="+database, "DATABASE_URL="+recorder.URL(), "DATABASE_CONNECTIONS=3")
			contract.RunStatements(t, p.url, recorder)
		})
	}
}

func testContractWith(t *testing.T, database string) {
	t.Parallel()
	db := databases.Start(t, database)
	p := start(t, db.Env()...)
	contract.Run(t, p.url)
	contract.RunStore(t, p.url, db)
	wantGone(t, p)
}

// wantGone checks how a process with connections to its database ends.
func wantGone(t *testing.T, p process) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil || p.stderr.Len() != 0 {
		t.Errorf("it ended with %v and said %q; want exit code 0 and silence", err, p.stderr)
	}
}

func addDevice(t *testing.T, p process) {
	t.Helper()
	resp, err := http.Post(p.url+"/devices", "application/json", strings.NewReader(`{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`))
	if err != nil {
		t.Error(err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("status %d, want 201", resp.StatusCode)
	}
}

// TestADatabaseThatStartsLateIsAwaited has services that are there first, and
// make the same table in the same moment. A driver in use is in their memory.
func TestADatabaseThatStartsLateIsAwaited(t *testing.T) {
	t.Parallel()
	for _, database := range []string{databases.Postgres, databases.MongoDB} {
		t.Run(database, func(t *testing.T) {
			const replicas = 4
			db := databases.Start(t, database)
			db.Stop(t)
			var all []process
			for range replicas {
				all = append(all, launch(t, db.Env()...))
			}
			db.Start(t)
			for _, p := range all {
				p.awaitListening(t)
				addDevice(t, p)
				wantSmall(t, p)
			}
			if kept := len(db.Devices(t)); kept != replicas {
				t.Errorf("%d devices are kept, want one of each of the %d services", kept, replicas)
			}
		})
	}
}

// TestConnectionsAreAsManyAsAsked counts the service's connections by the name
// that they give in the URL. A pool keeps those that it has opened.
func TestConnectionsAreAsManyAsAsked(t *testing.T) {
	t.Parallel()
	const connections = 3
	db := databases.Start(t, databases.Postgres)
	named, err := url.Parse(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	query := named.Query()
	query.Set("application_name", "service")
	named.RawQuery = query.Encode()
	p := start(t, "STORE=postgres", "DATABASE_URL="+named.String(), "DATABASE_CONNECTIONS=3")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { addDevice(t, p) })
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
		t.Errorf("%d connections after 100 devices at once, want 1 to %d", open, connections)
	}
	if kept := len(db.Devices(t)); kept != 100 {
		t.Errorf("%d devices are kept, want 100", kept)
	}
}
