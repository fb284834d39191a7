// Package dockerflags reads the values of flags that are those of docker run.
package dockerflags

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// Port reads the port of a service. Of an image it may have the form of docker run -p,
// HOST:CONTAINER, of which the container's counts: Millicore reaches a container at its own
// address.
func Port(text string, image bool) (int, error) {
	number := text
	if image {
		number, _ = strings.CutSuffix(text[strings.LastIndex(text, ":")+1:], "/tcp")
	}
	port, err := strconv.Atoi(number)
	switch {
	case err == nil && port >= 1 && port <= 65535:
		return port, nil
	case image:
		return 0, fmt.Errorf("--port %s: want the port on which the container listens, from 1 to 65535, or HOST:CONTAINER as of docker run -p", text)
	}
	return 0, fmt.Errorf("--port %s: want a port from 1 to 65535", text)
}

// PortValue is a flag's value that Port reads.
type PortValue string

func (p *PortValue) Set(text string) error {
	_, err := Port(text, true)
	*p = PortValue(text)
	return err
}

func (*PortValue) Type() string     { return "port" }
func (p *PortValue) String() string { return string(*p) }

// Volumes reads the values of --volume. As of docker run, a path that begins with a dot is
// relative to the working folder.
func Volumes(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		v, err := experiment.SplitVolume(text)
		if err != nil {
			return nil, fmt.Errorf("--volume: %w", err)
		}
		if v.HasPath() {
			if v.Source, err = filepath.Abs(v.Source); err != nil {
				return nil, fmt.Errorf("--volume %s: %w", text, err)
			}
		}
		all = append(all, v.String())
	}
	return all, nil
}
