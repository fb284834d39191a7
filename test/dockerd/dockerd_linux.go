// Package dockerd runs a real Docker daemon for tests, with its own data, socket,
// containerd namespace and parent control group, independent of the machine's daemon. It
// sets up no default bridge and no firewall rules, and removes everything at the end.
package dockerd

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// patience bounds the daemon's start and end.
const patience = 30 * time.Second

// Daemon is a running daemon.
type Daemon struct {
	dir    string
	parent string // of the containers' control groups, below each mount
	cmd    *exec.Cmd
	exited chan struct{}
}

// Missing is the reason why no daemon can be started here; "" if one can.
func Missing() string {
	if os.Geteuid() != 0 {
		return "dockerd needs root"
	}
	if _, err := exec.LookPath("dockerd"); err != nil {
		return "dockerd is not installed; scripts/setup-tests.sh installs it"
	}
	return ""
}

// Start starts a daemon and returns when it answers. It ends with this process at the
// latest.
func Start() (*Daemon, error) {
	dir, err := os.MkdirTemp("", "mc-dockerd-") // short: a socket's path has 108 bytes
	if err != nil {
		return nil, err
	}
	name := "millicore-" + filepath.Base(dir)
	d := &Daemon{dir: dir, parent: name, exited: make(chan struct{})}
	config := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	log, err := os.Create(d.logName())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer log.Close()
	d.cmd = exec.Command("dockerd", "--config-file", config, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "-H", d.Host(), "--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false",
		"--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", "/"+name,
		"--containerd-namespace", name, "--containerd-plugins-namespace", name+"-plugins")
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	if err := d.run(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := d.answers(); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// run starts the process. The kernel sends its parent-death signal when the thread that
// started it ends, so one thread starts it and waits for it.
func (d *Daemon) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := d.cmd.Start()
		started <- err
		if err == nil {
			d.cmd.Wait() // how it ended is in its log
			close(d.exited)
		}
	}()
	return <-started
}

// Host is the value for DOCKER_HOST.
func (d *Daemon) Host() string { return "unix://" + filepath.Join(d.dir, "sock") }

func (d *Daemon) logName() string { return filepath.Join(d.dir, "log") }

// Client returns a client of the daemon.
func (d *Daemon) Client() (*client.Client, error) { return client.New(client.WithHost(d.Host())) }

func (d *Daemon) answers() error {
	api, err := d.Client()
	if err != nil {
		return err
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := api.Ping(ctx, client.PingOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
			continue
		case <-d.exited:
		case <-ctx.Done():
		}
		log, _ := os.ReadFile(d.logName())
		return fmt.Errorf("start dockerd: %w; its log:\n%s", err, log)
	}
}

// Stop ends the daemon and removes everything that it made: containers and networks,
// which would outlive it, mounts, control groups and its folder.
func (d *Daemon) Stop() error {
	d.empty()
	d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.exited:
	case <-time.After(patience):
		d.cmd.Process.Kill()
		<-d.exited
	}
	d.endContainerd()
	return errors.Join(d.unmount(), d.removeGroups(), os.RemoveAll(d.dir))
}

// empty removes what a test has left. Left reports whether there is something.
func (d *Daemon) empty() {
	api, err := d.Client()
	if err != nil {
		return
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	containers, _ := api.ContainerList(ctx, client.ContainerListOptions{All: true})
	for _, c := range containers.Items {
		api.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true})
	}
	networks, _ := api.NetworkList(ctx, client.NetworkListOptions{})
	for _, n := range networks.Items {
		api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{}) // host and none it keeps
	}
}

// endContainerd ends the daemon's own containerd if the daemon was killed and did not end
// it.
func (d *Daemon) endContainerd() {
	text, err := os.ReadFile(filepath.Join(d.dir, "exec", "containerd", "containerd.pid"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil && bytes.Contains(line, []byte(d.dir)) { // and the pid was not reused
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Mounts are the mounts that the daemon has not removed, except its own: its data, and
// the machine's network namespace.
func (d *Daemon) Mounts() ([]string, error) {
	all, err := d.mounts()
	return slices.DeleteFunc(all, func(name string) bool {
		return name == filepath.Join(d.dir, "data") || name == filepath.Join(d.dir, "exec", "netns", "default")
	}), err
}

func (d *Daemon) mounts() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], d.dir+"/") {
			all = append(all, fields[4])
		}
	}
	return all, nil
}

func (d *Daemon) unmount() error {
	mounts, err := d.mounts()
	errs := []error{err}
	for i := len(mounts) - 1; i >= 0; i-- {
		errs = append(errs, unix.Unmount(mounts[i], unix.MNT_DETACH))
	}
	return errors.Join(errs...)
}

// Groups are the control groups of the daemon's containers, in all hierarchies.
func (d *Daemon) Groups() ([]string, error) {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		parents, err := filepath.Glob(pattern + d.parent)
		if err != nil {
			return nil, err
		}
		for _, parent := range parents {
			err := filepath.WalkDir(parent, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.IsDir() && path != parent {
					all = append(all, path)
				}
				return nil // a group that is removed meanwhile
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (d *Daemon) removeGroups() error {
	groups, err := d.Groups()
	errs := []error{err}
	for i := len(groups) - 1; i >= 0; i-- {
		syscall.Rmdir(groups[i])
	}
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		parents, _ := filepath.Glob(pattern + d.parent)
		for _, parent := range parents {
			if err := syscall.Rmdir(parent); err != nil && err != syscall.ENOENT {
				errs = append(errs, &fs.PathError{Op: "rmdir", Path: parent, Err: err})
			}
		}
	}
	return errors.Join(errs...)
}

// Import makes an image FROM scratch with a static program as its entry point. changes
// are lines of a Dockerfile.
func (d *Daemon) Import(image, program string, changes ...string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	to := tar.NewWriter(&layer)
	name := filepath.Base(program)
	err = to.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))})
	if err == nil {
		_, err = to.Write(data)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return d.importLayer(image, &layer, append([]string{fmt.Sprintf(`ENTRYPOINT ["/%s"]`, name)}, changes...))
}

// importLayer makes an image of a file system, a tar archive.
func (d *Daemon) importLayer(image string, layer io.Reader, changes []string) error {
	api, err := d.Client()
	if err != nil {
		return err
	}
	defer api.Close()
	answer, err := api.ImageImport(context.Background(), client.ImageImportSource{Source: layer, SourceName: "-"}, image, client.ImageImportOptions{Changes: changes})
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(io.Discard, answer)
	return err
}

// Left lists what is left in the daemon: containers, networks that are not its own, volumes, images
// except the named ones, mounts and control groups.
func (d *Daemon) Left(images ...string) ([]string, error) {
	api, err := d.Client()
	if err != nil {
		return nil, err
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	containers, err := api.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil, err
	}
	var left []string
	for _, c := range containers.Items {
		left = append(left, "container "+strings.Join(c.Names, " "))
	}
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range networks.Items {
		if n.Name != "host" && n.Name != "none" {
			left = append(left, "network "+n.Name)
		}
	}
	volumes, err := api.VolumeList(ctx, client.VolumeListOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range volumes.Items {
		left = append(left, "volume "+v.Name)
	}
	list, err := api.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, err
	}
	known := " " + strings.Join(images, " ") + " "
	for _, one := range list.Items {
		for _, tag := range one.RepoTags {
			if !strings.Contains(known, " "+tag+" ") {
				left = append(left, "image "+tag)
			}
		}
	}
	mounts, mountErr := d.Mounts()
	groups, groupErr := d.Groups()
	left = append(append(left, mounts...), groups...)
	return left, errors.Join(mountErr, groupErr)
}
