package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is when everything in an image was made.
var epoch = time.Unix(0, 0).UTC()

type file struct {
	name    string // without a leading slash
	content []byte
}

type platformImage struct {
	platform v1.Platform
	image    v1.Image
}

// pack makes an image of one layer: the files of the folder root, the extra
// ones, and a /tmp that anybody may write to.
func pack(platform v1.Platform, root string, extra []file, config v1.Config) (v1.Image, error) {
	content, err := layer(root, extra)
	if err != nil {
		return nil, err
	}
	packed, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithCompressedCaching, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
		Created: v1.Time{Time: epoch}, Config: config,
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: packed, History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "millicore images"}})
}

func indexOf(images []platformImage) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: i.image, Descriptor: v1.Descriptor{Platform: &i.platform}})
	}
	return index
}

// layer is the uncompressed tar of a layer. What is executable stays so, and
// links stay links; all belongs to root, who alone may write it, and all may read.
func layer(root string, extra []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{}
	directory := func(name string, mode int64) error {
		if made[name] {
			return nil
		}
		made[name] = true
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, ModTime: epoch})
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error { // in lexical order
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		name = filepath.ToSlash(name)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			return directory(name, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777, ModTime: epoch})
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return write(w, name, mode, content)
	})
	if err != nil {
		return nil, err
	}
	for _, f := range slices.SortedFunc(slices.Values(extra), func(a, b file) int { return strings.Compare(a.name, b.name) }) {
		for i := range f.name {
			if f.name[i] == '/' {
				if err := directory(f.name[:i], 0o755); err != nil {
					return nil, err
				}
			}
		}
		if err := write(w, f.name, 0o644, f.content); err != nil {
			return nil, err
		}
	}
	if err := directory("tmp", 0o1777); err != nil {
		return nil, err
	}
	return out.Bytes(), w.Close()
}

func write(w *tar.Writer, name string, mode int64, content []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content)), ModTime: epoch}); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
