package database

import (
	"context"
	"crypto/rand"
	"errors"
	"syscall"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// images are those that the built-in databases are on a platform of images.
var images = map[string]string{
	experiment.Postgres: "postgres:17-alpine",
	experiment.MongoDB:  "mongo:8",
}

// Image is that of a built-in database; "" where no such database is built in.
func Image(builtin string) string { return images[builtin] }

// startImage starts the image of a database, with an empty database in it.
func (s *Set) startImage(ctx context.Context, builtin string, u platform.Unit, into *Server) error {
	url := mongoURL
	switch builtin {
	case experiment.Postgres:
		t := &template{password: rand.Text()}
		u, url = t.image(u), t.url
	case experiment.MongoDB:
		u = mongoImage(u)
	default:
		return errors.New("no built-in database has this name")
	}
	address, err := s.start(ctx, u, into)
	if err != nil {
		return err
	}
	into.url = url(address)
	return nil
}

// image makes of u the server in PostgreSQL's image, whose variables say what is
// made before it listens on the network for the first time.
// https://github.com/docker-library/docs/tree/master/postgres
func (t *template) image(u platform.Unit) platform.Unit {
	u.Image = images[experiment.Postgres]
	u.Command = []string{serverProgram, "-c", "listen_addresses=${host}", "-c", "port=${port}"}
	u.Env = map[string]string{
		"POSTGRES_USER": name, "POSTGRES_PASSWORD": t.password, "POSTGRES_DB": name,
		"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --no-locale",
	}
	u.StopSignal = syscall.SIGQUIT // without a last checkpoint: its data is thrown away
	u.Serves = func(ctx context.Context, address string) error { return t.answers(ctx, address) }
	return u
}

// mongoImage makes of u the server mongod in MongoDB's image.
func mongoImage(u platform.Unit) platform.Unit {
	u.Image = images[experiment.MongoDB]
	u.Command = []string{"mongod", "--bind_ip", "${host}", "--port", "${port}"}
	u.Serves = ping
	return u
}
