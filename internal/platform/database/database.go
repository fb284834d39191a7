// Package database prepares and starts the built-in databases: PostgreSQL from the
// machine's own binaries, and MongoDB, which is mongod if it is installed and otherwise
// FerretDB, a server of its protocol, over PostgreSQL. On a platform of images both are
// official images. Each trial gets an empty database, on loopback or in the run's
// network, with the database's default settings.
//
// The package specifies the units; the platform starts, limits, measures, restarts and
// removes them. It is not for databases that already run.
package database

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// Set holds the databases of one run. Only one goroutine may use it.
type Set struct {
	on       platform.Platform
	images   bool // the databases are images
	dir      string
	postgres *template // nil until it is needed
}

// New returns a set with its data below dir, if the databases' users can reach dir: not in
// a record, which only its owner can enter. On a platform of images the data is in the
// containers. New starts and makes nothing.
func New(on platform.Platform, dir string) *Set {
	_, images := platform.As[platform.ImageRunner](on)
	return &Set{on: on, images: images, dir: dir}
}

// Close removes what the set made for all trials.
func (s *Set) Close() error {
	if s.postgres == nil {
		return nil
	}
	err := s.postgres.folder.Remove()
	s.postgres = nil
	return err
}

// Server is a running database with one or several processes. It is a platform.Unit.
type Server struct {
	url    string
	units  []platform.Unit // in the order of their start
	folder platform.Folder

	once sync.Once
	err  error // of the one stopping
}

// URL is the database's URL for services: postgres://… or mongodb://….
func (s *Server) URL() string { return s.url }

// Replicas are the database's processes, each with its own control group. Services
// connect to the first one; its backend follows. The database's CPU use is the sum.
func (s *Server) Replicas() []platform.Replica {
	var all []platform.Replica
	for i := len(s.units) - 1; i >= 0; i-- {
		all = append(all, s.units[i].Replicas()...)
	}
	return all
}

// Evicted describes which of the database's processes was evicted, and why; "": none.
func (s *Server) Evicted() string { return platform.Evicted(s.units) }

// Stop stops the database and removes its data. It may be called again.
func (s *Server) Stop(ctx context.Context) error {
	s.once.Do(func() {
		var errs []error
		for i := len(s.units) - 1; i >= 0; i-- {
			errs = append(errs, s.units[i].Stop(ctx))
		}
		if s.folder != nil {
			errs = append(errs, s.folder.Remove())
		}
		s.err = errors.Join(errs...)
	})
	return s.err
}

// Start starts the built-in database of a dependency, empty, and returns when it
// answers. Its processes write into the folder logs. After an error nothing of it is
// left.
func (s *Set) Start(ctx context.Context, d *experiment.Dependency, trial int, logs string) (*Server, error) {
	server := &Server{}
	u := platform.UnitSpec{Trial: trial, Name: d.Name, Limits: d.Limits, Ready: d.Ready, Logs: logs}
	var err error
	switch {
	case s.images:
		err = s.startImage(ctx, d.Builtin, u, server)
	case d.Builtin == experiment.Postgres:
		err = s.startPostgres(ctx, u, server)
	case d.Builtin == experiment.MongoDB:
		err = s.startMongoDB(ctx, u, server)
	default:
		err = errors.New("no built-in database has this name")
	}
	if err != nil {
		gone, cancel := context.WithCancel(context.Background())
		cancel() // no grace time for a database that never served
		return nil, errors.Join(fmt.Errorf("database %s: %w", d.Builtin, err), server.Stop(gone))
	}
	return server, nil
}

// start starts one unit of the database.
func (s *Set) start(ctx context.Context, u platform.UnitSpec, into *Server) (address string, err error) {
	running, err := s.on.Start(ctx, u)
	if err != nil {
		return "", err
	}
	into.units = append(into.units, running)
	return running.Replicas()[0].Address(), nil
}
