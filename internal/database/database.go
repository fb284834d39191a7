// Package database prepares and starts the databases that experiments have by
// name: PostgreSQL from the machine's own binaries, and MongoDB, which is
// mongod where that is installed and otherwise FerretDB, a server of its
// protocol, over PostgreSQL. On a platform of images both are their makers' own
// images. Each trial gets a database with nothing in it, on loopback or in the
// run's network, with the settings that the database has by default.
//
// It says how processes are to be started; the platform starts, limits,
// observes, restarts and removes them. It is not for databases that already run.
package database

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// Set is the databases of one run. Its methods are for one goroutine.
type Set struct {
	on       platform.Platform
	images   bool // that is where they come from
	dir      string
	postgres *template // nil until it is needed
}

// New returns a set whose data lies below dir, as far as the databases' users
// can reach that. On a platform of images the databases are images, and their
// data lies where the platform keeps containers. It starts and makes nothing.
func New(on platform.Platform, dir string) *Set {
	_, images := on.(platform.Images)
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

// Server is a database that runs, as one or several processes.
type Server struct {
	url    string
	units  []platform.Running // in the order of their start
	folder platform.Folder

	once sync.Once
	err  error // of the one stopping
}

// URL is where a service finds the database: postgres://… or mongodb://….
func (s *Server) URL() string { return s.url }

// Replicas are the database's processes with groups of their own. The first is
// the one that services speak to; what it is built upon follows. What all of
// them use is what the database uses.
func (s *Server) Replicas() []platform.Replica {
	var all []platform.Replica
	for i := len(s.units) - 1; i >= 0; i-- {
		all = append(all, s.units[i].Replicas()...)
	}
	return all
}

// Evicted says which of the database's processes was taken away, and why; "": none.
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

// Start starts the built-in database that a dependency names, with nothing in
// it, and returns when it answers. Its processes write into the folder logs. On
// an error nothing of it is left.
func (s *Set) Start(ctx context.Context, d *experiment.Dependency, trial int, logs string) (*Server, error) {
	server := &Server{}
	u := platform.Unit{Trial: trial, Name: d.Name, Limits: d.Limits, Ready: d.Ready, Logs: logs}
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
		cancel() // no grace for what never served
		return nil, errors.Join(fmt.Errorf("database %s: %w", d.Builtin, err), server.Stop(gone))
	}
	return server, nil
}

// start starts one unit of the database.
func (s *Set) start(ctx context.Context, u platform.Unit, into *Server) (address string, err error) {
	running, err := s.on.Start(ctx, u)
	if err != nil {
		return "", err
	}
	into.units = append(into.units, running)
	return running.Replicas()[0].Address(), nil
}
