package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/millicore/millicore/internal/platform"
)

// name is the name of the database and of its superuser.
const name = "millicore"

// template is a data folder of PostgreSQL from initdb, with the database. Each trial gets
// a copy, which takes a tenth of the time.
type template struct {
	bin      string // folder of the programs
	user     *platform.User
	folder   platform.Folder
	password string
}

// dataDir is the name of the data folder. It belongs to the database's user; the
// platform's folder around it does not.
const dataDir = "data"

// data is the data folder within a folder of the platform's.
func data(folder platform.Folder) string { return filepath.Join(folder.Path(), dataDir) }

// startPostgres starts PostgreSQL with an empty database.
func (s *Set) startPostgres(ctx context.Context, u platform.UnitSpec, into *Server) error {
	t, err := s.template(ctx)
	if err != nil {
		return err
	}
	if into.folder, err = s.on.Folder(s.dir, t.user); err != nil {
		return err
	}
	if err := t.copyTo(ctx, into.folder); err != nil {
		return fmt.Errorf("copy its data folder: %w", err)
	}
	address, err := s.start(ctx, t.unit(u, into.folder), into)
	if err != nil {
		return err
	}
	into.url = t.url(address)
	return nil
}

// unit completes u to the server of a data folder. All settings are PostgreSQL's
// defaults, including fsync.
func (t *template) unit(u platform.UnitSpec, folder platform.Folder) platform.UnitSpec {
	u.Command = []string{filepath.Join(t.bin, serverProgram), "-D", verbatim(data(folder)),
		"-c", "listen_addresses=${host}", "-c", "port=${port}", "-c", "unix_socket_directories="}
	u.Dir = folder.Path()
	u.Unset = libpq(os.Environ())
	u.User = t.user
	u.PrivateIPC = true
	u.StopSignal = syscall.SIGQUIT // without a last checkpoint: its data is deleted
	u.Serves = func(ctx context.Context, address string) error { return t.answers(ctx, address) }
	return u
}

// verbatim escapes the ${names} in a text.
func verbatim(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// libpq returns the names of the variables that configure PostgreSQL's programs.
func libpq(environ []string) []string {
	var names []string
	for _, line := range environ {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "PG") {
			names = append(names, name)
		}
	}
	return names
}

// url is the URL of the database at an address.
func (t *template) url(address string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, t.password), Host: address, Path: "/" + name, RawQuery: "sslmode=disable"}
	return u.String()
}

// answers reports whether the server answers a query.
func (t *template) answers(ctx context.Context, address string) error {
	conn, err := pgconn.Connect(ctx, t.url(address))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "select 1").ReadAll()
	return errors.Join(err, conn.Close(ctx))
}

// template returns the template. The first call makes it.
func (s *Set) template(ctx context.Context) (*template, error) {
	if s.postgres != nil {
		return s.postgres, nil
	}
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	user, err := owner("postgres", "nobody")
	if err != nil {
		return nil, err
	}
	folder, err := s.on.Folder(s.dir, user)
	if err != nil {
		return nil, err
	}
	t := &template{bin: bin, user: user, folder: folder, password: rand.Text()}
	if err := t.make(ctx); err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	s.postgres = t
	return t, nil
}

// make makes the data folder. It is not synced to the disk; the copies are. Text is sorted
// by bytes, regardless of the machine's locale.
func (t *template) make(ctx context.Context) error {
	const secret = "password"
	dir := t.folder.Path()
	if err := errors.Join(platform.MakeFile(dir, secret, t.password+"\n", t.user), platform.MakeDir(dir, dataDir, t.user)); err != nil {
		return fmt.Errorf("prepare its data folder: %w", err)
	}
	err := t.run(ctx, "", filepath.Join(t.bin, initProgram), "--pgdata="+data(t.folder), "--username="+name, "--pwfile="+filepath.Join(dir, secret),
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	if err == nil {
		err = t.run(ctx, "create database "+name+"\n", filepath.Join(t.bin, serverProgram), "--single", "-D", data(t.folder), "-c", "log_min_messages=fatal", "postgres")
	}
	if err != nil {
		return fmt.Errorf("prepare its data folder: %w", err)
	}
	return nil
}

// copyTo copies the data folder into a folder of the platform, and syncs the copy to the
// disk: a later write-back would disturb the measurement.
//
// The database's user copies, not root: root would follow a link that this user puts
// into a data folder meanwhile.
func (t *template) copyTo(ctx context.Context, folder platform.Folder) error {
	cp, err := exec.LookPath("cp")
	if err != nil {
		return err
	}
	if err := platform.MakeDir(folder.Path(), dataDir, t.user); err != nil {
		return err
	}
	if err := t.run(ctx, "", cp, "-Rp", data(t.folder)+"/.", data(folder)); err != nil {
		return err
	}
	return flush(folder.Path())
}

// run runs a program to its end, as the database's user.
func (t *template) run(ctx context.Context, input, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = t.folder.Path()
	c.Env = without(os.Environ(), libpq(os.Environ()))
	c.Stdin = strings.NewReader(input)
	c.SysProcAttr = attributes(t.user)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// without returns an environment without the named variables.
func without(environ, names []string) []string {
	var kept []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains(names, name) {
			kept = append(kept, line)
		}
	}
	return kept
}
