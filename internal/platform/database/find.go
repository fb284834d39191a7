package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// Programs of the databases.
const (
	serverProgram = "postgres"
	initProgram   = "initdb"
	mongoProgram  = "mongod"
	ferretProgram = "millicore-mongodb"
)

// packaged are the folders in which distributions keep PostgreSQL's programs,
// one for each version (Debian's, and those of PostgreSQL's own RPMs).
var packaged = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}

// Check reports what is missing on this machine for a built-in database, and
// how to install it.
func Check(builtin string) error {
	var err error
	switch builtin {
	case experiment.Postgres:
		_, err = findPostgres()
	case experiment.MongoDB:
		_, err = findMongoDB()
	default:
		err = errors.New("no built-in database has this name")
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", builtin, err)
	}
	return nil
}

// Versions adds the versions of the databases that the experiment starts.
func Versions(ctx context.Context, e *experiment.Experiment, versions map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for i := range e.Cells {
		for _, d := range e.Cells[i].Service.Dependencies {
			if d.Builtin == "" || versions[d.Builtin] != "" {
				continue
			}
			if found := builtinVersion(ctx, d.Builtin); found != "" {
				versions[d.Builtin] = found
			}
		}
	}
}

// builtinVersion is the version of a built-in database on this machine: "15.18", or with its
// backend "FerretDB 1.24.0 over PostgreSQL 15.18"; "" if it is not known.
func builtinVersion(ctx context.Context, builtin string) string {
	switch builtin {
	case experiment.Postgres:
		if bin, err := findPostgres(); err == nil {
			return versionOf(ctx, filepath.Join(bin, serverProgram))
		}
	case experiment.MongoDB:
		m, err := findMongoDB()
		switch {
		case err != nil:
		case m.mongod != "":
			return versionOf(ctx, m.mongod)
		default:
			front, back := versionOf(ctx, m.ferret), versionOf(ctx, filepath.Join(m.postgres, serverProgram))
			if front != "" && back != "" {
				return "FerretDB " + front + " over PostgreSQL " + back
			}
		}
	}
	return ""
}

// versionOf asks a program for its version.
func versionOf(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return ""
	}
	return versionIn(string(out))
}

var versionNumber = regexp.MustCompile(`\bv?(\d+(\.\d+)+\S*|\d+(beta|rc|devel)\S*)`)

// versionIn finds the version in a program's output.
func versionIn(text string) string {
	if m := versionNumber.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// mongoDB has the programs of the database mongodb: mongod, or else FerretDB and the
// folder of PostgreSQL's programs.
type mongoDB struct {
	mongod   string
	ferret   string
	postgres string
}

func findMongoDB() (mongoDB, error) {
	if path, err := exec.LookPath(mongoProgram); err == nil {
		return mongoDB{mongod: path}, nil
	}
	ferret, err := beside(ferretProgram)
	if err != nil {
		return mongoDB{}, fmt.Errorf("neither %s is in PATH nor %s beside millicore; install MongoDB, or build FerretDB into bin/ with `make mongodb`", mongoProgram, ferretProgram)
	}
	postgres, err := findPostgres()
	if err != nil {
		return mongoDB{}, fmt.Errorf("%s needs PostgreSQL, and %w", ferretProgram, err)
	}
	return mongoDB{ferret: ferret, postgres: postgres}, nil
}

// beside finds one of Millicore's programs: beside the running one, or in PATH.
func beside(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// findPostgres returns the folder of PostgreSQL's programs: from PATH, from pg_config, or
// that of the newest version in a distribution's folders.
func findPostgres() (string, error) {
	var candidates []string
	if path, err := exec.LookPath(serverProgram); err == nil {
		candidates = append(candidates, filepath.Dir(path))
		if path, err = filepath.EvalSymlinks(path); err == nil {
			candidates = append(candidates, filepath.Dir(path))
		}
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(out)))
	}
	candidates = append(candidates, newestFirst(packaged)...)
	for _, dir := range candidates {
		if holds(dir, serverProgram) && holds(dir, initProgram) {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("no folder with %s and %s is in PATH, named by pg_config --bindir, or at %s; install PostgreSQL (Debian: apt-get install postgresql)",
		initProgram, serverProgram, strings.Join(packaged, " or "))
}

func holds(dir, program string) bool {
	_, err := exec.LookPath(filepath.Join(dir, program))
	return err == nil
}

var digits = regexp.MustCompile(`\d+(\.\d+)?`)

// newestFirst returns the folders that patterns match, those with the highest
// version in their names first.
func newestFirst(patterns []string) []string {
	var found []string
	for _, p := range patterns {
		some, _ := filepath.Glob(p)
		found = append(found, some...)
	}
	version := func(dir string) float64 {
		v, _ := strconv.ParseFloat(digits.FindString(filepath.Base(filepath.Dir(dir))), 64)
		return v
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return found
}
