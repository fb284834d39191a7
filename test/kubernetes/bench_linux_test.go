package kubernetes

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Images of the tests: Millicore's programs from the tested tree, and the server for
// tests.
const (
	ownImage    = "millicore/millicore:test"
	serverImage = "millicore/test-server:test"
	rootImage   = "millicore/test-root:test" // the same, run by root
)

// bench holds what the tests of the package share: the cluster with the images.
var bench struct {
	once       sync.Once
	err        error
	kubeconfig string
}

// need prepares bench. Without a cluster the test is skipped.
func need(t *testing.T) {
	t.Helper()
	bench.kubeconfig = os.Getenv("MILLICORE_KUBECONFIG")
	if bench.kubeconfig == "" {
		t.Skip("MILLICORE_KUBECONFIG names no kubeconfig; `make cluster` starts a cluster and prints it")
	}
	bench.once.Do(func() { bench.err = loadImages() })
	if bench.err != nil {
		t.Fatal(bench.err)
	}
}

// loadImages builds the images and loads them into the cluster's node.
func loadImages() error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "millicore-test-images-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, image := range []struct {
		name, folder, entrypoint, user string
		packages                       []string
	}{
		{ownImage, "own", "/millicore", "65532", []string{"./cmd/millicore", "./cmd/millicore-go", "./cmd/millicore-agent", "./cmd/millicore-nodeagent"}},
		{serverImage, "server", "/server --contained", "65532", []string{"./test/server"}},
		{rootImage, "root", "/server --contained", "0", []string{"./test/server"}},
	} {
		folder, archive := filepath.Join(work, image.folder), filepath.Join(work, image.folder+".tar")
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		static := append(os.Environ(), "CGO_ENABLED=0")
		if err := run(root, static, "go", append([]string{"build", "-trimpath", "-ldflags=-w", "-o", folder + "/"}, image.packages...)...); err != nil {
			return err
		}
		apart := append(static, "GOWORK=off")
		if err := run(filepath.Join(root, "images"), apart, "go", "run", ".", "-name", image.name, "-out", archive,
			"-entrypoint", image.entrypoint, "-user", image.user, "linux/"+runtime.GOARCH+"="+folder); err != nil {
			return err
		}
		if err := run(root, os.Environ(), "test/cluster/import.sh", archive); err != nil {
			return err
		}
	}
	return nil
}

func run(dir string, env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, env
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// within creates a namespace for the test, and returns a client in it. level is its Pod
// Security level.
func within(t *testing.T, level string) *kube.Client {
	t.Helper()
	need(t)
	name := fmt.Sprintf("millicore-test-%d", time.Now().UnixNano())
	c, err := kube.Connect(kube.Options{Kubeconfig: bench.kubeconfig, Namespace: name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kube.Namespaces.Create(t.Context(), c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.Namespaces.Delete(context.Background(), c, name, kube.Delete{}); err != nil {
			t.Error(err)
		}
	})
	return c
}

// owner creates a ConfigMap that owns the objects of a run.
func owner(t *testing.T, c *kube.Client, run string) metav1.OwnerReference {
	t.Helper()
	made, err := kube.ConfigMaps.Create(t.Context(), c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "millicore-" + run}})
	if err != nil {
		t.Fatal(err)
	}
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: made.Name, UID: made.UID}
}

// here is the address of this machine for pods.
func here(t *testing.T, c *kube.Client) string {
	t.Helper()
	server, err := url.Parse(c.Server)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp", net.JoinHostPort(server.Hostname(), "443"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP.String()
}
