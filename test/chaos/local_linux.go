package chaos

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroups has the hierarchies of this machine.
const cgroups = "/sys/fs/cgroup"

// Local is this machine: control groups of any version.
type Local struct {
	Server string // the program of the server for tests
	// Postgres: the database is PostgreSQL, and a second server otherwise, for machines
	// without it.
	Postgres bool
	Emulated bool // the machine of package vm, whose clock may be stepped
}

// Name is the platform in a plan.
func (l Local) Name() string {
	if l.Emulated {
		return "vm"
	}
	return "local"
}

// On are the flags of commands.
func (Local) On() []string { return nil }

// experiment is an experiment of a plan. The database has to be stopped before a test of
// the disk ends, and a request that no longer gets an answer ends soon.
const experiment = `
name: chaos
services:
  service:
    SERVICE
    DEPENDENCIES
limits: {cpu: 500m}
load: {request: {path: "/sleep?ms=5"}, users: 4, timeout: 1s}
measure: {warmup: 0s, duration: DURATION, repeats: 1, interval: 200ms}
`

func fillIn(p *Plan, service, dependencies string) string {
	if !p.Database {
		dependencies = ""
	}
	return strings.NewReplacer("SERVICE", service, "DEPENDENCIES", dependencies, "DURATION", p.Load.String()).Replace(experiment)
}

// Experiment is the experiment of a plan.
func (l Local) Experiment(p *Plan) string {
	command := fmt.Sprintf(`command: [%s, --port, "${port}"]`, l.Server)
	database := fmt.Sprintf(`{name: database, ready: /ok, %s}`, command)
	if l.Postgres {
		database = "postgres"
	}
	return fillIn(p, command, "dependencies: ["+database+"]")
}

// Find returns the process of a part of the run with this lab; 0: there is none.
func (l Local) Find(lab int, target Target) (int, error) {
	unit := map[Target]string{Agent: "agent", Service: "service", Database: "database"}[target]
	if l.Postgres && target == Database {
		unit = "postgres"
	}
	for _, pattern := range []string{cgroups, filepath.Join(cgroups, "*")} {
		found, err := filepath.Glob(filepath.Join(pattern, prefixOf(lab)+"*", "trial*-"+unit+"-0-*", "cgroup.procs"))
		if err != nil {
			return 0, err
		}
		for _, file := range found {
			text, _ := os.ReadFile(file) // none if it was removed
			var pids []int
			for field := range strings.FieldsSeq(string(text)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					return 0, err
				}
				pids = append(pids, pid)
			}
			if len(pids) > 0 {
				return slices.Min(pids), nil // the first of them that was started
			}
		}
	}
	return 0, nil
}

func prefixOf(lab int) string { return fmt.Sprintf("millicore-%d-", lab) }

// Left are the control groups of the runs with these labs.
func (Local) Left(labs []int) (all []string, err error) {
	err = filepath.WalkDir(cgroups, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // a group of others that is removed meanwhile
		}
		for _, lab := range labs {
			if strings.HasPrefix(d.Name(), prefixOf(lab)) {
				all = append(all, "group "+path)
				return fs.SkipDir
			}
		}
		return nil
	})
	return all, err
}
