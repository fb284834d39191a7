package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Programs locates Millicore's programs, which are all in one folder.
type Programs struct {
	Dir string
}

// FindPrograms returns the programs in the folder of the running program.
func FindPrograms() (Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return Programs{}, fmt.Errorf("find millicore's programs: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return Programs{}, fmt.Errorf("find millicore's programs: %w", err)
	}
	return Programs{Dir: filepath.Dir(self)}, nil
}

// Path returns the path of a program. It is an error if the program is missing.
func (p Programs) Path(name string) (string, error) {
	path := filepath.Join(p.Dir, name)
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("find %s: it is not beside millicore in %s; `make build` puts all programs into bin/", name, p.Dir)
	}
	return path, nil
}
