package main

import (
	"archive/tar"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// fullName is the name as containerd knows it: with the registry that a short
// name means, and a tag.
func fullName(name string) (string, error) {
	full, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", fmt.Errorf("the image's name %q: %w", name, err)
	}
	return reference.TagNameOnly(full).String(), nil
}

// archive writes an OCI image layout as a tar. The image's name is an annotation
// of the index: the one that containerd and Docker read, and the specification's
// own, which holds the tag alone.
func archive(out, full string, index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "millicore-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	oci, err := layout.Write(dir, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	annotations := map[string]string{"io.containerd.image.name": full}
	if named, err := reference.ParseNamed(full); err == nil {
		if tagged, ok := named.(reference.Tagged); ok {
			annotations["org.opencontainers.image.ref.name"] = tagged.Tag()
		}
	}
	if err := oci.AppendIndex(index, layout.WithAnnotations(annotations)); err != nil {
		return err
	}
	return tarFolder(out, dir)
}

// tarFolder writes the folder's files to a new file, which takes the old one's
// place when it is complete.
func tarFolder(out, dir string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name()) // it is not there when all went well
	w := tar.NewWriter(to)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(name) + "/", Mode: 0o755, ModTime: epoch})
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return write(w, filepath.ToSlash(name), 0o644, content)
	})
	if err := errors.Join(err, w.Close(), to.Chmod(0o644), to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), out)
}

// authorities are the certificate authorities that Mozilla trusts without
// further conditions, where Go and others look for them.
func authorities() file {
	var all strings.Builder
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a strings.Builder takes all
		}
	}
	return file{name: "etc/ssl/certs/ca-certificates.crt", content: []byte(all.String())}
}
