package database

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// postgresURL is the variable with the URL of FerretDB's PostgreSQL. A variable keeps the
// password out of the list of processes.
const postgresURL = "POSTGRESQL_URL"

// startMongoDB starts an empty server of MongoDB's protocol.
func (s *Set) startMongoDB(ctx context.Context, u platform.UnitSpec, into *Server) error {
	m, err := findMongoDB()
	if err != nil {
		return err
	}
	if m.mongod != "" {
		u, err = s.mongod(m.mongod, u, into)
	} else {
		u, err = s.ferret(ctx, m.ferret, u, into)
	}
	if err != nil {
		return err
	}
	open := mongoUser{}
	u.Serves = open.answers
	address, err := s.start(ctx, u, into)
	if err != nil {
		return err
	}
	into.url = open.url(address)
	return nil
}

// mongod completes u to mongod with its default settings.
func (s *Set) mongod(program string, u platform.UnitSpec, into *Server) (platform.UnitSpec, error) {
	var err error
	if u.User, err = owner("mongodb", "mongod", "nobody"); err != nil {
		return u, err
	}
	if into.folder, err = s.on.Folder(s.dir, u.User); err != nil {
		return u, err
	}
	if err := platform.MakeDir(into.folder.Path(), dataDir, u.User); err != nil {
		return u, err
	}
	u.Command = []string{program, "--dbpath", verbatim(data(into.folder)), "--bind_ip", "${host}", "--port", "${port}", "--nounixsocket"}
	u.Dir = into.folder.Path()
	return u, nil
}

// ferret completes u to a FerretDB, and starts its PostgreSQL, which has the same limits.
func (s *Set) ferret(ctx context.Context, program string, u platform.UnitSpec, into *Server) (platform.UnitSpec, error) {
	below := u
	below.Name += "-postgres"
	if err := s.startPostgres(ctx, below, into); err != nil {
		return u, fmt.Errorf("its PostgreSQL: %w", err)
	}
	u.RunAs = experiment.Caller
	u.Command = []string{program, "--addr", "${host}:${port}"}
	u.Env = map[string]string{postgresURL: verbatim(into.url)}
	return u, nil
}

// mongoUser is who uses a server of MongoDB's protocol. Without a password the server
// asks for none: on this machine, where it listens on loopback only.
type mongoUser struct{ password string }

// url is the URL of the database at an address. Its user is in the database admin.
func (m mongoUser) url(address string) string {
	u := url.URL{Scheme: "mongodb", Host: address, Path: "/" + name}
	if m.password != "" {
		u.User, u.RawQuery = url.UserPassword(name, m.password), "authSource=admin"
	}
	return u.String()
}

// answers reports whether a server answers at an address, and to its user.
func (m mongoUser) answers(ctx context.Context, address string) error {
	// The driver would wait half a second for a port that is not open yet.
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	conn.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(m.url(address)).SetDirect(true))
	if err != nil {
		return err
	}
	// FerretDB forwards this command to PostgreSQL.
	_, err = client.Database(name).ListCollectionNames(ctx, struct{}{})
	return errors.Join(err, client.Disconnect(context.WithoutCancel(ctx)))
}
