package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/test/dockerd"
)

// Docker is a daemon for tests. Agents are processes of this machine.
type Docker struct{ Daemon *dockerd.Daemon }

// Name is the platform in a plan.
func (Docker) Name() string { return "docker" }

// On are the flags of commands.
func (Docker) On() []string { return []string{"--on", "docker"} }

// Experiment is the experiment of a plan. The image of PostgreSQL is not on this machine:
// the database is a second server.
func (Docker) Experiment(p *Plan) string {
	return fillIn(p, fmt.Sprintf("image: %q\n    ready: /ok", dockerd.Image),
		fmt.Sprintf("dependencies: [{name: database, image: %q, ready: /ok}]", dockerd.Image))
}

// Find returns the process of a part of the run with this lab; 0: there is none.
func (d Docker) Find(lab int, target Target) (int, error) {
	if target == Agent {
		return Local{}.Find(lab, target)
	}
	api, err := d.Daemon.Client()
	if err != nil {
		return 0, err
	}
	defer api.Close()
	ctx := context.Background()
	list, err := api.ContainerList(ctx, client.ContainerListOptions{Filters: client.Filters{}.Add("label", fmt.Sprintf("millicore.pid=%d", lab))})
	if err != nil {
		return 0, err
	}
	for _, one := range list.Items {
		if !strings.Contains(strings.Join(one.Names, " "), "-"+string(target)+"-0") {
			continue
		}
		found, err := api.ContainerInspect(ctx, one.ID, client.ContainerInspectOptions{})
		if err == nil && found.Container.State != nil {
			return found.Container.State.Pid, nil
		}
	}
	return 0, nil
}

// Left are the control groups of the runs with these labs, and everything in the daemon.
func (d Docker) Left(labs []int) ([]string, error) {
	groups, err1 := Local{}.Left(labs)
	all, err2 := d.Daemon.Left(dockerd.Image)
	return append(groups, all...), errors.Join(err1, err2)
}
