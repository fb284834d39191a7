//go:build !linux

package try

import (
	"context"
	"errors"

	"github.com/millicore/millicore/internal/front/reach"
)

var errLinux = errors.New("a process or a container is found on Linux only; name a URL")

func processesOf(context.Context, Running) ([]int, error) { return nil, errLinux }

func addressOf(context.Context, []int, *Ask) (string, error) { return "", errLinux }

func holdersOf(reach.Target) ([]int, string) {
	return nil, "Processes are seen on Linux only."
}
