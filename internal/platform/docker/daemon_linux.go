package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/base/secret"
)

// engine is what is known of the daemon.
type engine struct {
	version     string
	cpuLimits   bool
	memoryLimit bool
	pidsLimit   bool
}

// connect connects to the daemon. It returns an error if its containers cannot be
// measured from here.
func connect() (*client.Client, engine, error) {
	host, err := findHost(os.Getenv("DOCKER_HOST"), "/", os.Getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return nil, engine{}, err
	}
	options := []client.Opt{client.FromEnv}
	if host != "" {
		options = append(options, client.WithHost(host))
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, engine{}, fmt.Errorf("find the Docker daemon: %s; see DOCKER_HOST", secret.Text(err.Error()))
	}
	info, err := ask(api)
	if err == nil {
		err = measurable(info)
	}
	if err != nil {
		api.Close()
		return nil, engine{}, err
	}
	return api, engine{version: info.ServerVersion, cpuLimits: info.CPUCfsQuota && info.CPUCfsPeriod, memoryLimit: info.MemoryLimit, pidsLimit: info.PidsLimit}, nil
}

// containerd's socket, and that of Docker. podman's are below the same folder and below
// XDG_RUNTIME_DIR.
const (
	dockerSocket     = "run/docker.sock"
	podmanSocket     = "podman/podman.sock"
	containerdSocket = "run/containerd/containerd.sock"
)

// findHost finds the daemon if DOCKER_HOST does not name one: Docker, else podman, which
// speaks the same protocol. "" is Docker's own default. root is the folder of the sockets.
func findHost(given, root, runtimeDir string) (string, error) {
	if strings.Contains(given, "containerd") {
		return "", fmt.Errorf("DOCKER_HOST=%s is containerd, which does not speak Docker's protocol: start Docker or podman (systemctl start podman.socket) and name its socket, or use --on kubernetes, if containerd serves a cluster", secret.Text(given))
	}
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if given != "" || there(filepath.Join(root, dockerSocket)) || there(filepath.Join(root, "var", dockerSocket)) {
		return "", nil
	}
	for _, path := range []string{filepath.Join(root, "run", podmanSocket), filepath.Join(runtimeDir, podmanSocket)} {
		if filepath.IsAbs(path) && there(path) {
			return "unix://" + path, nil
		}
	}
	if there(filepath.Join(root, containerdSocket)) {
		return "", errors.New("this machine has containerd, but neither Docker nor podman, whose protocol Millicore speaks: start one of them (systemctl start docker, or podman.socket), or use --on kubernetes, if containerd serves a cluster")
	}
	return "", nil
}

// ask requests the daemon's properties.
func ask(api *client.Client) (system.Info, error) {
	host := secret.Text(api.DaemonHost())
	if !strings.HasPrefix(host, "unix://") {
		return system.Info{}, fmt.Errorf("the Docker daemon of DOCKER_HOST=%s is on another machine, and control groups can be read only there; run millicore there, or unset DOCKER_HOST", host)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	result, err := api.Info(ctx, client.InfoOptions{})
	switch {
	case err == nil:
		return result.Info, nil
	case errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "permission denied"):
		return system.Info{}, fmt.Errorf("query the Docker daemon at %s: permission denied; run as root, or as a user of the group that owns the socket (usually docker)", host)
	case client.IsErrConnectionFailed(err):
		return system.Info{}, fmt.Errorf("no Docker daemon answers at %s; start it (systemctl start docker), install it (Debian: apt-get install docker.io), set DOCKER_HOST to another socket, such as podman's (unix:///run/podman/podman.sock), or run the service as a process of this machine (--on local)", host)
	}
	return system.Info{}, fmt.Errorf("query the Docker daemon at %s: %w", host, err)
}

// measurable reports why the control groups of a daemon's containers cannot be
// read on this machine.
func measurable(info system.Info) error {
	const out = "run millicore on the machine of the Docker daemon, or use --on local"
	var here unix.Utsname
	if err := unix.Uname(&here); err != nil {
		return err
	}
	kernel := unix.ByteSliceToString(here.Release[:])
	switch {
	case info.OSType != "linux":
		return fmt.Errorf("the Docker daemon runs containers of %s: limits need Linux's control groups; %s", info.OSType, out)
	case info.OperatingSystem == "Docker Desktop":
		return fmt.Errorf("Docker Desktop runs its containers in a virtual machine, whose control groups cannot be read from here; %s", out)
	case info.KernelVersion != kernel:
		return fmt.Errorf("the Docker daemon is on another machine (kernel %s, here it is %s), whose control groups cannot be read from here; %s", info.KernelVersion, kernel, out)
	case slices.Contains(info.SecurityOptions, "name=rootless"):
		return errors.New("the Docker daemon is rootless: its containers cannot be reached from this machine's network; set DOCKER_HOST to the system's daemon (unix:///var/run/docker.sock), or use --on local")
	case info.CgroupDriver == "none":
		return errors.New("the Docker daemon has no control groups (its cgroup driver is none), and so no limits; use --on local")
	}
	return nil
}
