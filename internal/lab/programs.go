package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/millicore/millicore/internal/experiment"
)

// Programs are where millicore's programs lie: beside one another.
type Programs struct {
	Dir string
}

// FindPrograms looks beside the running program.
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

// Path gives the path of a program that must be there.
func (p Programs) Path(name string) (string, error) {
	path := filepath.Join(p.Dir, name)
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("find %s: it is not beside millicore in %s; `make build` puts all programs into bin/", name, p.Dir)
	}
	return path, nil
}

// workloads are the sample services: the program, and how it is told where to
// listen.
var workloads = map[string][]string{
	"go": {"millicore-go", "--host", "${host}", "--port", "${port}"},
}

// command gives the command that runs a service.
func (p Programs) command(s *experiment.Service) ([]string, error) {
	if s.Workload == "" {
		return s.Command, nil
	}
	words, ok := workloads[s.Workload]
	if !ok {
		return nil, fmt.Errorf("start service %q: no sample service is named %q", s.Name, s.Workload)
	}
	path, err := p.Path(words[0])
	if err != nil {
		return nil, err
	}
	return append([]string{path}, words[1:]...), nil
}
