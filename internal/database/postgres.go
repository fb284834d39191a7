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

	"github.com/jackc/pgx/v5"

	"github.com/millicore/millicore/internal/platform"
)

// name is that of the database in a server, and of its superuser.
const name = "millicore"

// template is a data folder of PostgreSQL as initdb makes it, with the database
// in it. Each trial gets a copy, which takes a tenth of the time.
type template struct {
	bin      string // folder of the programs
	user     *platform.User
	folder   platform.Folder
	password string
}

// data is the data folder within a folder of the platform's.
func data(folder platform.Folder) string { return filepath.Join(folder.Path(), "data") }

// startPostgres starts PostgreSQL with an empty database.
func (s *Set) startPostgres(ctx context.Context, u platform.Unit, into *Server) error {
	t, err := s.template(ctx)
	if err != nil {
		return err
	}
	if into.folder, err = s.on.Folder(s.dir, t.user); err != nil {
		return err
	}
	if err := copyTree(data(t.folder), data(into.folder)); err != nil {
		return fmt.Errorf("copy its data folder: %w", err)
	}
	address, err := s.start(ctx, t.unit(u, into.folder), into)
	if err != nil {
		return err
	}
	into.url = t.url(address)
	return nil
}

// unit makes of u the server of a data folder. All settings are PostgreSQL's
// own, fsync among them.
func (t *template) unit(u platform.Unit, folder platform.Folder) platform.Unit {
	u.Command = []string{filepath.Join(t.bin, serverProgram), "-D", verbatim(data(folder)),
		"-c", "listen_addresses=${host}", "-c", "port=${port}", "-c", "unix_socket_directories="}
	u.Dir = folder.Path()
	u.Unset = libpq(os.Environ())
	u.User = t.user
	u.PrivateIPC = true
	u.StopSignal = syscall.SIGQUIT // without a last checkpoint: its data is thrown away
	u.Serves = func(ctx context.Context, address string) error { return t.answers(ctx, address) }
	return u
}

// verbatim is a text in which a platform finds no names to replace.
func verbatim(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// libpq are the variables of an environment that PostgreSQL's programs take
// settings from.
func libpq(environ []string) []string {
	var names []string
	for _, line := range environ {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "PG") {
			names = append(names, name)
		}
	}
	return names
}

// url is where the database of a server is.
func (t *template) url(address string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, t.password), Host: address, Path: "/" + name, RawQuery: "sslmode=disable"}
	return u.String()
}

// answers reports whether the server answers a query.
func (t *template) answers(ctx context.Context, address string) error {
	config, err := pgx.ParseConfig(t.url(address))
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "select 1")
	return errors.Join(err, conn.Close(ctx))
}

// template gives the template, which the first call makes.
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

// make makes the data folder. What initdb would bring to the disk at once waits
// for the copies. Text is sorted by its bytes, whatever the machine's locale.
func (t *template) make(ctx context.Context) error {
	secret := filepath.Join(t.folder.Path(), "password")
	if err := t.write(secret, t.password+"\n"); err != nil {
		return err
	}
	err := t.run(ctx, "", initProgram, "--pgdata="+data(t.folder), "--username="+name, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	if err != nil {
		return err
	}
	return t.run(ctx, "create database "+name+"\n", serverProgram, "--single", "-D", data(t.folder), "-c", "log_min_messages=fatal", "postgres")
}

// write writes a file that the database's user may read.
func (t *template) write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if t.user == nil {
		return nil
	}
	return os.Chown(file, t.user.UID, t.user.GID)
}

// run runs one of PostgreSQL's programs to its end, as the database's user.
func (t *template) run(ctx context.Context, input, program string, args ...string) error {
	c := exec.CommandContext(ctx, filepath.Join(t.bin, program), args...)
	c.Dir = t.folder.Path()
	c.Env = without(os.Environ(), libpq(os.Environ()))
	c.Stdin = strings.NewReader(input)
	c.SysProcAttr = attributes(t.user)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("prepare its data folder: %s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// without is an environment less the variables of these names.
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
