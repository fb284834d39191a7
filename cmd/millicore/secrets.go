package main

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/schema"
	"github.com/millicore/millicore/internal/front/progress"
)

// readInputs reads what an experiment needs from outside of its file.
func readInputs(e *experiment.Experiment, dir string) error {
	defer guard(e) // also what was read before an error
	return e.ReadInputs(dir, os.Getenv, schema.Read)
}

// guard removes the secrets of an experiment from all messages from now on, and makes
// their hashes for the record. Without a folder for the key the hashes compare within
// this run only.
func guard(e *experiment.Experiment) {
	progress.Hide(e.Secrets())
	if !e.HidesValues() {
		return
	}
	key := secret.NewKey()
	if dir, err := stateDir(); err == nil {
		if kept, err := secret.OpenKey(dir); err == nil {
			key = kept
		}
	}
	e.Seal(key)
}

// stateDir is the user's folder for what Millicore keeps between runs (XDG Base
// Directory Specification). With sudo, HOME may be that of the user who called it, in
// whose folders root writes nothing: root's own comes from the list of users.
func stateDir() (string, error) {
	state, home := os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME")
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") != "" {
		root, err := user.LookupId("0")
		if err != nil {
			return "", err
		}
		state, home = "", root.HomeDir
	}
	switch {
	case filepath.IsAbs(state):
		return filepath.Join(state, "millicore"), nil
	case filepath.IsAbs(home):
		return filepath.Join(home, ".local", "state", "millicore"), nil
	}
	return "", errors.New("the user has no home folder")
}
