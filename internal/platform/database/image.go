package database

import (
	"context"
	"crypto/rand"
	"errors"
	"syscall"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// startImage starts the image of a database, with an empty database.
func (s *Set) startImage(ctx context.Context, builtin string, u platform.UnitSpec, into *Server) error {
	var url func(address string) string
	switch builtin {
	case experiment.Postgres:
		t := &template{password: rand.Text()}
		u, url = t.image(u), t.url
	case experiment.MongoDB:
		m := mongoUser{password: rand.Text()}
		u, url = m.image(u), m.url
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

// image completes u to the server in PostgreSQL's image. Its variables configure what it
// creates before it listens on the network.
// https://github.com/docker-library/docs/tree/master/postgres
func (t *template) image(u platform.UnitSpec) platform.UnitSpec {
	u.Image = experiment.DatabaseImage(experiment.Postgres)
	u.Command = []string{serverProgram, "-c", "listen_addresses=${host}", "-c", "port=${port}"}
	u.Env = map[string]string{
		"POSTGRES_USER": name, "POSTGRES_PASSWORD": t.password, "POSTGRES_DB": name,
		"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --no-locale",
	}
	u.Hidden = []string{"POSTGRES_PASSWORD"}
	u.StopSignal = syscall.SIGQUIT // without a last checkpoint: its data is deleted
	u.Serves = func(ctx context.Context, address string) error { return t.answers(ctx, address) }
	return u
}

// image completes u to mongod in MongoDB's image. With the variables the image creates
// the user on loopback, before it listens on the network, and adds --auth.
// https://github.com/docker-library/docs/tree/master/mongo
func (m mongoUser) image(u platform.UnitSpec) platform.UnitSpec {
	u.Image = experiment.DatabaseImage(experiment.MongoDB)
	u.Command = []string{"mongod", "--bind_ip", "${host}", "--port", "${port}"}
	u.Env = map[string]string{"MONGO_INITDB_ROOT_USERNAME": name, "MONGO_INITDB_ROOT_PASSWORD": m.password}
	u.Hidden = []string{"MONGO_INITDB_ROOT_PASSWORD"}
	u.Serves = m.answers
	return u
}
