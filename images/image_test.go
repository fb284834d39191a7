package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// folder makes a root with a program, a file that others may write, and a link.
func folder(t *testing.T, at time.Time) string {
	t.Helper()
	root := t.TempDir()
	for name, mode := range map[string]os.FileMode{"millicore": 0o700, "etc/settings": 0o666} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), mode), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("millicore", filepath.Join(root, "same")); err != nil {
		t.Fatal(err)
	}
	return root
}

// build runs the program for two platforms and gives the archive.
func build(t *testing.T, root string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "image.tar")
	if err := run([]string{"-name", "millicore/millicore:1", "-out", out, "-entrypoint", "/millicore run", "-certificates",
		"linux/amd64=" + root, "linux/arm64=" + root}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTheSameFilesGiveTheSameImage(t *testing.T) {
	first := build(t, folder(t, time.Unix(1, 0)))
	second := build(t, folder(t, time.Unix(2, 0)))
	if !bytes.Equal(first, second) {
		t.Error("two archives of the same files differ")
	}
}

func TestTheIndexNamesTheImageAndItsPlatforms(t *testing.T) {
	dir := t.TempDir()
	unpack(t, build(t, folder(t, time.Now())), dir)
	oci, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	top, err := oci.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the archive holds %d images", len(manifest.Manifests))
	}
	want, err := fullName("millicore/millicore:1")
	if err != nil {
		t.Fatal(err)
	}
	if got := manifest.Manifests[0].Annotations; got["io.containerd.image.name"] != want || got["org.opencontainers.image.ref.name"] != "1" {
		t.Errorf("its annotations are %v, not the name %s", got, want)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Platform().String(); got != m.Platform.String() {
			t.Errorf("the index says %s, the image %s", m.Platform, got)
		}
		if c := config.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/millicore", "run"}) {
			t.Errorf("runs %q as %q", c.Entrypoint, c.User)
		}
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("platforms %v, want %v", platforms, want)
	}
}

func TestALayersFiles(t *testing.T) {
	image, err := pack(v1.Platform{OS: "linux", Architecture: "amd64"}, folder(t, time.Now()), []file{authorities()}, v1.Config{})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	modes := map[string]int64{}
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := modes[h.Name]; twice {
			t.Errorf("%s is there twice", h.Name)
		}
		modes[h.Name] = h.Mode
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(epoch) {
			t.Errorf("%s belongs to %d:%d and is of %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
	for name, mode := range map[string]int64{"millicore": 0o755, "etc/": 0o755, "etc/settings": 0o644, "same": 0o777, "tmp/": 0o1777, authorities().name: 0o644} {
		if modes[name] != mode {
			t.Errorf("%s has mode %#o, not %#o", name, modes[name], mode)
		}
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing to pack":     {"-name", "a", "-out", "x"},
		"nowhere to write":    {"-name", "a", "linux/amd64=."},
		"no folder":           {"-name", "a", "-out", "x", "linux/amd64"},
		"a name in capitals":  {"-name", "A:1", "-out", "x", "linux/amd64=."},
		"a folder not there":  {"-name", "a", "-out", "x", "linux/amd64=/nowhere"},
		"an unknown platform": {"-name", "a", "-out", "x", "a/b/c/d=."},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(args); err == nil {
				t.Error("no error")
			}
		})
	}
}

func unpack(t *testing.T, archive []byte, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
