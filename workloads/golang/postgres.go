package golang

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres is a Store in a table of PostgreSQL.
type Postgres struct{ pool *pgxpool.Pool }

// OpenPostgres returns a Postgres at a URL, as postgres://user@host:5432/name,
// with at most so many connections. It connects to nothing yet: its errors are
// the URL's. They do not quote its password.
func OpenPostgres(url string, connections int) (*Postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	// A connection that is being made is the pool's, not the request's, and holds
	// its place in the pool until it is made or this is over.
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, insertPatience)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &Postgres{pool}, nil
}

// Prepare makes the table where it is missing. Of two replicas that do so at
// the same moment PostgreSQL fails one, in spite of "if not exists": that one
// finds the table when it tries again.
func (p *Postgres) Prepare(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, `create table if not exists devices (
		id       uuid primary key,
		mac      text not null,
		firmware text not null
	)`)
	return err
}

// Insert adds a row. The statement is prepared once for each connection; from
// then on an insert is one round trip.
func (p *Postgres) Insert(ctx context.Context, d Device) error {
	_, err := p.pool.Exec(ctx, `insert into devices (id, mac, firmware) values ($1, $2, $3)`, d.ID, d.MAC, d.Firmware)
	if err != nil {
		return fmt.Errorf("insert into postgres: %w", err)
	}
	return nil
}

// Close closes the connections, and waits for those in use until ctx ends.
func (p *Postgres) Close(ctx context.Context) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.pool.Close()
	}()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}
