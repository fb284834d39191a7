package dockerd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// Image is the server for tests, as an image.
const Image = "millicore-test:server"

// Bench holds what the tests of a package with containers share: a daemon, programs, and
// the image of the server for tests. The first test that needs them makes them.
type Bench struct {
	Root    string   // of the module, from the package's folder
	Build   []string // packages of programs, beside the server for tests
	Changes []string // of the image, as a Dockerfile's lines

	once     sync.Once
	err      error
	daemon   *Daemon
	programs string
	images   []string // that tests made
}

// Run runs the tests, removes what was made for them, and returns the exit status.
func (b *Bench) Run(m *testing.M) int {
	code := m.Run()
	if b.daemon != nil {
		if err := b.daemon.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if b.programs != "" {
		os.RemoveAll(b.programs)
	}
	return code
}

// Need prepares what the tests share. If no daemon can be started, the test is skipped;
// in CI it fails.
func (b *Bench) Need(t *testing.T) {
	t.Helper()
	testkit.Long(t, "containers of a Docker daemon")
	if why := Missing(); why != "" {
		testkit.Missing(t, why)
	}
	b.once.Do(func() { b.err = b.make() })
	if b.err != nil {
		t.Fatal(b.err)
	}
}

// Image makes an image of a file system, once, which stays for the tests.
func (b *Bench) Image(t *testing.T, name string, root Root, changes ...string) {
	t.Helper()
	b.Need(t)
	if slices.Contains(b.images, name) {
		return
	}
	layer, err := root.layer()
	if err == nil {
		err = b.daemon.importLayer(name, layer, changes)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.images = append(b.images, name)
}

// Programs is the folder of the programs, after Need.
func (b *Bench) Programs() string { return b.programs }

// Daemon is the daemon, after Need. DOCKER_HOST is its address.
func (b *Bench) Daemon() *Daemon { return b.daemon }

func (b *Bench) make() (err error) {
	if b.programs, err = os.MkdirTemp("", "millicore-docker-test-"); err != nil {
		return err
	}
	build := exec.Command("go", append([]string{"build", "-o", b.programs + "/", "./test/server"}, b.Build...)...)
	build.Dir = b.Root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	if b.daemon, err = Start(); err != nil {
		return err
	}
	os.Setenv("DOCKER_HOST", b.daemon.Host())
	return b.daemon.Import(Image, filepath.Join(b.programs, "server"), b.Changes...)
}

// NothingLeft fails the test if a run has left something in the daemon.
func (b *Bench) NothingLeft(t *testing.T) {
	t.Helper()
	left, err := b.daemon.Left(append(b.images, Image)...)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
