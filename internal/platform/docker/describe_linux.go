package docker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	images "github.com/moby/moby/api/types/image"

	"github.com/millicore/millicore/internal/platform"
)

// Describe describes an image of the daemon.
func (d *docker) Describe(ctx context.Context, name string) (platform.ImageInfo, error) {
	found, err := d.api.ImageInspect(ctx, name)
	if err != nil {
		return platform.ImageInfo{}, fmt.Errorf("inspect the image %s: %w", name, err)
	}
	return describe(&found.InspectResponse), nil
}

// describe reads the answer of the daemon about an image: docker image inspect.
func describe(i *images.InspectResponse) platform.ImageInfo {
	info := platform.ImageInfo{System: strings.Trim(i.Os+"/"+i.Architecture, "/")}
	c := i.Config
	if c == nil {
		return info
	}
	info.Entrypoint, info.Args, info.User, info.Dir = c.Entrypoint, c.Cmd, c.User, c.WorkingDir
	for name := range c.ExposedPorts {
		if port := tcpPort(name); port != 0 {
			info.Ports = append(info.Ports, port)
		}
	}
	slices.Sort(info.Ports)
	for _, entry := range c.Env {
		if text, ok := strings.CutPrefix(entry, "PORT="); ok {
			info.Port, _ = strconv.Atoi(text)
		}
	}
	if h := c.Healthcheck; h != nil && len(h.Test) > 1 {
		info.HealthTimeout = h.Timeout
		switch h.Test[0] {
		case "CMD":
			info.Health = h.Test[1:]
		case "CMD-SHELL":
			shell := c.Shell
			if len(shell) == 0 {
				shell = []string{"/bin/sh", "-c"}
			}
			info.Health = append(slices.Clone(shell), h.Test[1])
		}
	}
	return info
}

// tcpPort parses "8080/tcp". It returns 0 for another protocol.
func tcpPort(name string) int {
	number, protocol, _ := strings.Cut(name, "/")
	if protocol != "" && protocol != "tcp" {
		return 0
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}

// portOf is the port that ${port} and PORT have in a container: the only one that the
// image EXPOSEs, else that of its own variable PORT, else usualPort.
func portOf(info *platform.ImageInfo) int {
	if len(info.Ports) == 1 {
		return info.Ports[0]
	}
	return cmp.Or(info.Port, usualPort)
}
