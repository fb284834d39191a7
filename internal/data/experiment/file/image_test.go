package file_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment/file"
)

const withImage = `name: x
services:
  web:
    image: nginx:1.27
    args: [--port, "${port}"]
    volumes: [./data:/data:ro, ../up:/up, /srv:/srv, cache:/cache, /tmp/own]
load: {request: {path: /}, users: 1}
`

// Paths of volumes that begin with a dot are relative to the file.
func TestArgumentsAndVolumesOfAnImage(t *testing.T) {
	e, err := file.Parse("dir/x.yaml", []byte(withImage), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := e.Cells[0].Service
	if d := cmp.Diff([]string{"--port", "${port}"}, s.Args); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"./dir/data:/data:ro", "./up:/up", "/srv:/srv", "cache:/cache", "/tmp/own"}, s.Volumes); d != "" {
		t.Error(d)
	}
}

func TestWrongArgumentsAndVolumes(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"image: nginx:1.27", "command: [nginx]", "args are those of an image; leave them out"},
		{"image: nginx:1.27", "command: [nginx]", "volumes are those of an image; leave them out"},
		{"/srv:/srv", "/srv:srv", "must begin with /"},
		{"/srv:/srv", "/srv:/", "whole file system"},
		{"cache:/cache", "a/b:/cache", "neither a path"},
		{"${port}", "${prot}", "unknown name ${prot}"},
	} {
		if _, err := file.Parse("x.yaml", []byte(strings.Replace(withImage, c.from, c.to, 1)), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

// A secret among the arguments is in no record.
func TestSecretsInArgumentsAreHidden(t *testing.T) {
	e, err := file.Parse("x.yaml", []byte(strings.Replace(withImage, `--port, "${port}"`, "--password, Mark3r-x", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if args := strings.Join(e.Shown().Cells[0].Service.Args, " "); strings.Contains(args+e.Source, "Mark3r") {
		t.Errorf("%s\n%s", args, e.Source)
	}
}
